//! Applies, as the history of a resource takes them in.

use std::collections::BTreeSet;

use jiff::Timestamp;

use super::ResourceHistory;
use crate::artifact::Artifact;
use crate::chain::Resource;
use crate::derivation::{Derivation, Edge};
use crate::evidence::Evidence;
use crate::origin::Origin;
use crate::stamp::{Applied, Inputs, InputsId, Record, Stamp, Template};

/// The most applies that are remembered; what an older one made is only ever assumed.
const RECORDS: usize = 64;
/// The most objects that are told apart.
const OBJECTS: usize = 64;

impl ResourceHistory {
    /// Remembers an apply.
    pub(crate) fn stamped(&mut self, stamp: Stamp) {
        self.keep_what_was_there(&stamp.uid);
        self.make_current(&stamp.uid);
        let mut record = Record::new(self.applies + 1, stamp);
        let last = self.records.iter().rposition(|it| it.uid == record.uid);
        if let Some(at) = last.filter(|at| self.records[*at].repeats(&record)) {
            self.apply_again(at);
            return;
        }
        self.applies += 1;
        let of_generation = |it: &Record| it.is_of(&record.uid, record.generation);
        if let Some(at) = self.records.iter().position(of_generation) {
            record.contest(&self.records.remove(at));
        } else if self.was_there_before(&record) {
            let before = self.records.iter().rev().find(|it| it.uid == record.uid);
            match before {
                Some(before) => record.contest(before),
                None => record.contest_all(),
            }
            let unknown = |id: &InputsId| !record.knows(id);
            if self.carried.iter().flatten().any(unknown) {
                record.contest_all();
            }
        }
        self.insert(record);
    }

    /// Takes note that an apply was repeated. If others came in between (A, B, A, where each is a
    /// run of its own), it is the last one again.
    fn apply_again(&mut self, at: usize) {
        if self.records[at].number == self.applies {
            return;
        }
        self.applies += 1;
        let mut record = self.records.remove(at);
        let made = self.derivations.iter_mut().chain(&mut self.current);
        for made in made.filter(|it| it.record == record.number) {
            made.record = self.applies;
        }
        if self.reached == record.number {
            self.reached = self.applies;
        }
        record.number = self.applies;
        self.records.push(record);
    }

    /// Takes note that there was an apply that nobody remembers.
    pub(crate) fn missed(&mut self) {
        self.applies += 1;
        self.forgotten = self.applies;
    }

    /// Hands an input on as the output, without an object.
    pub(crate) fn passed_through(
        &mut self,
        resource: &Resource,
        passed: &Origin,
        inputs: Inputs,
        time: Timestamp,
    ) -> bool {
        let Some(output) = inputs.get(passed).cloned() else {
            return false;
        };
        let stamp = Stamp {
            template: Template::default(),
            uid: String::new(),
            generation: None,
            inputs,
            offered: BTreeSet::new(),
            applied: Applied::Output(output.id()),
            rendered: None,
            time,
        };
        let edge = |(origin, artifact): (&Origin, &Artifact)| {
            let evidence = match (artifact.is_mutable(), origin == passed) {
                (true, _) => Evidence::Assumed,
                (false, true) => Evidence::Same,
                (false, false) => Evidence::Applied,
            };
            let edge = Edge {
                artifact: artifact.clone(),
                evidence,
                offered: false,
            };
            (origin.clone(), edge)
        };
        let from = stamp.inputs.iter().map(edge).collect();
        self.stamped(stamp);
        self.emits = true;
        self.put(Derivation {
            resource: resource.name.clone(),
            template: Template::default(),
            uid: String::new(),
            generation: None,
            output: Some(output),
            commit: None,
            from,
            time,
            record: self.records.last().map_or(0, |record| record.number),
        })
    }

    /// Takes note of what an object showed before the first apply to it that is remembered.
    fn keep_what_was_there(&mut self, uid: &str) {
        let seen = self.last.as_ref().filter(|it| it.uid == uid);
        if let Some(seen) = seen.filter(|_| self.applies_to(uid).next().is_none()) {
            self.passed_over.keep(seen);
        }
    }

    /// Tells whether the generation that an apply answered with had been seen before the apply, so
    /// that the apply changed metadata at most. Snapshots that carry the same inputs only came in
    /// before the answer did.
    fn was_there_before(&self, record: &Record) -> bool {
        self.passed_over.was_there_before(record)
            || self.last.as_ref().is_some_and(|seen| {
                let made = record.generation.is_some() && seen.generation >= record.generation;
                let ours = |id: &Option<InputsId>| id.as_ref() == Some(&record.inputs_id);
                seen.uid == record.uid && made && !self.carried.iter().all(ours)
            })
    }

    /// Makes an object the current one.
    pub(super) fn make_current(&mut self, uid: &str) {
        self.uids.retain(|known| known != uid);
        self.uids.push(uid.to_owned());
        if self.uids.len() > OBJECTS {
            let gone = self.uids.remove(0);
            self.passed_over.forget(&gone);
        }
    }

    /// Inserts a record before those of later generations of the same object.
    fn insert(&mut self, record: Record) {
        let later = |it: &Record| {
            let known = record.generation.is_some();
            it.uid == record.uid && known && it.generation > record.generation
        };
        let at = self.records.iter().position(later);
        self.records
            .insert(at.unwrap_or(self.records.len()), record);
        if self.records.len() > RECORDS {
            self.forgotten = self.forgotten.max(self.records.remove(0).number);
        }
    }
}
