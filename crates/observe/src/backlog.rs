//! Everything that was observed of an owner and is not in the ledger yet.

use std::collections::BTreeMap;

use pathline_lineage::rollout::ConfigRecord;
use pathline_lineage::{Arrived, Derivation, NotOnPath, OwnerLineage};

use crate::observation::{Learned, Observation, Versions};

/// The number of observations that are kept while the ledger cannot be read.
const MAX_WAITING: usize = 32;
/// The number of derivations and arrivals each that are kept while the ledger cannot be written. What was
/// made before is in the lineage as far as it is still used.
const MAX_UNWRITTEN: usize = 1_024;

/// Everything that was observed of one owner and is not in the ledger yet.
#[derive(Debug, Default)]
pub struct Backlog {
    /// The observations that are in no lineage yet.
    waiting: Vec<Observation>,
    /// Whether some of those are no longer kept.
    has_missed: bool,
    versions: Versions,
    unwritten: Unwritten,
}

/// The news of a lineage that the ledger has not been told.
#[derive(Debug, Default)]
pub struct Unwritten {
    is_lineage_new: bool,
    /// The derivations that came to be known.
    pub derivations: Vec<Derivation>,
    /// The values that arrived.
    pub arrivals: Vec<Arrived>,
}

/// The result of taking all observations into a lineage.
#[derive(Debug, Default)]
pub struct CaughtUp {
    /// Whether the lineage is another one now.
    pub is_changed: bool,
    /// The resources that were observed and are not on the path, which cannot be.
    pub not_on_path: Vec<NotOnPath>,
}

impl Backlog {
    /// Keeps an observation until there is a lineage to take it, unless it shows what the one before shows.
    pub fn keep(&mut self, observation: Observation) {
        let last = self.waiting.last();
        if last.is_some_and(|last| last.shows(&observation)) {
            return;
        }
        self.waiting.push(observation);
        if self.waiting.len() > MAX_WAITING {
            self.waiting.remove(0);
            self.has_missed = true;
        }
    }

    /// Returns what the newest observation that is in no lineage yet remembers of ConfigMaps and Secrets.
    pub fn configs(&self) -> Option<&BTreeMap<String, ConfigRecord>> {
        self.waiting.iter().rev().find_map(Observation::configs)
    }

    /// Takes all observations into a lineage.
    pub fn catch_up(&mut self, lineage: &mut OwnerLineage) -> CaughtUp {
        let mut caught_up = CaughtUp::default();
        if std::mem::take(&mut self.has_missed) {
            lineage.state.missed();
            self.unwritten.is_lineage_new = true;
        }
        for observation in std::mem::take(&mut self.waiting) {
            self.learn(lineage, observation, &mut caught_up);
        }
        caught_up
    }

    /// Returns what the ledger is to be told, if anything.
    pub fn unwritten(&self) -> Option<&Unwritten> {
        let unwritten = &self.unwritten;
        unwritten.is_lineage_new.then_some(unwritten)
    }

    /// Takes note that the ledger has been told.
    pub fn written(&mut self) {
        self.unwritten = Unwritten::default();
    }

    fn learn(
        &mut self,
        lineage: &mut OwnerLineage,
        observation: Observation,
        caught_up: &mut CaughtUp,
    ) {
        if observation.is_known(lineage, &self.versions) {
            return;
        }
        let before = lineage.clone();
        let Learned {
            derivations,
            not_on_path,
        } = observation.feed(lineage, &mut self.versions);
        caught_up.not_on_path.extend(not_on_path);
        lineage.note_live();
        if lineage.concludes_the_same(&before) {
            caught_up.is_changed |= before != *lineage;
            return;
        }
        caught_up.is_changed = true;
        let unwritten = &mut self.unwritten;
        unwritten.is_lineage_new = true;
        unwritten.derivations.extend(derivations);
        unwritten.arrivals.extend(lineage.arrived_since(&before));
        unwritten.forget_oldest();
    }
}

impl Unwritten {
    fn forget_oldest(&mut self) {
        let too_many = self.derivations.len().saturating_sub(MAX_UNWRITTEN);
        self.derivations.drain(..too_many);
        let too_many = self.arrivals.len().saturating_sub(MAX_UNWRITTEN);
        self.arrivals.drain(..too_many);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failed(reason: &str) -> Observation {
        Observation {
            failure: Some(reason.to_owned()),
            ..Observation::default()
        }
    }

    #[test]
    fn observations_that_show_the_same_take_no_room_from_others() {
        let mut backlog = Backlog::default();
        for reason in ["one", "two", "two", "one", "one"] {
            backlog.keep(failed(reason));
        }
        assert_eq!(backlog.waiting.len(), 3);
        for reason in 0..MAX_WAITING - 3 {
            backlog.keep(failed(&reason.to_string()));
        }
        assert!(!backlog.has_missed);
        backlog.keep(failed("last"));
        assert_eq!(backlog.waiting.len(), MAX_WAITING);
        assert!(backlog.has_missed);
    }

    #[test]
    fn ledger_is_told_what_is_new_and_nothing_twice() {
        let mut backlog = Backlog::default();
        let mut lineage = OwnerLineage::default();
        backlog.keep(failed("one"));
        assert!(backlog.unwritten().is_none(), "no lineage has taken it");
        assert!(backlog.catch_up(&mut lineage).is_changed);
        assert_eq!(lineage.failure.as_deref(), Some("one"));
        assert!(backlog.unwritten().is_some());
        assert!(!backlog.catch_up(&mut lineage).is_changed);
        assert!(backlog.unwritten().is_some(), "the ledger was not there");
        backlog.written();
        backlog.keep(failed("one"));
        assert!(!backlog.catch_up(&mut lineage).is_changed);
        assert!(backlog.unwritten().is_none(), "it is known");
    }

    #[test]
    fn observations_that_were_not_kept_are_told_as_missed() {
        let mut backlog = Backlog::default();
        let mut lineage = OwnerLineage::default();
        for reason in 0..=MAX_WAITING {
            backlog.keep(failed(&reason.to_string()));
        }
        assert!(backlog.catch_up(&mut lineage).is_changed);
        assert!(backlog.unwritten().is_some());
        assert!(!backlog.has_missed);
    }
}
