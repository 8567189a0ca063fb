//! Entries: one release in one environment.

use std::fmt;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{Live, Restore};

/// The fate of a release in an environment.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Entry {
    /// The state.
    pub state: EntryState,
    /// The time since which it is in that state.
    pub since: Timestamp,
    /// The number of times that it was tried again by hand.
    pub attempt: u32,
    /// Whether somebody has promoted it.
    pub is_promoted: bool,
    /// The release that took its place.
    pub superseded_by: Option<u64>,
    /// The reason of a failure; of what is being deployed, or was, what was noted about it.
    pub message: Option<String>,
    /// The time for which it has been live since it was deployed.
    #[serde(default)]
    pub live: Live,
    /// The state of what follows its failure, where the environment wants to have back what was deployed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub restore: Option<Restore>,
}

/// The state of an entry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EntryState {
    /// It waits for a tick.
    #[default]
    Queued,
    /// It waits to be promoted.
    Held,
    /// It is being deployed.
    Deploying,
    /// It was deployed.
    Deployed,
    /// It could not be deployed.
    Failed,
    /// A newer release took its place before it was deployed.
    Superseded,
    /// The application keeps out of the environment.
    Skipped,
    /// The tracker was deleted before it was deployed, or the environment was.
    Cancelled,
}

/// A change of an entry.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Transition {
    /// The environment.
    pub environment: String,
    /// The number of the release.
    pub release: u64,
    /// The state before; nothing if it was not there.
    pub from: Option<EntryState>,
    /// The state from now on.
    pub to: EntryState,
}

impl EntryState {
    /// Returns the word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Held => "held",
            Self::Deploying => "deploying",
            Self::Deployed => "deployed",
            Self::Failed => "failed",
            Self::Superseded => "superseded",
            Self::Skipped => "skipped",
            Self::Cancelled => "cancelled",
        }
    }

    /// Tells whether nothing happens to it any more by itself.
    pub const fn is_terminal(self) -> bool {
        !matches!(self, Self::Queued | Self::Held | Self::Deploying)
    }

    /// Tells whether it waits for somebody or something to begin.
    pub const fn is_waiting(self) -> bool {
        matches!(self, Self::Queued | Self::Held)
    }
}

impl fmt::Display for EntryState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
