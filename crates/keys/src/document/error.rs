//! Why a document is not keys, or keys are not a document.

use std::fmt;

use crate::name::Name;

/// A place in a text; both count from one, columns in characters.
///
/// ```
/// use pathline_keys::document::{Format, Position};
///
/// let error = Format::Json.read("{\n  \"a\": 1,\n  \"a\": 2}").expect_err("`a` is there twice");
/// assert_eq!(error.at, Position { line: 3, column: 3 });
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position {
    /// The line.
    pub line: usize,
    /// The column.
    pub column: usize,
}

impl Position {
    fn of(offset: usize, text: &str) -> Self {
        let before = &text.as_bytes()[..offset.min(text.len())];
        let line_start = before
            .iter()
            .rposition(|byte| *byte == b'\n')
            .map_or(0, |at| at + 1);
        let is_character = |byte: &&u8| !matches!(byte, 0x80..=0xBF);
        Self {
            line: before.iter().filter(|byte| **byte == b'\n').count() + 1,
            column: before[line_start..].iter().filter(is_character).count() + 1,
        }
    }
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}", self.line, self.column)
    }
}

/// Why a text could not be read into keys, and where.
///
/// ```
/// use pathline_keys::document::{Format, ReadErrorKind};
///
/// let error = Format::Yaml.read("a: 1\n? [b]\n: 2\n").expect_err("a list cannot be a key");
/// assert_eq!(error.kind, ReadErrorKind::NonScalarKey);
/// assert_eq!(error.to_string(), "line 2, column 3: a key that is not a scalar");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{at}: {kind}")]
pub struct ReadError {
    /// Where it is.
    pub at: Position,
    /// What it is.
    pub kind: ReadErrorKind,
}

/// What is wrong with a document.
///
/// ```
/// use pathline_keys::document::ReadErrorKind;
///
/// assert_eq!(ReadErrorKind::NulInKey.to_string(), "a key that contains NUL");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReadErrorKind {
    /// The text is not of the format.
    #[error("{0}")]
    Syntax(String),
    /// The bytes are not UTF-8.
    #[error("not UTF-8")]
    NotText,
    /// The key of a map contains NUL.
    #[error("a key that contains NUL")]
    NulInKey,
    /// The key is empty and directly below the root.
    #[error("an empty key directly below the root")]
    EmptyKey,
    /// The map has the key already, or one that is spelled the same.
    #[error("the key `{0}` is there twice")]
    DuplicateKey(String),
    /// The key is a list or a map.
    #[error("a key that is not a scalar")]
    NonScalarKey,
    /// The path of keys is too long for a name.
    #[error("the keys that lead here are too long for a name")]
    TooLong,
    /// The number has no representation.
    #[error("the number `{0}` is out of range")]
    OutOfRange(String),
    /// The stream has a second document.
    #[error("a second document; keys are made from one")]
    SeveralDocuments,
    /// A merge key does not lead to maps.
    #[error("`<<` takes a map or a list of maps")]
    Merge,
    /// An alias inside of what it stands for.
    #[error("an alias inside of what it stands for")]
    Recursive,
    /// Aliases expand to more than is sensible.
    #[error("aliases expand to too much")]
    Bomb,
}

/// An error before its place in the text has been looked up.
#[derive(Debug)]
pub(super) struct Failure {
    offset: usize,
    kind: ReadErrorKind,
}

impl Failure {
    pub(super) const fn new(offset: usize, kind: ReadErrorKind) -> Self {
        Self { offset, kind }
    }

    pub(super) fn syntax(offset: usize, message: impl Into<String>) -> Self {
        Self::new(offset, ReadErrorKind::Syntax(message.into()))
    }

    pub(super) fn locate(self, text: &str) -> ReadError {
        ReadError {
            at: Position::of(self.offset, text),
            kind: self.kind,
        }
    }
}

/// Why keys are not a document of a format.
///
/// ```
/// use pathline_keys::document::{Format, WriteError};
///
/// let keys = Format::Json.read("[null]")?;
/// let error = Format::Toml.write(&keys).expect_err("TOML is always a table");
/// assert!(matches!(error, WriteError::Unsupported { .. }));
/// # Ok::<(), pathline_keys::document::ReadError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WriteError {
    /// A document has its root at `user:/`.
    #[error("{name}: outside of `user:/`, which is the root of a document")]
    Outside {
        /// The key.
        name: Name,
    },
    /// A key with a value has keys below it.
    #[error("{name}: below a key that is a scalar")]
    BelowScalar {
        /// The key below.
        name: Name,
    },
    /// The parts below a list are not its next index.
    #[error("{name}: not the next index of its list")]
    NotAnIndex {
        /// The key.
        name: Name,
    },
    /// The value is not of the type that the metadata says.
    #[error("{name}: the value is not of type `{kind}`")]
    WrongType {
        /// The key.
        name: Name,
        /// The type.
        kind: String,
    },
    /// A part of the name is not UTF-8.
    #[error("{name}: not a text")]
    NotText {
        /// The key.
        name: Name,
    },
    /// The format cannot say this.
    #[error("{format} cannot hold {what}")]
    Unsupported {
        /// The format.
        format: &'static str,
        /// What it has no words for.
        what: &'static str,
    },
}
