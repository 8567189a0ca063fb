//! Changes of trackers, one after the other.

use jiff::Timestamp;
use pathline_release::TrackerName;
use serde::{Deserialize, Serialize};

use super::Trackers;
use crate::changes::{self, ChangeRow};
use crate::error::Error;
use crate::rows::{from_json, time};
use crate::topic::Topic;

/// A change of a tracker, in short.
#[derive(Clone, Debug, PartialEq)]
pub struct TrackerChange {
    /// The number among all changes; later ones have greater numbers.
    pub sequence: i64,
    /// The time at which it was recorded.
    pub time: Timestamp,
    /// The uid of the tracker.
    pub uid: String,
    /// The name of the tracker.
    pub name: TrackerName,
    /// The difference that it made.
    pub what: WhatHappened,
}

/// The difference that a change made to a tracker.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum WhatHappened {
    /// It was made.
    Created {
        /// The one who did it.
        by: String,
    },
    /// It was pointed elsewhere, or got another token.
    #[serde(rename_all = "camelCase")]
    Replaced {
        /// The one who did it.
        by: String,
        /// Whether it reads something else.
        has_new_source: bool,
        /// Whether it has another token.
        has_new_token: bool,
    },
    /// It was deleted.
    Deleted {
        /// The one who did it.
        by: String,
    },
    /// A message says that something it follows may have changed.
    Hinted {
        /// The sender of the message.
        by: String,
    },
    /// Somebody wants it to be looked at.
    Wanted {
        /// The one who does.
        by: String,
    },
    /// Somebody has had a release of it.
    Released {
        /// The one who did it.
        by: String,
        /// The number of the release.
        release: u64,
    },
    /// A cycle has changed its state.
    Observed {
        /// The number of the release that was formed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        release: Option<u64>,
    },
}

/// A change as it is stored.
#[derive(Serialize, Deserialize)]
pub(super) struct What {
    pub(super) name: TrackerName,
    #[serde(flatten)]
    pub(super) what: WhatHappened,
}

/// Changes
impl Trackers<'_> {
    /// Returns the sequence of the newest change there has been, to go on after it.
    ///
    /// # Errors
    /// If the ledger cannot be read.
    pub async fn newest_change(self) -> Result<i64, Error> {
        let mut session = self.ledger.database().reader().await?;
        changes::newest(&mut session).await
    }

    /// Returns the changes of trackers after a sequence, in their order. No change with a smaller sequence becomes visible
    /// later, so whoever asks again after the last of them misses nothing.
    ///
    /// # Errors
    /// [`Error::Forgotten`] if some of those asked for are no longer kept, [`Error::Ahead`] if there has not been that
    /// many yet.
    pub async fn changes(self, after: i64, limit: u32) -> Result<Vec<TrackerChange>, Error> {
        let database = self.ledger.database();
        let rows = changes::of_topic(database, Topic::Trackers, after, limit).await?;
        let read = |row: ChangeRow| {
            let What { name, what } = from_json(database.location(), "change", &row.what)?;
            Ok(TrackerChange {
                sequence: row.sequence,
                time: time(database.location(), row.time)?,
                uid: row.subject,
                name,
                what,
            })
        };
        rows.into_iter().map(read).collect()
    }
}
