//! Releases as they are stored.

use std::collections::BTreeMap;

use pathline_release::application::Secrets;
use pathline_release::queue::Entry;
use pathline_release::{Release, TrackerName};
use serde_json::Value;

/// A release, and what became of it.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredRelease {
    /// The id: a hash of what is released for which tracker.
    pub id: String,
    /// The uid of the tracker that formed it.
    pub tracker_uid: String,
    /// The name of that tracker.
    pub tracker: TrackerName,
    /// The release.
    pub release: Release,
    /// The commit that the image says it was built from.
    pub image_revision: Option<String>,
    /// The repository that the image says it was built from.
    pub image_source: Option<String>,
    /// The one who has asked for it; nothing if it followed from an observation.
    pub by: Option<String>,
    /// The reason, as somebody gave it.
    pub reason: Option<String>,
    /// The entries, by environment.
    pub entries: BTreeMap<String, Entry>,
}

/// A configuration that is kept, whole: the secrets are opened.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredConfiguration {
    /// All that is no secret.
    pub document: Value,
    /// The secrets.
    pub secrets: Secrets,
    /// Whether there were secrets that nobody can open any more.
    pub has_lost_secrets: bool,
}

/// The releases that are wanted; without any condition all of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReleaseFilter {
    /// Those of trackers that have the name, or had it.
    pub tracker: Option<TrackerName>,
    /// Those whose configuration was read from a commit, or whose image says that it was built from it; at least seven
    /// digits of it.
    pub commit: Option<String>,
    /// Those that have an entry in an environment, whatever its state.
    pub environment: Option<String>,
}

impl StoredConfiguration {
    /// Returns all of it, secrets included, for a comparison with another one.
    pub fn whole(&self) -> Value {
        self.secrets.merged_into(&self.document)
    }
}
