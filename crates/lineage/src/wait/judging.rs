//! The rules by which a `WaitFor` is judged on one lineage.
//!
//! A verdict other than `Waiting` ends the waiting, so it has to stay true: whoever is told that a value is
//! superseded goes home. Each rule that ends it therefore asks whether anything is still under way that could make
//! the answer another one, and whatever is in doubt is waited for. The time-out is the client's.

use super::Options;
use super::asked::{Asked, Value};
use super::stamping;
use super::verdict::{Impossible, Progress, Verdict};
use super::wait_for::WaitFor;
use super::way::Way;
use crate::arrival::{Arrival, Missing};
use crate::chain::Resource;
use crate::clauses::{Clause, Clauses};
use crate::origin::Origin;
use crate::owner_lineage::OwnerLineage;
use crate::rollout::Stage;

mod failing;
mod missing_proof;
mod telling;

/// Judges what is waited for on one lineage.
#[derive(Clone, Copy)]
pub(super) struct Judging<'a> {
    pub(super) lineage: &'a OwnerLineage,
    pub(super) options: Options,
    /// Whether something on the path carried what is waited for at an earlier look.
    pub(super) was_carried: bool,
}

impl<'a> Judging<'a> {
    pub(super) fn judge(self, wait_for: &WaitFor, asked: &Asked) -> Verdict {
        match asked {
            Asked::Impossible(impossible) => Verdict::Impossible(impossible.clone()),
            Asked::Later(missing) => self.later(wait_for, missing),
            Asked::All(values) => {
                let verdicts = values.iter().map(|value| self.value(wait_for, value));
                let all = verdicts.reduce(Verdict::and);
                let all = all.unwrap_or(Verdict::Holds(Vec::new()));
                if *wait_for == WaitFor::Current {
                    all.and(self.made(wait_for))
                        .and(stamping::judge(self.lineage))
                        .and(self.finals(wait_for))
                } else {
                    all
                }
            }
            Asked::One(values) => {
                let mut verdicts = values.iter().map(|value| self.value(wait_for, value));
                // The best of them counts, so that a source which one entry point has lost and another one still has
                // is not superseded.
                let first = verdicts.next().expect("there is one at least");
                verdicts.fold(first, better)
            }
        }
    }

    fn later(self, wait_for: &WaitFor, missing: &str) -> Verdict {
        let said = match self.obstacle().or_else(|| self.first_trouble()) {
            Some(why) => format!("{missing}; {why}"),
            None => missing.to_owned(),
        };
        Verdict::Waiting(vec![Progress::unknown(wait_for, said)])
    }

    /// Says what keeps the owner itself from going on. That is no failure: a blueprint, a template or
    /// an account that is missing may have been applied a moment ago.
    fn obstacle(self) -> Option<String> {
        let why = self.lineage.failure.as_ref()?;
        let lost: Vec<_> = self.lineage.lost_templates().collect();
        let lost = match lost.as_slice() {
            [] => String::new(),
            lost => format!(": there is no {}", lost.join(", no ")),
        };
        Some(format!("the owner can't go on: {why}{lost}"))
    }

    fn value(self, wait_for: &WaitFor, value: &Value) -> Verdict {
        let state = &self.lineage.state;
        let mut arrival = state.arrival(&value.origin, |it| value.wanted.is(it));
        // Before anything else is concluded from it: what is accepted is not missing, neither for arrival nor for
        // a failure that only counts on the way.
        if self.options.accept_assumed {
            let assumed = |it: &Missing| matches!(it, Missing::Assumed { .. });
            arrival.missing.retain(|it| !assumed(it));
        }
        let way = Way::new(state, &value.origin, &value.wanted);
        // A value that is gone before one that failed: to mend the failure would not bring it back.
        if let Some(impossible) = self.impossible(value, &arrival) {
            return Verdict::Impossible(impossible);
        }
        if let Some(impossible) = self.failed(value, &way, &arrival) {
            return Verdict::Impossible(impossible);
        }
        let progress = |missing| Progress {
            wait_for: wait_for.to_string(),
            input: value.origin.name().to_owned(),
            value: value.wanted.to_string(),
            reached: self.reached(value, &way),
            at_work: None,
            missing,
            deliverables: Vec::new(),
        };
        if arrival.arrived() {
            let targets = self.lineage.running_targets(&value.origin);
            let names: Vec<_> = targets.iter().map(|it| it.name.as_str()).collect();
            return match self.run(&names, progress) {
                Verdict::Holds(_) => self.started_with(value, &targets, progress),
                other => other,
            };
        }
        // Proof is missing for good only when nothing is under way any more: until then an object may still say
        // what it has not said yet. For a value that was replaced the same is an end, which was asked above.
        if self.is_newest(value) && state.is_settled() {
            let missing = self.missing_proofs(value, &arrival);
            if !missing.is_empty() {
                return Verdict::Unproven(missing);
            }
        }
        let next = self.next_step(&way).filter(|_| !arrival.only_assumed());
        let (at_work, step) = next.unzip();
        let missing = self.tell(value, &arrival, step).into_iter();
        Verdict::Waiting(vec![Progress {
            at_work: at_work.flatten(),
            ..progress(missing.chain(self.obstacle()).collect())
        }])
    }

