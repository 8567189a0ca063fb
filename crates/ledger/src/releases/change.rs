//! Changes of releases, one after the other.

use jiff::Timestamp;
use pathline_release::queue::EntryState;
use pathline_release::{Cause, TrackerName};
use serde::{Deserialize, Serialize};

use super::Releases;
use crate::changes::{self, ChangeRow};
use crate::error::Error;
use crate::rows::{from_json, time};
use crate::topic::Topic;

/// A change of a release, or of what lets releases through, in short.
#[derive(Clone, Debug, PartialEq)]
pub struct ReleaseChange {
    /// The number among all changes; later ones have greater numbers.
    pub sequence: i64,
    /// The time at which it was recorded.
    pub time: Timestamp,
    /// The id of the release; of a hold, the name of the environment.
    pub subject: String,
    /// The difference that it made.
    pub what: What,
}

/// The difference that a change made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum What {
    /// A release was formed.
    Formed(Formed),
    /// A release is in another state in an environment.
    Moved(Moved),
    /// An environment, or a tracker in it, takes nothing until it is resumed.
    Held(HoldChange),
    /// An environment, or a tracker in it, takes something again.
    Resumed(HoldChange),
}

/// A release that was formed, in short.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Formed {
    /// The name of the tracker.
    pub tracker: TrackerName,
    /// The uid of the tracker.
    pub tracker_uid: String,
    /// The number.
    pub number: u64,
    /// The reason.
    pub cause: Cause,
    /// The repository of the image, with its registry.
    pub repository: String,
    /// The tag of the image.
    pub tag: String,
    /// The digest of the image.
    pub digest: String,
    /// The one who has asked for it; nothing if it followed from an observation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// The reason, as somebody gave it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// A change of the state of a release in an environment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Moved {
    /// The name of the tracker.
    pub tracker: TrackerName,
    /// The uid of the tracker.
    pub tracker_uid: String,
    /// The number of the release.
    pub number: u64,
    /// The environment.
    pub environment: String,
    /// The state before; nothing if it was not there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<EntryState>,
    /// The state from then on.
    pub to: EntryState,
    /// The one who did it; nothing where it followed by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// The reason, as somebody gave it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// A hold that was set, or ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HoldChange {
    /// The environment.
    pub environment: String,
    /// The name of the tracker; nothing for the environment as a whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tracker: Option<TrackerName>,
    /// The one who did it.
    pub by: String,
    /// The reason, as somebody gave it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// Changes
impl Releases<'_> {
    /// Returns the sequence of the newest change there is, of whatever topic: what is read after this is at least as new.
    ///
    /// # Errors
    /// If the ledger cannot be read.
    pub async fn newest_change(self) -> Result<i64, Error> {
        let mut session = self.ledger.database().reader().await?;
        changes::newest(&mut session).await
    }

    /// Returns the changes of releases after a sequence, in their order. No change with a smaller sequence becomes visible
    /// later, so whoever asks again after the last of them misses nothing.
    ///
    /// # Errors
    /// [`Error::Forgotten`] if some of those asked for are no longer kept, [`Error::Ahead`] if there has not been that
    /// many yet.
    pub async fn changes(self, after: i64, limit: u32) -> Result<Vec<ReleaseChange>, Error> {
        let database = self.ledger.database();
        let rows = changes::of_topic(database, Topic::Releases, after, limit).await?;
        let read = |row: ChangeRow| {
            Ok(ReleaseChange {
                sequence: row.sequence,
                time: time(database.location(), row.time)?,
                subject: row.subject,
                what: from_json(database.location(), "change", &row.what)?,
            })
        };
        rows.into_iter().map(read).collect()
    }
}
