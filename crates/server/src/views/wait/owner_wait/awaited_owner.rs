//! The owner that somebody waits for.

use std::sync::Arc;

use pathline_client::api::WaitResult;
use pathline_lineage::OwnerLineage;
use pathline_lineage::wait::{AwaitedMetadata, Verdict, Waiter};
use tokio::sync::watch;

use crate::views::wait::id::{self, WaitId};
use crate::views::wait::result;

/// The owner that somebody waits for.
pub(super) enum AwaitedOwner {
    /// It is not there, and is waited for.
    Absent(Absent),
    /// It is there.
    Present(Box<Present>),
    /// It was there, and was deleted.
    Gone,
}

/// An owner that is not there yet.
pub(super) struct Absent {
    /// Whether one of that name was there before the waiting began.
    pub(super) was_there: bool,
    /// The uid that a late watch may still show.
    pub(super) deleted: Option<String>,
    /// The deletions that were before the waiting began.
    pub(super) deletions: u64,
}

/// An owner that is there.
pub(super) struct Present {
    pub(super) uid: String,
    pub(super) lineages: watch::Receiver<Option<Arc<OwnerLineage>>>,
    pub(super) waiter: Waiter,
    pub(super) generation: i64,
    /// Its labels and annotations, until something is recorded of them.
    pub(super) metadata: AwaitedMetadata,
    pub(super) was_known: bool,
    /// Whether the watch has shown it.
    pub(super) was_shown: bool,
}

impl Present {
    /// Returns what can be said of an owner that nobody has looked at as it should have been.
    pub(super) fn evaluate_unseen(&mut self) -> WaitResult {
        let unseen = OwnerLineage {
            generation: i64::MIN,
            ..OwnerLineage::default()
        };
        let verdict = self.waiter.judge(&unseen);
        self.result(verdict, &unseen)
    }

    /// Returns a verdict on a lineage as an answer.
    pub(super) fn result(&self, verdict: Verdict, lineage: &OwnerLineage) -> WaitResult {
        let notes = self.waiter.notes(lineage);
        result::of_verdict(verdict, self.generation, self.id(), notes)
    }

    pub(super) fn id(&self) -> String {
        let id = WaitId {
            generation: self.generation,
            carried: self.waiter.carried().to_vec(),
            owner: Some(id::digest(&self.uid)),
        };
        id.to_string()
    }
}
