//! Hints: somebody says that a tracker should be looked at. Whoever tracks, in whichever process, hears of them as of
//! every other change.

use jiff::Timestamp;

use super::Trackers;
use super::change::WhatHappened;
use super::write::{find_by_uid, record};
use crate::error::Error;
use crate::writer::{Transaction, Write};

/// Records a hint, if the tracker is there.
struct RecordHint {
    uid: String,
    what: WhatHappened,
    at: Timestamp,
}

/// Hints
impl Trackers<'_> {
    /// Records that something that a tracker follows may have changed, as a sender of messages says.
    ///
    /// # Errors
    /// If the ledger cannot be written to.
    pub async fn hint(self, uid: &str, by: &str, at: Timestamp) -> Result<(), Error> {
        let by = by.to_owned();
        self.record_hint(uid, WhatHappened::Hinted { by }, at).await
    }

    /// Records that somebody wants a tracker to be looked at now.
    ///
    /// # Errors
    /// If the ledger cannot be written to.
    pub async fn poll_now(self, uid: &str, by: &str, at: Timestamp) -> Result<(), Error> {
        let by = by.to_owned();
        self.record_hint(uid, WhatHappened::Wanted { by }, at).await
    }

    async fn record_hint(self, uid: &str, what: WhatHappened, at: Timestamp) -> Result<(), Error> {
        let uid = uid.to_owned();
        self.ledger.write(RecordHint { uid, what, at }).await
    }
}

impl Write for RecordHint {
    type Group = ();
    type Answer = ();

    async fn execute(&self, (): &mut (), transaction: &mut Transaction<'_>) -> Result<(), Error> {
        let Some(stored) = find_by_uid(transaction, &self.uid).await? else {
            return Ok(());
        };
        record(
            transaction,
            (&self.uid, &stored.name),
            self.at,
            self.what.clone(),
        )
        .await
    }
}
