//! Reasons not to edit.

use crate::error::{ReadError, WriteError};
use crate::path::Path;

/// Says which edit was refused, and why.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{path}: {reason}")]
#[non_exhaustive]
pub struct Refused {
    /// The path that was to be edited.
    pub path: Path,
    /// The cause.
    #[source]
    pub reason: Reason,
}

impl Refused {
    pub(super) fn new(path: &Path, reason: Reason) -> Self {
        Self {
            path: path.clone(),
            reason,
        }
    }

    pub(super) fn unreadable(error: ReadError) -> Self {
        Self::new(&Path::default(), Reason::Unreadable(error))
    }
}

/// Says why an edit is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Reason {
    /// The text cannot be read.
    #[error("the text cannot be read")]
    Unreadable(#[source] ReadError),
    /// There are fewer documents; how many, it says.
    #[error("there are only {0} documents")]
    NoDocument(usize),
    /// The stream has several documents, and none was chosen.
    #[error("there are several documents")]
    SeveralDocuments,
    /// The root cannot be removed.
    #[error("the root cannot be removed")]
    Root,
    /// The path leads into a scalar, by a key into a list or by an index into a map.
    #[error("the path leads nowhere")]
    Nowhere,
    /// The index is beyond the end of the list.
    #[error("the list has only {len} items")]
    Index {
        /// The number of items in the list.
        len: usize,
    },
    /// The path leads through an alias: the edit would be somewhere else too.
    #[error("it is written elsewhere, an alias repeats it here")]
    Alias,
    /// An alias repeats the value or a part of it somewhere else.
    #[error("an alias repeats it elsewhere")]
    Shared,
    /// The value comes from a merge key.
    #[error("it comes from a merge key")]
    Merged,
    /// A comment is in the way.
    #[error("a comment is in the way")]
    Comment,
    /// The way it is written is not understood well enough.
    #[error("it is written as {0}")]
    Layout(&'static str),
    /// The format has no words for the value.
    #[error("the value cannot be written")]
    Unwritable(#[from] WriteError),
    /// The text, read again, would say something else too.
    #[error("it cannot be edited without changing something else")]
    Unsafe,
}
