//! The history of one resource.
//!
//! `applies` says what an apply changes in it, `snapshots` what a look at the object does; both end in `put`,
//! which keeps what the resource makes now. The questions are here.

mod applies;
mod snapshots;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::artifact::{Artifact, ArtifactId};
use crate::derivation::Derivation;
use crate::evidence::is_foreign;
use crate::origin::Origin;
use crate::passed_over::PassedOver;
use crate::snapshot::Snapshot;
use crate::stamp::{Inputs, InputsId, Record};
use crate::tracing::Tracing;
use crate::written::Written;

/// The history of one resource: the last applies, the last snapshot, what it makes now, and
/// how that came to be which others still use.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub(crate) struct ResourceHistory {
    /// The number of applies so far.
    applies: u64,
    /// The last of them, one a generation.
    records: Vec<Record>,
    /// The newest apply that is no longer remembered.
    forgotten: u64,
    /// The last apply that an object is known to have got to: something made of it was proven.
    #[serde(default)]
    reached: u64,
    /// In the order in which they were applied or first seen; the last one is the current one.
    uids: Vec<String>,
    last: Option<Snapshot>,
    /// Snapshots of objects that were not the current one then.
    #[serde(default, skip_serializing_if = "PassedOver::is_empty")]
    passed_over: PassedOver,
    /// The number of applies when the last snapshot was seen.
    #[serde(default)]
    looked: u64,
    /// The ids of inputs that the last snapshot's generation was seen with.
    carried: Vec<Option<InputsId>>,
    /// Whether there ever was an output; if so, its absence makes no sink of the resource.
    emits: bool,
    current: Option<Derivation>,
    /// The last derivation of each output, oldest first, the current one included.
    derivations: Vec<Derivation>,
}

impl ResourceHistory {
    /// Takes note of the commit that the object wrote; tells whether that is news. It counts only for
    /// what the object is known to be made of at that very generation.
    pub(crate) fn wrote(&mut self, commit: &Written, time: Timestamp) -> bool {
        let shown = (commit.uid.as_str(), commit.generation);
        let current = self.current.as_ref();
        let Some(current) = current.filter(|it| (it.uid.as_str(), it.generation) == shown) else {
            return false;
        };
        let mut made = current.clone();
        made.commit = Some(commit.artifact.clone());
        made.time = time;
        self.put(made)
    }

    /// Forgets what an object made that is no longer there; tells whether it was the current one.
    pub(crate) fn gone(&mut self, uid: &str) -> bool {
        let was_current = self.current.as_ref().is_some_and(|it| it.uid == uid);
        if was_current {
            self.current = None;
        }
        was_current
    }

    /// Forgets what is made now, unless it was handed on without an object.
    pub(crate) fn lose(&mut self) {
        self.current.take_if(|it| !it.uid.is_empty());
    }

    /// Returns what the resource makes now.
    pub(crate) fn current(&self) -> Option<&Derivation> {
        self.current.as_ref()
    }

    /// Returns how an output came to be.
    pub(crate) fn derivation(&self, output: ArtifactId) -> Option<&Derivation> {
        let made = |it: &&Derivation| it.output.as_ref().map(Artifact::id) == Some(output);
        self.derivations.iter().rev().find(made)
    }

    /// Returns the last apply.
    pub(crate) fn last_apply(&self) -> Option<&Record> {
        self.records.last()
    }

    /// Returns the apply whose inputs those are that what is made now is made of; if it was replaced since, the
    /// one that led to the same generation.
    pub(crate) fn record_of_current(&self) -> Option<&Record> {
        let current = self.current.as_ref()?;
        let mut records = self.records.iter();
        let by_number = records.find(|it| it.number == current.record);
        by_number.or_else(|| {
            let mut records = self.records.iter();
            records.find(|it| it.is_of(&current.uid, current.generation))
        })
    }

    /// Returns the apply behind the generation that the object was seen with last: what runs was started for that one. It
    /// may be another one than that of what is made now, which can have been shown by an earlier generation already.
    pub(crate) fn record_of_running(&self) -> Option<&Record> {
        let current = self.current.as_ref()?;
        let seen = self.last.as_ref().filter(|it| it.uid == current.uid);
        let is_of = |seen: &Snapshot| {
            let mut records = self.records.iter();
            records.find(|it| it.is_of(&seen.uid, seen.generation))
        };
        seen.and_then(is_of).or_else(|| self.record_of_current())
    }

    /// Returns the last snapshot.
    pub(crate) fn last_seen(&self) -> Option<&Snapshot> {
        self.last.as_ref()
    }

    /// Tells whether somebody else made the generation of a snapshot, as far as can be known.
    pub(crate) fn is_foreign(&self, snapshot: &Snapshot) -> bool {
        is_foreign(&self.records, snapshot)
    }

    /// Returns the last snapshot, if it was seen since the last apply.
    pub(crate) fn seen_since(&self) -> Option<&Snapshot> {
        self.last_seen().filter(|_| self.looked == self.applies)
    }

