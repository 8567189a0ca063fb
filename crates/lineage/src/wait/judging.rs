//! The rules by which a wish is judged on one track.

use super::Options;
use super::asked::{Asked, Value};
use super::stamping;
use super::verdict::{Never, Position, Verdict};
use super::way::Way;
use super::wish::Wish;
use crate::arrival::{Arrival, Missing};
use crate::clauses::{Clause, Clauses};
use crate::origin::Origin;
use crate::rollout::Stage;
use crate::track::Track;

mod failing;
mod mending;
mod telling;

/// Judges wishes on one track.
#[derive(Clone, Copy)]
pub(super) struct Judging<'a> {
    pub(super) track: &'a Track,
    pub(super) options: Options,
    /// Whether something on the path carried what is wished for at an earlier look.
    pub(super) was_carried: bool,
}

impl<'a> Judging<'a> {
    pub(super) fn judge(self, wish: &Wish, asked: &Asked) -> Verdict {
        match asked {
            Asked::Never(never) => Verdict::Never(never.clone()),
            Asked::Later(missing) => self.later(wish, missing),
            Asked::All(values) => {
                let verdicts = values.iter().map(|value| self.value(wish, value));
                let all = verdicts.reduce(Verdict::and);
                let all = all.unwrap_or(Verdict::Holds(Vec::new()));
                if *wish == Wish::Current {
                    all.and(self.made(wish))
                        .and(stamping::judge(self.track))
                        .and(self.finals(wish))
                } else {
                    all
                }
            }
            Asked::One(values) => {
                let mut verdicts = values.iter().map(|value| self.value(wish, value));
                let first = verdicts.next().expect("there is one at least");
                verdicts.fold(first, better)
            }
        }
    }

    fn later(self, wish: &Wish, missing: &str) -> Verdict {
        let said = match self.obstacle() {
            Some(obstacle) => format!("{missing}; {obstacle}"),
            None => missing.to_owned(),
        };
        Verdict::Waiting(vec![Position::unknown(wish, said)])
    }

    /// Says what keeps the owner itself from going on. That is no failure: a blueprint, a template or
    /// an account that is missing may have been applied a moment ago.
    fn obstacle(self) -> Option<String> {
        let why = self.track.failures.get("")?;
        Some(format!("the owner can't go on: {why}"))
    }

    fn value(self, wish: &Wish, value: &Value) -> Verdict {
        let state = &self.track.state;
        let mut arrival = state.arrival(&value.origin, |it| value.wanted.is(it));
        if self.options.accept_assumed {
            let assumed = |it: &Missing| matches!(it, Missing::Assumed { .. });
            arrival.missing.retain(|it| !assumed(it));
        }
        let way = Way::new(state, &value.origin, &value.wanted);
        if let Some(never) = self.impossible(value, &arrival) {
            return Verdict::Never(never);
        }
        if let Some(never) = self.failed(value, &way, &arrival) {
            return Verdict::Never(never);
        }
        let position = |missing| Position {
            wish: wish.to_string(),
            input: value.origin.name().to_owned(),
            value: value.wanted.to_string(),
            reached: self.reached(value, &way),
            at_work: None,
            missing,
        };
        if arrival.arrived() {
            let targets = state.targets_of(&value.origin);
            let targets: Vec<_> = targets.iter().map(|it| it.name.as_str()).collect();
            return self.run(&targets, position);
        }
        if self.is_newest(value) && state.is_settled() {
            let mend = self.mend(value, &arrival);
            if !mend.is_empty() {
                return Verdict::Unproven(mend);
            }
        }
        let next = self.next_step(&way).filter(|_| !arrival.only_assumed());
        let (at_work, step) = next.unzip();
        let missing = self.tell(value, &arrival, step).into_iter();
        Verdict::Waiting(vec![Position {
            at_work: at_work.flatten(),
            ..position(missing.chain(self.obstacle()).collect())
        }])
    }

    /// Judges whether every final resource makes something at all: a path that reads nothing of the
    /// owner has to get to its end, too.
    fn made(self, wish: &Wish) -> Verdict {
        let state = &self.track.state;
        let finals = state.chain().finals();
        let nothing = finals.filter(|it| state.current(&it.name).is_none());
        let nothing: Vec<_> = nothing
            .map(|it| format!("`{}` has made nothing yet", it.name))
            .collect();
        if nothing.is_empty() {
            return Verdict::Holds(Vec::new());
        }
        Verdict::Waiting(vec![Position {
            missing: nothing.into_iter().chain(self.obstacle()).collect(),
            ..Position::unknown(wish, String::new())
        }])
    }

