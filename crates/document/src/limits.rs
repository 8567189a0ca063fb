//! Bounds of what is read.

/// Bounds of what a text may make its reader do.
///
/// ```
/// use pathline_document::{Format, Limits, ReadErrorKind};
///
/// let limits = Limits::default().with_nesting(2);
/// let error = Format::Yaml.read_with("[[[]]]", &limits).expect_err("three levels");
/// assert_eq!(error.kind, ReadErrorKind::TooDeep(2));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// The greatest depth of lists and maps inside of each other, through aliases too.
    pub nesting: usize,
    /// The number of values that a text may hold, those that aliases and merge keys repeat
    /// included.
    pub values: usize,
    /// The number of members that merge keys may repeat.
    pub merged: usize,
}

impl Default for Limits {
    /// Returns limits that suit readers of JSON: they go about as deep.
    fn default() -> Self {
        Self {
            nesting: 100,
            values: 2_000_000,
            merged: 2_000_000,
        }
    }
}

impl Limits {
    /// Returns the limits with another depth.
    #[must_use]
    pub const fn with_nesting(mut self, nesting: usize) -> Self {
        self.nesting = nesting;
        self
    }

    /// Returns the limits with another number of values.
    #[must_use]
    pub const fn with_values(mut self, values: usize) -> Self {
        self.values = values;
        self
    }

    /// Returns the limits with another number of members that merge keys repeat.
    #[must_use]
    pub const fn with_merged(mut self, merged: usize) -> Self {
        self.merged = merged;
        self
    }
}
