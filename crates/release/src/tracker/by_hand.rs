//! Releases that somebody asks for.

use jiff::Timestamp;

use super::Tracker;
use crate::clauses::Clause;
use crate::release::{Cause, Release, Rollback};

impl Tracker {
    /// Forms a release with the content of an older one, for one environment alone.
    ///
    /// What comes next is compared with the same release as before: no poll undoes a rollback.
    pub fn roll_back(&mut self, environment: &str, to: &Release, at: Timestamp) -> Release {
        let number = self.next_number();
        let release = Release {
            number,
            cause: Cause::Rollback,
            previous: self.last_release.as_ref().map(|it| it.number),
            at,
            rollback: Some(Rollback {
                environment: environment.to_owned(),
                to: to.number,
            }),
            ..to.clone()
        };
        self.numbered = number;
        if self.clauses.is_dropped(Clause::Measure) {
            self.last_release = Some(release.clone());
        }
        // Cycles that are under way would form a release of the same number.
        self.version += 1;
        release
    }

    /// Returns the number of the next release.
    pub(super) fn next_number(&self) -> u64 {
        let last = self.last_release.as_ref().map(|it| it.number);
        let last = last.unwrap_or_default();
        let numbered = match self.clauses.is_dropped(Clause::Numbers) {
            false => self.numbered,
            true => 0,
        };
        last.max(numbered) + 1
    }
}
