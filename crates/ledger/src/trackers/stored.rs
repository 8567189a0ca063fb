//! Trackers as they are stored, and what a cycle adds to one.

use std::fmt;

use jiff::Timestamp;
use pathline_release::application::{Application, Secrets};
use pathline_release::queue::Flow;
use pathline_release::request::SourceLocation;
use pathline_release::tracker::{Basis, Tracker};
use pathline_release::{Release, TrackerName};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A tracker that is not deleted.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredTracker {
    /// The uid: no other tracker has it, also none of the same name.
    pub uid: String,
    /// The name, as it was given.
    pub name: TrackerName,
    /// The file that it reads.
    pub source: SourceLocation,
    /// Whether there is a token; see [`super::Trackers::token`].
    pub has_token: bool,
    /// Whether there was one that nobody can open any more, and nobody has given another one.
    pub has_lost_token: bool,
    /// The edition: what an `ETag` says.
    pub edition: Edition,
    /// The state.
    pub state: Tracker,
    /// The file as it was read last; nothing before that, and after the tracker was pointed elsewhere.
    pub known_source: Option<KnownSource>,
    /// Whether nobody has read yet what the image of one of its releases says of itself.
    pub is_undescribed: bool,
    /// The time at which it was made.
    pub created: Timestamp,
    /// The one who made it.
    pub created_by: String,
    /// The time at which it was made, or replaced last.
    pub updated: Timestamp,
    /// The one who did that.
    pub updated_by: String,
    /// The time at which an observation changed its state last.
    pub observed: Option<Timestamp>,
}

/// The edition of a tracker: all that somebody can replace has numbers, which only grow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Edition {
    /// The generation: it grows when the tracker is pointed elsewhere.
    pub generation: u64,
    /// The version of the token.
    pub token_version: u64,
}

/// A file as it was read last, by which it is known whether there is something new.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct KnownSource {
    /// The commit.
    pub commit: String,
    /// The blob of the file; nothing if the commit has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blob: Option<String>,
    /// The word by which a host tells whether its answer is still the same (`ETag`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub validator: Option<String>,
}

/// All that follows from one cycle of a tracker.
#[derive(Clone, Debug)]
pub struct CycleResult {
    /// The uid of the tracker.
    pub uid: String,
    /// The state that the cycle was asked for: before it was observed.
    pub basis: Basis,
    /// The state after that.
    pub state: Tracker,
    /// The file as it was read now; nothing keeps what is known.
    pub known_source: Option<KnownSource>,
    /// The configuration, if it was read now.
    pub configuration: Option<NewConfiguration>,
    /// The release that was formed; see [`crate::releases::Releases::describe`] for what its image says of itself.
    pub release: Option<Release>,
    /// The environments that a release goes through.
    pub flow: Flow,
    /// The time of the observation.
    pub at: Timestamp,
}

/// A configuration to be kept, with its secrets apart.
#[derive(Clone, Debug, PartialEq)]
pub struct NewConfiguration {
    /// The hash by which it is known.
    pub config_hash: String,
    /// All that is no secret.
    pub document: Value,
    /// The secrets.
    pub secrets: Secrets,
}

impl CycleResult {
    /// Tells whether there is nothing to store: the cycle has left the state as it was.
    pub(super) fn has_not_changed(&self) -> bool {
        self.state.basis() == self.basis
    }
}

impl From<&Application> for NewConfiguration {
    fn from(application: &Application) -> Self {
        let (document, secrets) = application.split();
        Self {
            config_hash: application.config_hash().to_owned(),
            document,
            secrets,
        }
    }
}

impl fmt::Display for Edition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.generation, self.token_version)
    }
}
