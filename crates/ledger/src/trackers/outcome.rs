//! Outcomes of writes to trackers.

use super::stored::StoredTracker;
use crate::releases::StoredRelease;

/// The outcome of making a tracker.
#[derive(Clone, Debug, PartialEq)]
pub enum CreateOutcome {
    /// It is there.
    Created(Box<StoredTracker>),
    /// There is one of that name, and nothing has changed.
    Exists,
}

/// The outcome of replacing what a tracker reads.
#[derive(Clone, Debug, PartialEq)]
pub enum ReplaceOutcome {
    /// It reads something else, or with another token.
    Replaced(Box<StoredTracker>),
    /// It is as it was, since the replacement says the same.
    Unchanged(Box<StoredTracker>),
    /// The stored token would be sent to another repository than it was given for; nothing has changed.
    TokenRequired,
    /// Its edition is another than the expected one; nothing has changed.
    Stale,
    /// There is none of that name.
    Missing,
}

/// The secrets that are sealed, and are lost with their key.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SealedSecrets {
    /// The names of the trackers that have a token.
    pub tokens: Vec<String>,
    /// The number of configurations that have secrets.
    pub configurations: u64,
}

/// The outcome of deleting a tracker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeleteOutcome {
    /// It is deleted.
    Deleted {
        /// The uid that it had.
        uid: String,
    },
    /// Its edition is another than the expected one; nothing has changed.
    Stale,
    /// There is none of that name.
    Missing,
}

/// The outcome of applying what a cycle observed.
#[derive(Clone, Debug, PartialEq)]
pub enum ApplyOutcome {
    /// It is applied.
    Applied {
        /// The release that was formed, with its entries.
        release: Option<Box<StoredRelease>>,
    },
    /// Somebody else was first: another observation, a replacement or a deletion. Nothing has changed.
    Discarded,
}