    /// Judges whether every final resource makes something at all: a path that reads nothing of the
    /// owner has to get to its end, too.
    fn made(self, wait_for: &WaitFor) -> Verdict {
        let state = &self.lineage.state;
        let finals = state.chain().finals();
        let nothing = finals.filter(|it| state.current(&it.name).is_none());
        let nothing: Vec<_> = nothing
            .map(|it| format!("`{}` has made nothing yet", it.name))
            .collect();
        if nothing.is_empty() {
            return Verdict::Holds(Vec::new());
        }
        Verdict::Waiting(vec![Progress {
            missing: nothing.into_iter().chain(self.obstacle()).collect(),
            ..Progress::unknown(wait_for, String::new())
        }])
    }

    /// Judges the rollouts of all final resources, and of those before them that keep something running.
    fn finals(self, wait_for: &WaitFor) -> Verdict {
        let finals = self.lineage.state.chain().finals();
        let finals = self.lineage.running_on_way().chain(finals);
        let finals: Vec<_> = finals.map(|it| it.name.as_str()).collect();
        match self.run(&finals, |missing| Progress {
            missing,
            ..Progress::unknown(wait_for, String::new())
        }) {
            Verdict::Holds(_) => Verdict::Holds(Vec::new()),
            other => other,
        }
    }

    /// Judges the rollouts of targets that are made of what they should be made of.
    fn run(self, targets: &[&str], progress: impl FnOnce(Vec<String>) -> Progress) -> Verdict {
        if !self.options.live {
            return Verdict::Holds(vec![progress(Vec::new())]);
        }
        // `stage` answers only for the very object and generation that arrived: the rollout of the generation
        // before is done, too.
        let stages = targets
            .iter()
            .map(|target| (*target, self.lineage.stage(target)));
        let stages: Vec<_> = stages.collect();
        if let Some(impossible) = self.unstamped(&stages) {
            return Verdict::Impossible(impossible);
        }
        let tell = |tell: fn(&str, Option<&Stage>) -> Option<String>| -> Vec<_> {
            let told = stages
                .iter()
                .filter_map(|(target, stage)| tell(target, *stage));
            told.collect()
        };
        let mut missing = tell(telling::stage);
        if !self.lineage.is_alone() {
            missing.extend(self.lineage.retiring.iter().map(ToString::to_string));
        }
        if !missing.is_empty() {
            return Verdict::Waiting(vec![Progress {
                deliverables: self.deliverables(&stages),
                ..progress(missing)
            }]);
        }
        // One that runs is enough: a ConfigMap beside a Deployment has nothing to roll out. If nothing runs at
        // all, there is nothing to say yes to.
        if stages.iter().any(|(_, stage)| *stage == Some(&Stage::Done)) {
            return Verdict::Holds(vec![progress(Vec::new())]);
        }
        let no_follower = tell(telling::no_follower);
        if !no_follower.is_empty() {
            return Verdict::Waiting(vec![progress(no_follower)]);
        }
        Verdict::Unproven(
            targets
                .iter()
                .map(|it| self.missing_proof_of_rollout(it))
                .collect(),
        )
    }

    /// Returns the Deliverables that targets wait for.
    fn deliverables(self, stages: &[(&str, Option<&Stage>)]) -> Vec<String> {
        let missing = stages.iter().filter(|(_, it)| *it != Some(&Stage::Done));
        let rollouts = missing.filter_map(|(target, _)| self.lineage.rollouts.get(*target));
        let deliveries = rollouts.flat_map(|it| &it.deliveries);
        let names = deliveries.map(|it| format!("{}/{}", it.namespace, it.name));
        names.collect()
    }

