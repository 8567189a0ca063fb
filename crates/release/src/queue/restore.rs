//! Restoring: after a failure an environment gets back what was deployed there.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{Entry, EntryState, Environment, OnFailure, Queues, Report};
use crate::clauses::Clause;

/// The state of what follows a failure where the environment wants to have back what was deployed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Restore {
    /// The release that was deployed is to be deployed again.
    Pending,
    /// It was.
    Done,
    /// It could not be, with the reason.
    Failed(String),
}

/// A restoration that is to be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Restoring {
    /// The number of the release that has failed.
    pub failed: u64,
    /// The attempt that has failed.
    pub attempt: u32,
    /// The number of the release that is to be deployed again.
    pub deployed: u64,
    /// The time since which it is to be done.
    pub since: Timestamp,
}

impl Queues {
    /// Returns what is to be deployed again in an environment.
    pub fn restoring(&self, environment: &str) -> Option<Restoring> {
        let mut entries = self.entries(environment);
        let (failed, entry) = entries.find(|(_, entry)| is_pending(entry))?;
        Some(Restoring {
            failed,
            attempt: entry.attempt,
            deployed: self.newest(environment, EntryState::Deployed)?,
            since: entry.since,
        })
    }

    /// Takes the report about a restoration; the release and the attempt are those that have failed. One that is
    /// repeated or late changes nothing.
    pub fn report_restore(
        &mut self,
        (environment, failed): (&str, u64),
        attempt: u32,
        report: Report,
        at: Timestamp,
    ) {
        let restoring = self.restoring(environment);
        let restoring = restoring.filter(|it| (it.failed, it.attempt) == (failed, attempt));
        let Some(Restoring { deployed, .. }) = restoring else {
            return;
        };
        let is_done = report == Report::Ready;
        if let Some(entry) = self.entry_mut(environment, failed) {
            entry.restore = Some(match report {
                Report::Ready => Restore::Done,
                Report::Failed(message) => Restore::Failed(message),
            });
        }
        if let Some(entry) = self.entry_mut(environment, deployed).filter(|_| is_done) {
            entry.live.begin(at);
        }
    }

    /// Notes that a failure is followed by a restoration, if the environment wants it and has something to restore.
    pub(super) fn begin_restore(&mut self, environment: &Environment, failed: u64) {
        let name = environment.name.as_str();
        let deployed = self.newest(name, EntryState::Deployed);
        let is_wanted = environment.on_failure == OnFailure::Restore && !self.is_deleted;
        if let Some(entry) = self.entry_mut(name, failed) {
            entry.restore = deployed.filter(|_| is_wanted).map(|_| Restore::Pending);
        }
    }

    /// Ends what is to be restored in an environment.
    pub(super) fn end_restore(&mut self, environment: &str) {
        let is_asked = !self.clauses.is_dropped(Clause::RestoreEnds);
        let entries = self.entries.get_mut(environment).into_iter().flatten();
        for (_, entry) in entries.filter(|(_, it)| is_pending(it) && is_asked) {
            entry.restore = None;
        }
    }
}

fn is_pending(entry: &Entry) -> bool {
    entry.restore == Some(Restore::Pending)
}
