//! Splices, and the record of what they have touched.

use std::ops::Range;

/// A range of a text, and what comes instead.
#[derive(Debug, Clone)]
pub(super) struct Splice {
    pub(super) range: Range<usize>,
    pub(super) text: String,
}

impl Splice {
    pub(super) fn new(range: Range<usize>, text: impl Into<String>) -> Self {
        Self {
            range,
            text: text.into(),
        }
    }

    pub(super) fn insert(at: usize, text: impl Into<String>) -> Self {
        Self::new(at..at, text)
    }
}

/// Returns a text with splices in ascending order applied.
pub(super) fn apply(text: &str, splices: &[Splice]) -> String {
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for splice in splices {
        out.push_str(&text[at..splice.range.start]);
        out.push_str(&splice.text);
        at = splice.range.end;
    }
    out.push_str(&text[at..]);
    out
}

/// A range that was replaced.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Touched {
    /// The bytes of the old text; empty if something was only added.
    pub old: Range<usize>,
    /// The bytes of the new text; empty if something was only removed.
    pub new: Range<usize>,
}

/// All ranges that were replaced so far, in order and apart from each other.
#[derive(Debug, Default)]
pub(super) struct Touches(Vec<Touched>);

impl Touches {
    pub(super) fn into_ranges(self) -> Vec<Touched> {
        self.0
    }

    /// Adds a splice of the text as it has become.
    pub(super) fn add(&mut self, range: Range<usize>, length: usize) {
        let first = self.0.partition_point(|it| it.new.end < range.start);
        let last = self.0.partition_point(|it| it.new.start <= range.end);
        // Ranges that the splice meets become one with it.
        let (mut new, mut old) = (range.clone(), self.old_offset(range.start)..0);
        if let Some(met) = self.0[first..last].first()
            && met.new.start <= range.start
        {
            (new.start, old.start) = (met.new.start, met.old.start);
        }
        old.end = self.old_offset(range.end);
        if let Some(met) = self.0[first..last].last()
            && met.new.end >= range.end
        {
            (new.end, old.end) = (met.new.end, met.old.end);
        }
        let moved = |at: usize| at - range.end + range.start + length;
        for later in &mut self.0[last..] {
            later.new = moved(later.new.start)..moved(later.new.end);
        }
        new.end = moved(new.end);
        self.0.splice(first..last, [Touched { old, new }]);
    }

    /// Returns where an offset was that is outside of all ranges.
    fn old_offset(&self, at: usize) -> usize {
        let before = self.0.iter().rev().find(|it| it.new.end <= at);
        before.map_or(at, |it| it.old.end + (at - it.new.end))
    }
}