    /// Judges the last miles of all final resources.
    fn finals(self, wish: &Wish) -> Verdict {
        let finals = self.track.state.chain().finals();
        let finals: Vec<_> = finals.map(|it| it.name.as_str()).collect();
        match self.run(&finals, |missing| Position {
            missing,
            ..Position::unknown(wish, String::new())
        }) {
            Verdict::Holds(_) => Verdict::Holds(Vec::new()),
            other => other,
        }
    }

    /// Judges the last miles of targets that are made of what they should be made of.
    fn run(self, targets: &[&str], position: impl FnOnce(Vec<String>) -> Position) -> Verdict {
        if !self.options.live {
            return Verdict::Holds(vec![position(Vec::new())]);
        }
        let stages = targets
            .iter()
            .map(|target| (*target, self.track.stage(target)));
        let stages: Vec<_> = stages.collect();
        if let Some(never) = self.unstamped(&stages) {
            return Verdict::Never(never);
        }
        let tell = |tell: fn(&str, Option<&Stage>) -> Option<String>| -> Vec<_> {
            let told = stages
                .iter()
                .filter_map(|(target, stage)| tell(target, *stage));
            told.collect()
        };
        let mut missing = tell(telling::stage);
        if !self.track.is_alone() {
            missing.extend(self.track.retiring.iter().map(ToString::to_string));
        }
        if !missing.is_empty() {
            return Verdict::Waiting(vec![position(missing)]);
        }
        if stages.iter().any(|(_, stage)| *stage == Some(&Stage::Done)) {
            return Verdict::Holds(vec![position(Vec::new())]);
        }
        let unfollowed = tell(telling::unfollowed);
        if !unfollowed.is_empty() {
            return Verdict::Waiting(vec![position(unfollowed)]);
        }
        Verdict::Unproven(targets.iter().map(|it| self.mend_last_mile(it)).collect())
    }

    /// Returns why a target that nobody has looked at can't be looked at: its object can't be stamped.
    fn unstamped(self, stages: &[(&str, Option<&Stage>)]) -> Option<Never> {
        let unseen = stages.iter().filter(|(_, stage)| stage.is_none());
        let mut failed = unseen.filter_map(|(target, _)| {
            let message = self.track.failures.get(*target)?.clone();
            let resource = (*target).to_owned();
            Some(Never::Failed { resource, message })
        });
        failed.next()
    }

    fn impossible(self, value: &Value, arrival: &Arrival) -> Option<Never> {
        let input = telling::name(&value.origin);
        if arrival.unused() {
            return Some(Never::Unused {
                input,
                read: self.read(),
            });
        }
        if arrival.missing.contains(&Missing::NotOnPath) {
            return Some(Never::NotOnPath { what: input });
        }
        let gone =
            arrival.missing.contains(&Missing::Superseded) || self.is_left_behind(value, arrival);
        let gone = !arrival.arrived() && self.clauses().holds(Clause::Carried, gone);
        let state = &self.track.state;
        let was_there = self.was_carried || state.had(&value.origin, |it| value.wanted.is(it));
        let was_there = self.clauses().holds(Clause::WasThere, was_there);
        let now = state.newest(&value.origin);
        (gone && was_there).then(|| Never::Superseded {
            input,
            wanted: value.wanted.to_string(),
            now: now.map(|it| value.wanted.in_place(it)),
        })
    }

    /// Tells whether only what nobody will apply again still shows the value.
    fn is_left_behind(self, value: &Value, arrival: &Arrival) -> bool {
        !arrival.arrived() && !self.is_newest(value) && self.track.state.is_settled()
    }

    fn clauses(self) -> Clauses {
        self.track.state.clauses()
    }

    fn is_newest(self, value: &Value) -> bool {
        let state = &self.track.state;
        state.is_newest(&value.origin, &|it| value.wanted.is(it))
    }

    fn reached(self, value: &Value, way: &Way<'_>) -> Vec<String> {
        let finder = match &value.origin {
            Origin::Resource(name) if self.is_newest(value) => Some(name.clone()),
            _ => None,
        };
        let made = way.resources().filter(|it| way.is_in(&it.name));
        finder
            .into_iter()
            .chain(made.map(|it| it.name.clone()))
            .collect()
    }

    /// Returns the inputs of the owner that are read.
    fn read(self) -> Vec<String> {
        let inputs = self.track.inputs().into_iter();
        inputs.filter(|it| !it.unused).map(|it| it.name).collect()
    }
}

/// Returns the better of two verdicts on values of which one is enough.
fn better(one: Verdict, other: Verdict) -> Verdict {
    let rank = |verdict: &Verdict| match verdict {
        Verdict::Holds(_) => 0,
        Verdict::Waiting(_) => 1,
        Verdict::Unproven(_) => 2,
        Verdict::Never(_) => 3,
    };
    if rank(&other) < rank(&one) {
        other
    } else {
        one
    }
}
