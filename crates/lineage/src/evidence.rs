//! The evidence rule: how it is known that an output was made from an input.
//!
//! Evidence belongs to one edge and is judged on one snapshot. Being late is allowed, being wrong
//! is not: whatever no clause proves is assumed.
//!
//! Two questions are answered at once. To which apply does this snapshot belong: that is a search among the
//! remembered applies, and the hard part, since an apply may have been forgotten, repeated, changed by somebody
//! else, or may have changed nothing but metadata. And what does it prove of each input of that apply. The ways to
//! an answer are tried from the strongest to the weakest in [`Judge::judge`], and the first that finds an apply
//! decides: a weaker way could only find another apply, and then two applies would share the edges.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::artifact::Artifact;
use crate::clauses::{Clause, Clauses};
use crate::derivation::{Derivation, Edge};
use crate::origin::Origin;
use crate::snapshot::{Health, Snapshot};
use crate::stamp::{Applied, InputsId, Record};
use crate::tracing::{Tracing, Trust};

/// The evidence that an output was made from an input.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Evidence {
    /// It was read from a run, whose inputs never change.
    Immutable,
    /// It lies in what was applied, and has that value.
    Applied,
    /// It equals the input.
    Same,
    /// A correlation rule of the template matches.
    Rule,
    /// The object says that it observed the generation that these inputs made, and is healthy.
    Generation,
    /// Git says so: the revision has the commit, with its files as they were written.
    Git,
    /// Nothing proves it. It is shown, and nothing that promises arrival counts it.
    Assumed,
}

impl Evidence {
    /// All evidence there is, and the lack of it.
    pub const ALL: [Self; 7] = [
        Self::Immutable,
        Self::Applied,
        Self::Same,
        Self::Rule,
        Self::Generation,
        Self::Git,
        Self::Assumed,
    ];

    /// Tells whether the edge is proven.
    pub fn is_proof(self) -> bool {
        self != Self::Assumed
    }
}

impl fmt::Display for Evidence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Immutable => "immutable",
            Self::Applied => "applied",
            Self::Same => "same",
            Self::Rule => "rule",
            Self::Generation => "generation",
            Self::Git => "git",
            Self::Assumed => "assumed",
        })
    }
}

/// The judgement of a snapshot by the evidence rule.
#[derive(Debug, Default)]
pub(crate) struct Judgement {
    /// The apply whose inputs these are.
    pub(crate) record: u64,
    pub(crate) from: BTreeMap<Origin, Edge>,
    /// Whether the object is known to have got to that apply. A rule alone does not say so: after
    /// A, B and A again it holds before the object has looked at the last one.
    pub(crate) is_dated: bool,
}

impl Judgement {
    /// Tells whether it knows more than a derivation that shows the same output: it is dated, or
    /// proves what was not proven, or another value.
    pub(crate) fn is_news_to(&self, current: &Derivation) -> bool {
        let is_new = |(origin, edge): (&Origin, &Edge)| {
            let known = current.from.get(origin);
            let known = known
                .is_some_and(|known| known.artifact == edge.artifact && known.evidence.is_proof());
            edge.evidence.is_proof() && !known
        };
        self.is_dated || self.from.iter().any(is_new)
    }

    /// Tells whether it proves anything.
    pub(crate) fn is_proof(&self) -> bool {
        self.is_dated || self.from.values().any(|edge| edge.evidence.is_proof())
    }

    fn dated(self, is_dated: bool) -> Self {
        Self { is_dated, ..self }
    }
}

/// Tells whether somebody else than those who made the applies made the generation of a snapshot, as far as can be known.
pub(crate) fn is_foreign(records: &[Record], snapshot: &Snapshot) -> bool {
    let of_object = records.iter().filter(|it| it.uid == snapshot.uid);
    let mut generations = of_object.map(|it| it.generation).peekable();
    generations.peek().is_some()
        && snapshot.generation.is_some()
        && generations.all(|it| it.is_some() && it != snapshot.generation)
}

/// Judges snapshots of one resource's objects.
#[derive(Clone, Copy)]
pub(crate) struct Judge<'a> {
    pub(crate) tracing: &'a Tracing,
    /// In the order of the applies.
    pub(crate) records: &'a [Record],
    /// The ids of inputs that the generation of the snapshot was seen with.
    pub(crate) carried: &'a [Option<InputsId>],
    pub(crate) clauses: Clauses,
}

