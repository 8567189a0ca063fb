//! Parts of long lists.

/// A part of a long list. Many small lists in one are near each other in memory, and this is small.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Span {
    start: u32,
    end: u32,
}

impl Span {
    /// Names the part from one index to before another.
    pub(super) fn new(start: usize, end: usize) -> Self {
        Self {
            start: small(start),
            end: small(end),
        }
    }

    /// Returns the part of the list it was made for.
    #[inline]
    pub(super) fn of<T>(self, list: &[T]) -> &[T] {
        &list[self.start as usize..self.end as usize]
    }

    /// Returns how long the part is.
    pub(super) fn len(self) -> usize {
        (self.end - self.start) as usize
    }
}

/// Returns an index as it is kept.
pub(super) fn small(index: usize) -> u32 {
    u32::try_from(index).expect("a blueprint that fits into memory is not that long")
}
