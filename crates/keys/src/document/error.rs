//! Errors of documents that are not keys, and of keys that are not a document.

use pathline_document::{Lines, Position};

use crate::name::Name;

/// Says why a text could not be read into keys, and where.
///
/// ```
/// use pathline_keys::document::{self, Format, Position};
///
/// let read = document::read(Format::Yaml, "a: 1\n? [b]\n: 2\n");
/// let error = read.expect_err("a list cannot be a key");
/// assert_eq!(error.at, Position { line: 2, column: 3 });
/// assert_eq!(error.to_string(), "line 2, column 3: a key that is not a scalar");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{at}: {kind}")]
#[non_exhaustive]
pub struct ReadError {
    /// The line and the column.
    pub at: Position,
    /// The cause.
    pub kind: ReadErrorKind,
}

/// Says why a text could not be read into keys.
///
/// ```
/// use pathline_keys::document::ReadErrorKind;
///
/// assert_eq!(ReadErrorKind::NulInKey.to_string(), "a key that contains NUL");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReadErrorKind {
    /// The text is not a document of the format.
    #[error(transparent)]
    Document(#[from] pathline_document::ReadErrorKind),
    /// The bytes are not UTF-8.
    #[error("not UTF-8")]
    NotText,
    /// The key of a map contains NUL.
    #[error("a key that contains NUL")]
    NulInKey,
    /// The key is empty and directly below the root.
    #[error("an empty key directly below the root")]
    EmptyKey,
    /// The path of keys is too long for a name.
    #[error("the keys that lead here are too long for a name")]
    TooLong,
    /// The number has no representation.
    #[error("the number `{0}` is out of range")]
    OutOfRange(String),
    /// The text behind `!!binary` is not base64.
    #[error("not base64: {0}")]
    NotBase64(String),
    /// The stream has a second document.
    #[error("a second document; keys are made from one")]
    SeveralDocuments,
    /// Aliases expand to more than is sensible.
    #[error("aliases expand to too much")]
    Bomb,
}

/// An error before its position in the text has been looked up.
#[derive(Debug)]
pub(super) struct ErrorAt {
    offset: usize,
    kind: ReadErrorKind,
}

impl ErrorAt {
    pub(super) const fn new(offset: usize, kind: ReadErrorKind) -> Self {
        Self { offset, kind }
    }

    pub(super) fn locate(self, text: &str) -> ReadError {
        ReadError {
            at: Lines::new(text).position(self.offset),
            kind: self.kind,
        }
    }
}

/// Says why keys are not a document of a format.
///
/// ```
/// use pathline_keys::document::{self, Format, WriteError};
///
/// let keys = document::read(Format::Json, "[null]")?;
/// let error = document::write(Format::Toml, &keys).expect_err("TOML is always a table");
/// assert!(matches!(error, WriteError::Unsupported { .. }));
/// # Ok::<(), pathline_keys::document::ReadError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
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
    /// A document cannot hold metadata of a key, or not with this text.
    #[error("{name}: a document cannot hold the metadata `{metadata}` (`{text}`)")]
    Metadata {
        /// The key.
        name: Name,
        /// The name of the metadata, without `meta:/`.
        metadata: String,
        /// The text of the metadata.
        text: String,
    },
    /// A key would be read again as another one.
    #[error("{name}: a document cannot hold this key as it is")]
    Unequal {
        /// The key.
        name: Name,
    },
    /// The document would be refused where it is read again.
    #[error("the document could not be read again")]
    Unreadable(#[source] ReadError),
    /// The format cannot say this.
    #[error(transparent)]
    Unsupported(#[from] pathline_document::WriteError),
}