impl<'a> Judge<'a> {
    /// Judges a snapshot; `None` if nothing was ever applied.
    pub(crate) fn judge(self, snapshot: &Snapshot) -> Option<Judgement> {
        // A run first: its generation says nothing, and its inputs are known without any word of its controller.
        if let Some(run) = self.run(snapshot) {
            let of_run = self.edges(run, |origin, _| {
                let known = !run.contested.contains(origin);
                known.then_some(Evidence::Immutable)
            });
            return Some(of_run.dated(true));
        }
        // What was applied is there at once. To wait until a controller says that it has observed it would make
        // a ConfigMap, which has no controller, never arrive.
        if let Some(record) = self.applied(snapshot) {
            // What a rule of a sink names, the object has to say itself.
            let ruled =
                |origin: &Origin| snapshot.output.is_none() && self.tracing.rules.contains(origin);
            let applied = self.edges(record, |origin, input| {
                if ruled(origin) {
                    self.rule(origin, input, snapshot)
                } else {
                    Some(Evidence::Applied)
                }
            });
            let is_dated = !record.inputs.keys().any(ruled) || self.has_got_to(record, snapshot);
            return Some(applied.dated(is_dated));
        }
        // A generation proves only what the object is done with. While it is at work, the output that it still
        // shows is that of the generation before.
        let dated = self.is_observed(snapshot).then_some(snapshot);
        let dated = dated.and_then(|it| self.ours(it).or_else(|| self.held(it)));
        if let Some(record) = dated {
            let observed = self.edges(record, |origin, input| {
                let undisputed = !record.contested.contains(origin);
                let undisputed = self.clauses.holds(Clause::MetadataOnly, undisputed);
                let undisputed = undisputed && !self.is_denied(origin, snapshot);
                self.same(input, snapshot)
                    .or_else(|| self.rule(origin, input, snapshot))
                    .or_else(|| undisputed.then_some(Evidence::Generation))
            });
            return Some(observed.dated(true));
        }
        // A rule proves values without a date: after A, B and A again it matches while the object has not even
        // seen B. So it comes after the generation, which says when.
        if let Some(record) = self.matching(snapshot) {
            let matching = self.edges(record, |origin, input| {
                self.same(input, snapshot)
                    .or_else(|| self.rule(origin, input, snapshot))
            });
            return Some(matching.dated(self.has_got_to(record, snapshot)));
        }
        // From here on something is shown, and only what is handed on unchanged is proven.
        let record = self.likely(snapshot)?;
        let given = record.uid == snapshot.uid && self.is_of_template(record, snapshot);
        Some(self.edges(record, |_, input| {
            self.same(input, snapshot).filter(|_| given)
        }))
    }

