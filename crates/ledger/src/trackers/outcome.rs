//! Outcomes of writes to trackers.

use pathline_release::TrackerName;
use pathline_release::tracker::NotRequested;

use super::stored::StoredTracker;
use crate::releases::StoredRelease;

/// The outcome of making a tracker.
#[derive(Clone, Debug, PartialEq)]
pub enum CreateOutcome {
    /// It is there.
    Created(Box<StoredTracker>),
    /// There is one of that name, and nothing has changed.
    Exists,
    /// There is one whose objects in clusters have the name that those of this one would have; nothing has changed.
    OwnerTaken {
        /// The name of that tracker.
        by: TrackerName,
    },
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

/// The outcome of asking for a release at once.
#[derive(Clone, Debug, PartialEq)]
pub enum RequestOutcome {
    /// It is formed, and queued in the first environment.
    Formed(Box<StoredRelease>),
    /// There is no tracker of that name.
    Missing,
    /// Nothing is released, for this reason.
    Refused(NotRequested),
}
