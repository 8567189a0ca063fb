//! What is remembered of one resource.

use std::collections::BTreeSet;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::artifact::{Artifact, ArtifactId};
use crate::chain::Resource;
use crate::clauses::{Clause, Clauses};
use crate::derivation::{Derivation, Edge};
use crate::evidence::{Evidence, Judge, Judgement};
use crate::origin::Origin;
use crate::passed_over::PassedOver;
use crate::snapshot::Snapshot;
use crate::stamp::{Applied, Inputs, InputsId, Record, Stamp, Template};
use crate::tracing::Tracing;
use crate::written::Written;

/// How many applies are remembered; what an older one made is only ever assumed.
const RECORDS: usize = 64;
/// How many input sets of one generation are told apart; two are enough to know that there were others.
const CARRIED: usize = 2;
/// How many objects are told apart.
const OBJECTS: usize = 64;

/// What is remembered of one resource: the last applies, the last snapshot, what it makes now, and
/// how that came to be which others still use.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub(crate) struct Memory {
    /// How many applies there were.
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
    /// How many applies there were when the last snapshot was seen.
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

impl Memory {
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

    /// Takes a snapshot into account; tells whether that changed what is known.
    pub(crate) fn seen(
        &mut self,
        resource: &Resource,
        snapshot: &Snapshot,
        clauses: Clauses,
    ) -> bool {
        let blind = blinded(snapshot, clauses);
        let snapshot = blind.as_ref().unwrap_or(snapshot);
        let immutable = resource.tracing.immutable;
        if self.is_outdated(snapshot, immutable) {
            self.pass_over(snapshot);
            return false;
        }
        if !self.uids.contains(&snapshot.uid) {
            self.make_current(&snapshot.uid);
        }
        self.note(snapshot);
        self.passed_over.shows(snapshot);
        if immutable && !snapshot.health.is_good() {
            return false;
        }
        let judge = Judge {
            tracing: &resource.tracing,
            records: &self.records,
            carried: &self.carried,
            clauses,
        };
        // What somebody else changed may be why the output is what it is.
        let touched = judge.is_foreign(snapshot) && snapshot.held != Some(true);
        if snapshot.output.is_none() && (self.emits || resource.emits) {
            return self.miss(resource, snapshot, touched, clauses);
        }
        self.emits |= snapshot.output.is_some();
        let mut judgement = judge.judge(snapshot).unwrap_or_default();
        let at_work = judge.is_at_work(snapshot);
        if immutable {
            let kept = self.has_better_run(snapshot, &judgement);
            return !kept && self.adopt(resource, snapshot, judgement);
        }
        let current = self.current.as_ref();
        let unchanged = current.filter(|it| it.record > 0 && it.shows(snapshot));
        let is_news = unchanged.is_none_or(|it| judgement.is_news_to(it));
        if !is_news {
            let doubted = touched && self.doubt_generation();
            return self.doubt_rules(resource, snapshot, clauses) || doubted;
        }
        if !judgement.is_dated {
            judgement.record = self.earliest_alike(snapshot, &judgement);
        }
        if let Some(since) = self.passed_over.since(snapshot)
            && !judgement.is_proof()
        {
            // Whatever was applied since it was first shown, it is not made of that.
            let before = self.applies_to(&snapshot.uid);
            let before = before.filter(|it| it.generation <= since).last();
            let before = before.map_or(0, |it| it.number);
            judgement.record = judgement.record.min(before);
        }
        if at_work && !judgement.is_proof() {
            // It may be of any apply since the one that was got to.
            judgement.record = judgement.record.min(self.reached);
        }
        self.adopt(resource, snapshot, judgement)
    }

    /// Returns the earliest apply, from the one that was reached on, that proof without a date may
    /// speak of: it shows that values are used, and not that they were made again since.
    fn earliest_alike(&self, snapshot: &Snapshot, judgement: &Judgement) -> u64 {
        let proven = judgement.from.iter();
        let proven: Vec<_> = proven
            .filter(|(_, edge)| edge.evidence.is_proof())
            .collect();
        if proven.is_empty() {
            return judgement.record;
        }
        let is_alike = |it: &&Record| {
            let mut proven = proven.iter();
            let same = proven.all(|(origin, edge)| it.inputs.get(origin) == Some(&edge.artifact));
            it.number >= self.reached && same
        };
        let alike = self.applies_to(&snapshot.uid).filter(is_alike);
        let earliest = alike.map(|it| it.number).min();
        earliest.map_or(judgement.record, |it| it.min(judgement.record))
    }

