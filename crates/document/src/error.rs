//! Errors of reading and writing.

use crate::lines::{Lines, Position};

/// Says why a text cannot be read, and where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{position}: {kind}")]
#[non_exhaustive]
pub struct ReadError {
    /// The line and the column.
    pub position: Position,
    /// The same as an offset in bytes.
    pub offset: usize,
    /// The cause.
    pub kind: ReadErrorKind,
}

impl ReadError {
    /// Returns the error that something is wrong at an offset of a text.
    #[must_use]
    pub fn new(text: &str, offset: usize, kind: ReadErrorKind) -> Self {
        Self {
            position: Lines::new(text).position(offset),
            offset,
            kind,
        }
    }
}

/// Says why a text cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReadErrorKind {
    /// The text is not of the format.
    #[error("{0}")]
    Syntax(String),
    /// A map has the key already, or one that means the same.
    #[error("the key `{0}` is there twice")]
    DuplicateKey(String),
    /// A list or a map stands where a key belongs.
    #[error("a key that is not a scalar")]
    NonScalarKey,
    /// A merge key is given something else than maps.
    #[error("`<<` takes a map, or a list of maps")]
    Merge,
    /// An alias stands inside of what it repeats.
    #[error("an alias cannot repeat what it is part of")]
    Recursive,
    /// Values nest deeper than [`Limits::nesting`](crate::Limits::nesting).
    #[error("values nest deeper than {0} levels")]
    TooDeep(usize),
    /// There are more values than [`Limits::values`](crate::Limits::values).
    #[error("the file holds more than {0} values; aliases count as often as they are used")]
    TooMany(usize),
    /// Merge keys repeat more members than [`Limits::merged`](crate::Limits::merged).
    #[error("merge keys repeat more than {0} members")]
    TooManyMerged(usize),
}

/// Says that a format has no words for a value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{format} cannot hold {what}")]
#[non_exhaustive]
pub struct WriteError {
    /// The name of the format.
    pub format: &'static str,
    /// The value that it has no words for.
    pub what: &'static str,
}

/// An error before its position in the text has been looked up.
#[cfg(any(feature = "json", feature = "toml", feature = "yaml"))]
#[derive(Debug)]
pub(crate) struct ErrorAt {
    pub(crate) offset: usize,
    pub(crate) kind: ReadErrorKind,
}

#[cfg(any(feature = "json", feature = "toml", feature = "yaml"))]
impl ErrorAt {
    pub(crate) const fn new(offset: usize, kind: ReadErrorKind) -> Self {
        Self { offset, kind }
    }

    pub(crate) fn syntax(offset: usize, message: impl Into<String>) -> Self {
        Self::new(offset, ReadErrorKind::Syntax(message.into()))
    }
}
