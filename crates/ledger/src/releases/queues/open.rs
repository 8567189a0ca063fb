//! Queues within a transaction: as they were, and as they are.

use std::collections::BTreeMap;

use jiff::Timestamp;
use pathline_release::TrackerName;
use pathline_release::queue::{Queues, Transition};

use super::restore::{Named, restore, trackers};
use super::{QueuesOf, TrackerRef};
use crate::error::Error;
use crate::releases::act::By;
use crate::writer::Transaction;

/// The queues of one tracker, restored within a transaction to be changed and stored there.
pub(crate) struct OpenQueues {
    pub(crate) uid: String,
    pub(crate) name: TrackerName,
    /// The queues, to be changed.
    pub(crate) queues: Queues,
    pub(super) before: Queues,
    /// The ids of the releases that are in them, by number.
    pub(super) ids: BTreeMap<u64, String>,
}

impl OpenQueues {
    /// Restores the queues of a tracker; nothing if it is not there.
    pub(crate) async fn one(
        transaction: &mut Transaction<'_>,
        tracker: &TrackerRef,
        named: Named<'_>,
    ) -> Result<Option<Self>, Error> {
        let which = QueuesOf::One {
            tracker,
            release: None,
        };
        let found = Self::restored(transaction, which, named).await?;
        Ok(found.into_iter().next())
    }

    /// Restores the queues of trackers.
    pub(crate) async fn all(
        transaction: &mut Transaction<'_>,
        uids: &[String],
    ) -> Result<Vec<Self>, Error> {
        Self::restored(transaction, QueuesOf::Uids(uids), Named::default()).await
    }

    async fn restored(
        transaction: &mut Transaction<'_>,
        which: QueuesOf<'_>,
        named: Named<'_>,
    ) -> Result<Vec<Self>, Error> {
        let location = transaction.location().clone();
        let session = transaction.session();
        let asked = trackers(session.dialect(), which);
        let restored = restore(session, &location, asked, named).await?.into_iter();
        let opened = restored.map(|it| Self {
            uid: it.uid,
            name: it.name,
            before: it.queues.clone(),
            queues: it.queues,
            ids: it.ids,
        });
        Ok(opened.collect())
    }

    /// Returns the id of a release that is in them.
    pub(crate) fn id(&self, number: u64) -> Option<&str> {
        self.ids.get(&number).map(String::as_str)
    }

    /// Takes note of a release that was formed in the same transaction.
    pub(crate) fn formed(&mut self, number: u64, id: &str) {
        self.ids.insert(number, id.to_owned());
    }

    /// Stores what has changed, and records what has moved; `by` is the one who did it.
    pub(crate) async fn store(
        &self,
        transaction: &mut Transaction<'_>,
        transitions: &[Transition],
        by: Option<&By>,
        at: Timestamp,
    ) -> Result<(), Error> {
        super::store(transaction, &[(self, transitions)], by, at).await
    }
}
