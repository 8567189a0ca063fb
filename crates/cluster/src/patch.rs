//! Patches: JSON (RFC 6902), merge (RFC 7386) and strategic merge.

mod json;
mod merge;
mod strategic;

pub(crate) use json::json;
pub(crate) use merge::merge;
pub(crate) use strategic::strategic;

/// The reason for which a patch could not be applied; nothing of it has been.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Error {
    /// The patch is not one (400).
    #[error("{0}")]
    Malformed(String),
    /// The patch has more operations than a server takes (413).
    #[error("The allowed maximum operations in a JSON patch is {limit}, got {count}")]
    TooManyOperations {
        /// The largest number that is allowed.
        limit: usize,
        /// The number that there are.
        count: usize,
    },
    /// The patch does not fit the object: a failed `test`, a missing path (422).
    #[error("{0}")]
    Inapplicable(String),
}
