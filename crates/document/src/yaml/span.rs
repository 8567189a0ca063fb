//! The spans of values: what the parser tells of them, and what has to be looked up in the text.

use std::ops::Range;

use granit_parser::{ScalarStyle, Span};

use super::compose::Composer;
use crate::gap;

impl Composer<'_> {
    /// Returns the range of a token; a collection that begins here is shown by the rest of the line.
    pub(super) fn head(&self, span: &Span) -> Range<usize> {
        let start = span.start.byte_offset().unwrap_or_default();
        let end = self.end_of(span);
        if end > start {
            return start..end;
        }
        let rest = self.text.get(start..).unwrap_or_default();
        start..start + rest.lines().next().unwrap_or_default().trim_end().len()
    }

    pub(super) fn end_of(&self, span: &Span) -> usize {
        let end = span.end.byte_offset().unwrap_or_default();
        end.min(self.text.len())
    }

    /// Returns where a scalar is written, and notes that the text is understood up to its end.
    pub(super) fn scalar_span(
        &mut self,
        span: &Span,
        style: ScalarStyle,
        properties: Option<&Range<usize>>,
    ) -> Range<usize> {
        let mut start = span.start.byte_offset().unwrap_or_default();
        let mut end = self.end_of(span);
        if end <= start {
            // Nothing is written: it belongs behind the `:` or `-` that announces it, and behind its tag and anchor.
            let next = gap::skip(self.text, self.end, true);
            if matches!(self.text.as_bytes().get(next), Some(b':' | b'-' | b'?')) {
                self.end = next + 1;
            }
            self.end = properties.map_or(self.end, |it| it.end.max(self.end));
            return self.end..self.end;
        }
        if matches!(style, ScalarStyle::Literal | ScalarStyle::Folded) {
            end = start + self.text[start..end].trim_end().len();
            start = self.block_header(start);
        }
        self.end = end;
        start..end
    }

    /// Returns where the first `-` of a list is that is the value of a map: the parser tells where
    /// its first item is, if it is not indented.
    pub(super) fn first_dash(&self) -> Option<usize> {
        let waits = self.open.last().is_some_and(|open| open.key.is_some());
        let dash = self.next_after(b":").filter(|_| waits)?;
        self.text[dash..].starts_with('-').then_some(dash)
    }

    /// Returns where the `|` or `>` is that announces a block of text.
    fn block_header(&self, content: usize) -> usize {
        let header = self.next_after(b":-?").unwrap_or(content);
        let is_header = header < content && self.text[header..].starts_with(['|', '>']);
        if is_header { header } else { content }
    }

    /// Returns where the next thing begins that is not one of these indicators, a tag or an anchor.
    fn next_after(&self, indicators: &[u8]) -> Option<usize> {
        let bytes = self.text.as_bytes();
        let mut at = gap::skip(self.text, self.end, true);
        loop {
            match *bytes.get(at)? {
                b'!' | b'&' => {
                    let is_space = |byte: &u8| byte.is_ascii_whitespace();
                    let length = bytes[at..].iter().position(is_space);
                    at += length.unwrap_or(bytes.len() - at);
                }
                indicator if indicators.contains(&indicator) => at += 1,
                _ => return Some(at),
            }
            at = gap::skip(self.text, at, true);
        }
    }
}