    /// Doubts what a correlation rule proved that has stopped to match: the object says something
    /// else now. Tells whether that changed what is known.
    ///
    /// A rule compares with the last apply; while that has other inputs than what is made now, its
    /// silence says nothing about the latter. What an output says by itself, it says as long as it is
    /// there.
    fn doubt_rules(&mut self, resource: &Resource, snapshot: &Snapshot, clauses: Clauses) -> bool {
        let Some(matched) = &snapshot.matched else {
            return false;
        };
        let last = self.applies_to(&snapshot.uid).last();
        let Some((current, last)) = self.current.as_ref().zip(last) else {
            return false;
        };
        let rules = &resource.tracing.rules;
        let is_unsaid = |(origin, edge): (&Origin, &Edge)| {
            let by_output = edge.evidence == Evidence::Same && snapshot.output.is_none();
            (edge.evidence == Evidence::Rule || (by_output && rules.contains(origin)))
                && last.inputs.get(origin) == Some(&edge.artifact)
                && !matched.contains(origin)
        };
        let unsaid = current.from.iter().any(is_unsaid);
        if !unsaid || clauses.is_dropped(Clause::StillMatches) {
            return false;
        }
        let doubting = current.doubting(|origin, edge| is_unsaid((origin, edge)));
        self.put(doubting)
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

    /// Takes note that there was an apply that nobody remembers.
    pub(crate) fn missed(&mut self) {
        self.applies += 1;
        self.forgotten = self.applies;
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

    /// Returns the last snapshot.
    pub(crate) fn last_seen(&self) -> Option<&Snapshot> {
        self.last.as_ref()
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

    fn is_outdated(&self, snapshot: &Snapshot, immutable: bool) -> bool {
        let replaced = self.uids.contains(&snapshot.uid) && self.uids.last() != Some(&snapshot.uid);
        let last = self.last.as_ref().filter(|last| last.uid == snapshot.uid);
        let newer = last
            .is_some_and(|last| last.generation.is_some() && last.generation > snapshot.generation);
        (replaced && !immutable) || (newer && snapshot.generation.is_some())
    }

    /// Takes note of a snapshot that says nothing of what is made now.
    fn pass_over(&mut self, snapshot: &Snapshot) {
        if self.uids.last() != Some(&snapshot.uid) {
            self.passed_over.keep(snapshot);
        }
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

    fn note(&mut self, snapshot: &Snapshot) {
        let is_last =
            |it: &Snapshot| it.uid == snapshot.uid && it.generation == snapshot.generation;
        if !self.last.as_ref().is_some_and(is_last) {
            self.carried.clear();
        }
        if !self.carried.contains(&snapshot.inputs_id) && self.carried.len() < CARRIED {
            self.carried.push(snapshot.inputs_id.clone());
        }
        self.last = Some(snapshot.clone());
        self.looked = self.applies;
        let mut records = self.records.iter_mut();
        let made = records.find(|it| it.is_of(&snapshot.uid, snapshot.generation));
        let mut carried = snapshot.inputs_id.iter().chain(&snapshot.earlier);
        // An apply that nobody remembers: it changed metadata, and nobody knows which.
        if let Some(record) = made
            && carried.any(|id| !record.knows(id))
        {
            record.contest_all();
        }
    }

    /// Tells whether what is shown stays although another run has ended well: the run with the
    /// inputs that were applied last goes first, then the later one.
    fn has_better_run(&self, snapshot: &Snapshot, judgement: &Judgement) -> bool {
        let is_known = |it: &Record| it.uid == snapshot.uid && it.template == snapshot.template;
        let known = self.records.iter().any(is_known);
        let wanted = self.records.iter().max_by_key(|it| it.number);
        let rank = |number: u64| {
            let of_run = self.records.iter().find(|it| it.number == number);
            let is_wanted = of_run.map(|it| &it.inputs) == wanted.map(|it| &it.inputs);
            (of_run.is_some() && is_wanted, number)
        };
        let current = self.current.as_ref();
        current.is_some_and(|current| !known || rank(current.record) > rank(judgement.record))
    }

    /// Takes note that the output is not there: what it was last stays, unless it was of another
    /// object.
    fn miss(
        &mut self,
        resource: &Resource,
        snapshot: &Snapshot,
        touched: bool,
        clauses: Clauses,
    ) -> bool {
        let immutable = resource.tracing.immutable;
        let Some(current) = self.current.as_ref().filter(|_| !immutable) else {
            return false;
        };
        if current.uid != snapshot.uid {
            self.current = None;
            return true;
        }
        if touched {
            return self.doubt_generation();
        }
        self.doubt_rules(resource, snapshot, clauses)
    }

    /// Doubts what only a generation proved; tells whether that changed what is known.
    fn doubt_generation(&mut self) -> bool {
        let current = self.current.as_ref();
        let doubting =
            current.map(|it| it.doubting(|_, edge| edge.evidence == Evidence::Generation));
        doubting.is_some_and(|it| self.put(it))
    }

    fn adopt(&mut self, resource: &Resource, snapshot: &Snapshot, judgement: Judgement) -> bool {
        if judgement.is_proof() {
            self.reached = self.reached.max(judgement.record);
        }
        let mut made = Derivation {
            resource: resource.name.clone(),
            template: snapshot.template.clone(),
            uid: snapshot.uid.clone(),
            generation: snapshot.generation,
            output: snapshot.output.clone(),
            commit: None,
            from: judgement.from,
            time: snapshot.time,
            record: judgement.record,
        };
        // A commit stays what it is; that of other inputs is none of these.
        let before = self.current.as_ref().filter(|it| it.has_inputs_of(&made));
        made.commit = before.and_then(|it| it.commit.clone());
        self.put(made)
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

    fn make_current(&mut self, uid: &str) {
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

/// Returns a snapshot without what a dropped clause asks; none if it can be asked as it is.
fn blinded(snapshot: &Snapshot, clauses: Clauses) -> Option<Snapshot> {
    let ids = clauses.is_dropped(Clause::InputsId);
    let earlier = clauses.is_dropped(Clause::Earlier);
    (ids || earlier).then(|| Snapshot {
        inputs_id: snapshot.inputs_id.clone().filter(|_| !ids),
        earlier: Vec::new(),
        ..snapshot.clone()
    })
}
