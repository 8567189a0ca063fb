//! Entries of lists and maps in brackets, in all formats.

use std::ops::Range;

use super::Scene;
use super::refused::Reason;
use super::splice::Splice;
use crate::document::{Data, Node};
use crate::gap::{indent, line_end, line_start, next_line, skip};

/// A list or map in brackets.
pub(super) struct Brackets<'s> {
    pub(super) scene: &'s Scene<'s>,
    pub(super) node: &'s Node,
    /// The format has comments from `#` to the end of the line.
    pub(super) has_comments: bool,
}

impl Brackets<'_> {
    /// Adds an entry as the last one.
    pub(super) fn insert(&self, entry: &str) -> Result<Vec<Splice>, Reason> {
        let (text, node) = (self.scene.text, self.node);
        let Some(last) = self.entries().last().cloned() else {
            return self.insert_first(entry);
        };
        let end = node.content_end;
        let next = skip(text, end, self.has_comments);
        let has_comma = text[next..].starts_with(',');
        let after = if has_comma { next + 1 } else { end };
        let is_spread = text[after..node.span.end].contains('\n');
        match indent(text, last.start).filter(|_| is_spread && self.is_blank(after)) {
            Some(indent) => {
                let comma = (!has_comma).then(|| Splice::insert(end, ","));
                let trailing = if has_comma { "," } else { "" };
                let line = format!("{}{indent}{entry}{trailing}", self.scene.newline);
                let line = Splice::insert(line_end(text, after), line);
                Ok(comma.into_iter().chain([line]).collect())
            }
            None => {
                let between = self.between();
                Ok(vec![Splice::insert(end, format!("{between}{entry}"))])
            }
        }
    }

    fn insert_first(&self, entry: &str) -> Result<Vec<Splice>, Reason> {
        if self.node.has_merge {
            return Err(Reason::Merged);
        }
        let inside = self.inside();
        if !self.scene.text[inside.clone()].trim().is_empty() {
            return Err(Reason::Comment);
        }
        Ok(vec![Splice::new(inside, entry)])
    }

    /// Removes the entry with this index.
    pub(super) fn remove(&self, index: usize) -> Result<Vec<Splice>, Reason> {
        let text = self.scene.text;
        let entries = self.entries();
        let entry = entries[index].clone();
        let next = skip(text, entry.end, self.has_comments);
        if text[next..].starts_with(',') {
            return self.remove_with_comma(&entry, next);
        }
        if entries.len() == 1 && !self.node.has_merge {
            let inside = self.inside();
            let is_alone = text[inside.start..entry.start].trim().is_empty()
                && text[entry.end..inside.end].trim().is_empty();
            let range = if is_alone { inside } else { entry };
            return Ok(vec![Splice::new(range, "")]);
        }
        let before = index.checked_sub(1).ok_or(Reason::Merged)?;
        let comma = skip(text, entries[before].end, self.has_comments);
        if !text[comma..].starts_with(',') || self.node.has_merge {
            return Err(Reason::Layout("a list or map with a merge key"));
        }
        let is_own_line = indent(text, entry.start).is_some() && self.is_blank(entry.end);
        match (text[comma + 1..entry.start].trim().is_empty(), is_own_line) {
            (true, true) => Ok(vec![Splice::new(comma..line_end(text, entry.end), "")]),
            (true, false) => Ok(vec![Splice::new(comma..entry.end, "")]),
            (false, true) => Ok(vec![self.lines(&entry)]),
            (false, false) => Err(Reason::Comment),
        }
    }

    fn remove_with_comma(&self, entry: &Range<usize>, comma: usize) -> Result<Vec<Splice>, Reason> {
        let text = self.scene.text;
        if !text[entry.end..comma].trim().is_empty() {
            return Err(Reason::Comment);
        }
        let end = comma + 1;
        if indent(text, entry.start).is_some() && self.is_blank(end) {
            return Ok(vec![self.lines(&(entry.start..end))]);
        }
        let blanks = text[end..].bytes();
        let blanks = blanks
            .take_while(|byte| matches!(byte, b' ' | b'\t'))
            .count();
        Ok(vec![Splice::new(entry.start..end + blanks, "")])
    }

    /// Returns the splice that removes the whole lines of a range.
    fn lines(&self, range: &Range<usize>) -> Splice {
        let text = self.scene.text;
        Splice::new(
            line_start(text, range.start)..next_line(text, range.end),
            "",
        )
    }

    /// Tells whether there is nothing but a comment up to the end of the line.
    fn is_blank(&self, from: usize) -> bool {
        let rest = self.scene.text[from..line_end(self.scene.text, from)].trim();
        rest.is_empty() || (self.has_comments && rest.starts_with('#'))
    }

    fn inside(&self) -> Range<usize> {
        self.node.span.start + 1..self.node.span.end - 1
    }

    /// Returns what stands between two entries, as it does elsewhere.
    fn between(&self) -> &str {
        let text = self.scene.text;
        let entries = self.entries();
        let gaps = entries
            .windows(2)
            .map(|two| &text[two[0].end..two[1].start]);
        let is_usual = |gap: &&str| gap.trim_end_matches(' ') == ",";
        gaps.rev().find(is_usual).unwrap_or(", ")
    }

    /// Returns where the entries are written, those of merge keys left out.
    fn entries(&self) -> Vec<Range<usize>> {
        match &self.node.data {
            Data::Scalar(..) => Vec::new(),
            Data::List(items) => items.iter().map(|item| item.span.clone()).collect(),
            Data::Map(members) => {
                let own = members
                    .iter()
                    .filter(|it| it.value.origin != crate::document::Origin::Merged);
                own.map(|it| it.key_span.start..it.value.span.end.max(it.key_span.end))
                    .collect()
            }
        }
    }
}