    /// Returns the apply that made this generation, if it was ours.
    pub(crate) fn ours(self, snapshot: &Snapshot) -> Option<&'a Record> {
        let holds = |clause, condition| self.clauses.holds(clause, condition);
        self.records.iter().rev().find(|record| {
            let generation =
                record.generation.is_some() && record.generation == snapshot.generation;
            let carried = snapshot.inputs_id.as_ref();
            // An object that was deleted and made again starts at generation 1, so a generation without its uid
            // belongs to anything. The id of the inputs is compared only if the object carries one: those that
            // were stamped before it was written, or whose annotation somebody took away, have none.
            holds(Clause::Generation, generation)
                && holds(Clause::Uid, record.uid == snapshot.uid)
                && self.is_of_template(record, snapshot)
                && carried.is_none_or(|id| *id == record.inputs_id)
        })
    }

    /// Tells whether somebody else made this generation, as far as can be known.
    pub(crate) fn is_foreign(self, snapshot: &Snapshot) -> bool {
        is_foreign(self.records, snapshot)
    }

    /// Returns the last apply, if somebody else made this generation without touching our fields.
    fn held(self, snapshot: &Snapshot) -> Option<&'a Record> {
        let last = self.of_object(snapshot).next_back()?;
        let since = last.generation? < snapshot.generation?;
        // An apply of ours that was made and never written down (the process died in between) also makes a
        // generation that no record has. Only the ids tell the two apart: whatever this generation was ever
        // seen with has to be of the last apply.
        let carried = self.carried.iter().chain([&snapshot.inputs_id]).flatten();
        let mut carried = carried.chain(&snapshot.earlier);
        let known = self.is_of_template(last, snapshot) && carried.all(|id| *id == last.inputs_id);
        let held = self
            .clauses
            .holds(Clause::Held, snapshot.held == Some(true));
        (since && known && held).then_some(last)
    }

    /// Returns the apply that made the run the snapshot shows.
    fn run(self, snapshot: &Snapshot) -> Option<&'a Record> {
        let of_run = |it: &&Record| self.clauses.holds(Clause::ThatRun, it.uid == snapshot.uid);
        let runs = self.tracing.immutable.then_some(self.records)?;
        let run = runs.iter().rev().find(of_run)?;
        self.is_of_template(run, snapshot).then_some(run)
    }

    /// Returns the apply that put the output there.
    fn applied(self, snapshot: &Snapshot) -> Option<&'a Record> {
        let has_value = |record: &Record| match (record.applied, &snapshot.output) {
            (Applied::Elsewhere, _) => false,
            (Applied::Output(applied), Some(output)) => self
                .clauses
                .holds(Clause::AppliedValue, applied == output.id()),
            (Applied::Object, None) => !self.is_foreign(snapshot) || snapshot.held == Some(true),
            (Applied::Output(_) | Applied::Object, _) => false,
        };
        // Where the generation tells which apply this is, no other one may take its place that put an equal value
        // there: its other inputs may be others.
        let ours = self.ours(snapshot);
        let mut applies = self.of_object(snapshot).rev();
        applies.find(|it| {
            let possible = ours.is_none_or(|ours| ours.number == it.number);
            possible && self.is_of_template(it, snapshot) && has_value(it)
        })
    }

    /// Returns the last apply before the snapshot, if a correlation rule matched it.
    fn matching(self, snapshot: &Snapshot) -> Option<&'a Record> {
        let last = self.last_not_after(snapshot)?;
        let compared = snapshot.matches_any() && self.is_of_template(last, snapshot);
        compared.then_some(last)
    }

    /// Tells whether an object with a matching rule has got to an apply, by what it says itself:
    /// whatever its generation means, it has seen this one, is well, and shows all inputs of it that
    /// rules name.
    fn has_got_to(self, record: &Record, snapshot: &Snapshot) -> bool {
        // What the object reports is taken even where it is not believed to speak about outputs: here the rule
        // has proven the values, and all that is missing is that the object has looked at this apply at all.
        let reported = self.tracing.reported(snapshot);
        let seen = reported.is_some() && reported == snapshot.generation;
        let seen = seen && record.generation == snapshot.generation && snapshot.health.is_good();
        // Rules compare with the last apply, which may have another value than this one.
        let shown = record.inputs.iter().all(|(origin, input)| {
            !self.tracing.rules.contains(origin) || self.rule(origin, input, snapshot).is_some()
        });
        let seen = seen && shown;
        self.clauses.holds(Clause::RuleDated, seen)
    }

    /// Returns the apply whose inputs to show where nothing is proven.
    fn likely(self, snapshot: &Snapshot) -> Option<&'a Record> {
        let hands_on = |record: &&Record| {
            let mut inputs = record.inputs.values();
            let output = snapshot.output.as_ref();
            inputs.any(|input| output.is_some_and(|output| output.hands_on(input)))
        };
        // From the best reason for a guess to the worst. A guess is never proof, but people see it, and a wait that
        // accepts what is assumed counts it.
        let reported = self.vouched(snapshot);
        let of_reported = |it: &&Record| reported.is_some() && it.generation == reported;
        self.of_object(snapshot)
            .rev()
            .find(hands_on)
            .or_else(|| self.of_object(snapshot).rev().find(of_reported))
            .or_else(|| self.last_not_after(snapshot))
            .or_else(|| self.of_object(snapshot).next_back())
            .or_else(|| self.records.last())
    }

    fn last_not_after(self, snapshot: &Snapshot) -> Option<&'a Record> {
        let not_after = |record: &&Record| match (record.generation, snapshot.generation) {
            (Some(made), Some(seen)) => made <= seen,
            _ => true,
        };
        self.of_object(snapshot).rev().find(not_after)
    }

    /// Returns the applies to the object.
    fn of_object(self, snapshot: &Snapshot) -> impl DoubleEndedIterator<Item = &'a Record> {
        let uid = snapshot.uid.clone();
        self.records.iter().filter(move |it| it.uid == uid)
    }

    /// Tells whether an apply used the template by which the snapshot was read.
    fn is_of_template(self, record: &Record, snapshot: &Snapshot) -> bool {
        let same = record.template == snapshot.template;
        self.clauses.holds(Clause::Template, same)
    }

    /// Tells whether the object says, and can be believed, that it is done with this generation.
    pub(crate) fn is_observed(self, snapshot: &Snapshot) -> bool {
        let holds = |clause, condition| self.clauses.holds(clause, condition);
        let vouched = self.vouched(snapshot);
        let reported = if self.clauses.is_dropped(Clause::Vouched) {
            snapshot.observed
        } else {
            vouched
        };
        let heard = holds(Clause::Vouched, self.tracing.trust != Trust::Never);
        // Two absences are no match: an object without a generation that reports none has said nothing.
        let equal = reported.is_some() && reported == snapshot.generation;
        let healthy = match snapshot.health {
            Health::True => true,
            // Nothing was read: without a health rule an object is healthy whatever it is doing.
            Health::Presumed => self.clauses.is_dropped(Clause::HealthReads),
            Health::False | Health::Unknown => self.clauses.is_dropped(Clause::Healthy),
        };
        heard && holds(Clause::Observed, equal) && healthy
    }

    /// Tells whether an object that can be believed says that it is not done with its generation. Its
    /// work on earlier ones may end late, whichever of them it says it has observed.
    pub(crate) fn is_at_work(self, snapshot: &Snapshot) -> bool {
        let observed = self.vouched(snapshot);
        let is_behind = observed != snapshot.generation;
        observed.is_some()
            && match snapshot.health {
                Health::True => is_behind,
                Health::False | Health::Unknown => true,
                // It never says when it is done, so it would be at work for ever.
                Health::Presumed => false,
            }
    }

    /// Returns the observed generation that can be believed to speak about outputs.
    fn vouched(self, snapshot: &Snapshot) -> Option<i64> {
        match self.tracing.trust {
            Trust::Never => None,
            Trust::Condition => snapshot.condition_observed,
            Trust::Declared | Trust::Known => snapshot.observed,
        }
    }

    fn same(self, input: &Artifact, snapshot: &Snapshot) -> Option<Evidence> {
        let output = snapshot.output.as_ref()?;
        let handed_on = output.hands_on(input)
            || (input.kind() == output.kind() && self.clauses.is_dropped(Clause::SameValue));
        handed_on.then_some(Evidence::Same)
    }

    /// Tells whether the object itself says that it uses another value, whatever generation it has
    /// observed.
    fn is_denied(self, origin: &Origin, snapshot: &Snapshot) -> bool {
        let compared = snapshot.matched.is_some() && self.tracing.rules.contains(origin);
        compared && !snapshot.matches(origin)
    }

    /// Rules compare the state with the last apply, so they prove no value that was replaced.
    fn rule(self, origin: &Origin, input: &Artifact, snapshot: &Snapshot) -> Option<Evidence> {
        let named = snapshot.matches(origin) && self.tracing.rules.contains(origin);
        let named = self.clauses.holds(Clause::RuleNames, named);
        let last = self.of_object(snapshot).next_back()?;
        let compared = last.inputs.get(origin) == Some(input);
        (snapshot.matches_any() && named && compared).then_some(Evidence::Rule)
    }

    fn edges(
        self,
        record: &Record,
        prove: impl Fn(&Origin, &Artifact) -> Option<Evidence>,
    ) -> Judgement {
        let edge = |(origin, artifact): (&Origin, &Artifact)| {
            // Whichever way proved it: `app:latest` equals itself, and may be another image by now.
            let lasting = self.clauses.holds(Clause::Mutable, !artifact.is_mutable());
            let evidence = prove(origin, artifact).filter(|_| lasting);
            let edge = Edge {
                artifact: artifact.clone(),
                evidence: evidence.unwrap_or(Evidence::Assumed),
                offered: record.offered.contains(origin),
            };
            (origin.clone(), edge)
        };
        Judgement {
            record: record.number,
            from: record.inputs.iter().map(edge).collect(),
            is_dated: false,
        }
    }
}
