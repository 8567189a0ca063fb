//! Snapshots, as the history of a resource takes them in.

use super::ResourceHistory;
use crate::chain::Resource;
use crate::clauses::{Clause, Clauses};
use crate::derivation::{Derivation, Edge};
use crate::evidence::{Evidence, Judge, Judgement};
use crate::origin::Origin;
use crate::snapshot::Snapshot;
use crate::stamp::Record;

/// The most input sets of one generation that are told apart; two are enough to know that there were others.
const CARRIED: usize = 2;

impl ResourceHistory {
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
            let doubted = touched && self.doubt_generation(snapshot);
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
        let doubting = current.doubting(snapshot.time, |origin, edge| is_unsaid((origin, edge)));
        self.put(doubting)
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
            return self.doubt_generation(snapshot);
        }
        self.doubt_rules(resource, snapshot, clauses)
    }

    /// Doubts what only a generation proved; tells whether that changed what is known.
    fn doubt_generation(&mut self, snapshot: &Snapshot) -> bool {
        let is_doubtful = |_: &Origin, edge: &Edge| edge.evidence == Evidence::Generation;
        let current = self.current.as_ref();
        let doubting = current.map(|it| it.doubting(snapshot.time, is_doubtful));
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
