//! Changes of releases, one after the other.

use jiff::Timestamp;
use pathline_release::{Cause, TrackerName};
use serde::{Deserialize, Serialize};

use super::Releases;
use crate::changes::{self, ChangeRow};
use crate::error::Error;
use crate::rows::{from_json, time};
use crate::topic::Topic;

/// A change of a release, in short.
#[derive(Clone, Debug, PartialEq)]
pub struct ReleaseChange {
    /// The number among all changes; later ones have greater numbers.
    pub sequence: i64,
    /// The time at which it was recorded.
    pub time: Timestamp,
    /// The id of the release.
    pub id: String,
    /// The difference that it made: there is a release.
    pub formed: Formed,
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
}

/// A change as it is stored.
#[derive(Serialize, Deserialize)]
pub(crate) struct What {
    pub(crate) formed: Formed,
}

/// Changes
impl Releases<'_> {
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
            let What { formed } = from_json(database.location(), "change", &row.what)?;
            Ok(ReleaseChange {
                sequence: row.sequence,
                time: time(database.location(), row.time)?,
                id: row.subject,
                formed,
            })
        };
        rows.into_iter().map(read).collect()
    }
}