    /// Judges whether what runs was started with a value that all targets have: one that got into the metadata of
    /// an object alone started nothing.
    fn started_with(
        self,
        value: &Value,
        targets: &[&Resource],
        progress: impl FnOnce(Vec<String>) -> Progress,
    ) -> Verdict {
        let state = &self.lineage.state;
        let asked = self.options.live && !self.options.accept_assumed;
        let running = targets.iter().filter(|it| {
            let runs = self.lineage.stage(&it.name) == Some(&Stage::Done);
            asked && runs
        });
        let touched: Vec<_> = running
            .clone()
            .filter(|it| state.is_touched(it))
            .map(|it| telling::touched(&it.name))
            .collect();
        if !touched.is_empty() {
            return Verdict::Waiting(vec![progress(touched)]);
        }
        let late: Vec<_> = running
            .filter_map(|it| Some((it.name.as_str(), state.in_metadata_only(&value.origin, it)?)))
            .collect();
        if late.is_empty() {
            return Verdict::Holds(vec![progress(Vec::new())]);
        }
        // Something else that is under way may start it anew.
        if state.is_settled() {
            let missing = late.iter();
            let missing = missing.map(|(target, input)| self.missing_proof_of_start(target, input));
            return Verdict::Unproven(missing.collect());
        }
        let missing = late.iter();
        let missing = missing.map(|(target, input)| telling::in_metadata(target, input));
        Verdict::Waiting(vec![progress(missing.collect())])
    }

    /// Returns why a target that nobody has looked at can't be looked at: its object can't be stamped.
    fn unstamped(self, stages: &[(&str, Option<&Stage>)]) -> Option<Impossible> {
        let unseen = stages.iter().filter(|(_, stage)| stage.is_none());
        let mut failed = unseen.filter_map(|(target, _)| {
            let message = self.lineage.failures.get(*target)?.clone();
            let resource = (*target).to_owned();
            Some(Impossible::Failed { resource, message })
        });
        failed.next()
    }

    fn impossible(self, value: &Value, arrival: &Arrival) -> Option<Impossible> {
        let input = telling::name(&value.origin);
        if arrival.unused() {
            return Some(Impossible::Unused {
                input,
                read: self.read(),
            });
        }
        if arrival.missing.contains(&Missing::NotOnPath) {
            return Some(Impossible::NotOnPath { what: input });
        }
        let gone =
            arrival.missing.contains(&Missing::Superseded) || self.is_left_behind(value, arrival);
        // That nothing carries a value is true before it came and after it went. Only what was there can be
        // superseded; `was_carried` is what this very wait has seen, and survives its connection.
        let gone = !arrival.arrived() && self.clauses().holds(Clause::Carried, gone);
        let state = &self.lineage.state;
        let was_there = self.was_carried || state.had(&value.origin, |it| value.wanted.is(it));
        let was_there = self.clauses().holds(Clause::WasThere, was_there);
        let now = state.newest(&value.origin);
        (gone && was_there).then(|| Impossible::Superseded {
            input,
            wanted: value.wanted.to_string(),
            now: now.map(|it| value.wanted.in_place(it)),
        })
    }

    /// Tells whether only what nobody will apply again still shows the value.
    fn is_left_behind(self, value: &Value, arrival: &Arrival) -> bool {
        !arrival.arrived() && !self.is_newest(value) && self.lineage.state.is_settled()
    }

    fn clauses(self) -> Clauses {
        self.lineage.state.clauses()
    }

    fn is_newest(self, value: &Value) -> bool {
        let state = &self.lineage.state;
        state.is_newest(&value.origin, &|it| value.wanted.is(it))
    }

    fn reached(self, value: &Value, way: &Way<'_>) -> Vec<String> {
        let entry_point = match &value.origin {
            Origin::Resource(name) if self.is_newest(value) => Some(name.clone()),
            _ => None,
        };
        let made = way.resources().filter(|it| way.is_in(&it.name));
        entry_point
            .into_iter()
            .chain(made.map(|it| it.name.clone()))
            .collect()
    }

    /// Returns the inputs of the owner that are read.
    fn read(self) -> Vec<String> {
        let inputs = self.lineage.inputs().into_iter();
        inputs.filter(|it| !it.unused).map(|it| it.name).collect()
    }
}

/// Returns the better of two verdicts on values of which one is enough.
fn better(one: Verdict, other: Verdict) -> Verdict {
    let rank = |verdict: &Verdict| match verdict {
        Verdict::Holds(_) => 0,
        Verdict::Waiting(_) => 1,
        Verdict::Unproven(_) => 2,
        Verdict::Impossible(_) => 3,
    };
    if rank(&other) < rank(&one) {
        other
    } else {
        one
    }
}