    /// Tells whether what is made now is made of the last apply, as far as anybody can tell.
    pub(crate) fn is_of_last_apply(&self) -> bool {
        let made = self.current.as_ref().zip(self.records.last());
        made.is_some_and(|(current, last)| current.record == last.number)
    }

    /// Tells whether there ever was an output.
    pub(crate) fn emits(&self) -> bool {
        self.emits
    }

    /// Tells whether an object is, or was, the one of this resource.
    pub(crate) fn knows(&self, uid: &str) -> bool {
        self.uids.iter().any(|known| known == uid)
    }

    /// Returns the applies to an object that are remembered, oldest first.
    pub(crate) fn applies_to(&self, uid: &str) -> impl Iterator<Item = &Record> {
        self.records.iter().filter(move |it| it.uid == uid)
    }

    /// Returns the inputs of the last apply.
    pub(crate) fn applied_last(&self) -> Option<&Inputs> {
        self.records.last().map(|record| &record.inputs)
    }

    /// Returns the inputs of every apply that something may still be made of: of the last one, and,
    /// since the one whose output is shown, of runs and of those that the object may still be at.
    pub(crate) fn in_the_making<'a>(
        &'a self,
        tracing: &'a Tracing,
    ) -> impl Iterator<Item = &'a Inputs> {
        let shown = self.current.as_ref().map_or(0, |it| it.record);
        let last = self.records.last().map(|it| it.number);
        let is_open = move |it: &&Record| {
            let at_work = tracing.immutable || self.is_at_work_on(it, tracing);
            Some(it.number) == last || (it.number > shown && at_work)
        };
        self.records.iter().filter(is_open).map(|it| &it.inputs)
    }

    /// Tells whether the object may still make something of an apply: it was not seen to have got to
    /// a later one.
    fn is_at_work_on(&self, record: &Record, tracing: &Tracing) -> bool {
        let is_there = self.uids.last() == Some(&record.uid);
        let seen = self.last.as_ref().filter(|it| it.uid == record.uid);
        let reached = seen.and_then(|it| tracing.reported(it));
        is_there
            && record.generation.is_some()
            && reached.is_none_or(|it| record.generation >= Some(it))
    }

    /// Returns the inputs of the applies since the one that what is made now is of.
    pub(crate) fn since_current(&self) -> impl Iterator<Item = &Inputs> {
        let shown = self.current.as_ref().map_or(0, |it| it.record);
        let since = self.records.iter().filter(move |it| it.number > shown);
        since.map(|it| &it.inputs)
    }

    /// Tells whether an input was changed, or the object replaced, since what is made now was
    /// applied: then that is history, even if the input has its old value again.
    pub(crate) fn has_moved_on(&self, origin: &Origin, immutable: bool) -> bool {
        let Some(current) = &self.current else {
            return false;
        };
        let made_from = current.from.get(origin).map(|edge| &edge.artifact);
        let moved = |record: &Record| {
            let replaced = !immutable && record.uid != current.uid;
            replaced || record.inputs.get(origin) != made_from
        };
        let mut since = self.records.iter().filter(|it| it.number > current.record);
        self.forgotten > current.record || since.any(moved)
    }

    /// Returns the object that was looked at last, and its generation.
    pub(crate) fn looked_at(&self) -> Option<(&str, Option<i64>)> {
        let last = self.last.as_ref()?;
        Some((&last.uid, last.generation))
    }

    /// Tells whether two say the same of everything but what the last look saw.
    pub(crate) fn concludes_the_same(&self, other: &Self) -> bool {
        let Self {
            applies,
            records,
            forgotten,
            reached,
            uids,
            last: _,
            passed_over: _,
            looked: _,
            carried: _,
            emits,
            current,
            derivations,
        } = self;
        (applies, forgotten, reached) == (&other.applies, &other.forgotten, &other.reached)
            && (emits, records, uids) == (&other.emits, &other.records, &other.uids)
            && (current, derivations) == (&other.current, &other.derivations)
            && self.looked_at() == other.looked_at()
    }

    /// Returns how many derivations are remembered.
    pub(crate) fn remembered(&self) -> usize {
        self.derivations.len()
    }

    /// Forgets derivations of outputs that nobody uses.
    pub(crate) fn retain(&mut self, used: impl Fn(ArtifactId) -> bool) {
        self.derivations
            .retain(|it| it.output.as_ref().is_some_and(|output| used(output.id())));
    }

    fn put(&mut self, derivation: Derivation) -> bool {
        let known = self.current.as_ref();
        if known.is_some_and(|known| known.says_the_same(&derivation)) {
            return false;
        }
        if derivation.output.is_some() {
            self.derivations.retain(|it| it.output != derivation.output);
            self.derivations.push(derivation.clone());
        }
        self.current = Some(derivation);
        true
    }
}
