//! The write that deletes a tracker.

use jiff::Timestamp;
use pathline_release::TrackerName;

use super::super::change::WhatHappened;
use super::super::outcome::DeleteOutcome;
use super::super::stored::Edition;
use super::{find, json, record, token};
use crate::database::sql;
use crate::error::Error;
use crate::releases::By;
use crate::releases::queues::{Named, OpenQueues, TrackerRef};
use crate::writer::{Transaction, Write};

/// Deletes a tracker: its row stays, for its releases are history.
pub(in crate::trackers) struct DeleteTracker {
    name: TrackerName,
    expected: Option<Edition>,
    by: String,
    at: Timestamp,
}

impl DeleteTracker {
    pub(in crate::trackers) fn new(
        name: &TrackerName,
        expected: Option<Edition>,
        (by, at): (&str, Timestamp),
    ) -> Self {
        Self {
            name: name.clone(),
            expected,
            by: by.to_owned(),
            at,
        }
    }
}

impl Write for DeleteTracker {
    type Group = ();
    type Answer = DeleteOutcome;

    async fn execute(
        &self,
        (): &mut (),
        transaction: &mut Transaction<'_>,
    ) -> Result<DeleteOutcome, Error> {
        let Some(stored) = find(transaction, &self.name).await? else {
            return Ok(DeleteOutcome::Missing);
        };
        if self.expected.is_some_and(|it| it != stored.edition) {
            return Ok(DeleteOutcome::Stale);
        }
        let (uid, name) = (stored.uid, stored.name);
        let mut state = stored.state;
        state.delete();
        token::erase(transaction, &uid).await?;
        let update = sql(
            "update tracker set state = $2, known_source = null, deleted = $3, \
             deleted_by = $4 where uid = $1",
        )
        .bind(&uid)
        .bind(&json(&state))
        .bind(self.at)
        .bind(&self.by);
        transaction.session().run(update).await?;
        self.cancel(transaction, &uid).await?;
        let by = self.by.clone();
        let what = WhatHappened::Deleted { by };
        record(transaction, (&uid, &name), self.at, what).await?;
        Ok(DeleteOutcome::Deleted { uid })
    }
}

impl DeleteTracker {
    /// Cancels whatever waits; a deployment under way ends as it does.
    async fn cancel(&self, transaction: &mut Transaction<'_>, uid: &str) -> Result<(), Error> {
        let tracker = TrackerRef::Uid(uid.to_owned());
        let opened = OpenQueues::one(transaction, &tracker, Named::default()).await?;
        let Some(mut open) = opened else {
            return Ok(());
        };
        let cancelled = open.queues.delete(self.at);
        let by = By::new(&self.by, None);
        open.store(transaction, &cancelled, Some(&by), self.at)
            .await
    }
}
