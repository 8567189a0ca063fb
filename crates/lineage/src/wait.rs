//! Has it arrived, does it run, or can that not happen any more?
//!
//! Somebody names what they wait for as [`WaitFor`]es; [`judge`] looks at one [`OwnerLineage`] and says whether
//! all of them are true in that one state. A [`Waiter`] looks at one lineage after the other and also
//! notices what was there and has been replaced.
//!
//! Read on in this order: `wait_for` (what can be asked), `asked` (what that means on a path), `judging`
//! (the rules), `verdict` (the answers, and what they tell people), `observed` and [`confirmation`] (what has to be
//! read before an answer is given), [`deployment`] (the wait of a release).

mod applied;
mod asked;
pub mod confirmation;
mod contradiction;
pub mod deployment;
mod judging;
mod observed;
mod settled;
mod stamping;
mod verdict;
mod wait_for;
mod way;

use serde::{Deserialize, Serialize};

pub use self::applied::{Applied, NotASetting, Setting};
pub use self::confirmation::Confirmation;
pub use self::contradiction::check;
pub use self::observed::{AwaitedMetadata, set_again};
pub use self::verdict::{AtWork, Impossible, MissingProof, Progress, Verdict};
pub use self::wait_for::{ParseWaitForError, WaitFor};

use self::asked::Asked;
use self::judging::Judging;
use crate::artifact::Kind;
use crate::clauses::Clause;
use crate::owner_lineage::OwnerLineage;

/// Conditions of an answer.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Options {
    /// To have arrived is not enough: it has to run.
    pub live: bool,
    /// Edges that nothing proves are good enough.
    pub accept_assumed: bool,
    /// The generation that the owner had when the waiting began: what was known before says nothing
    /// about what was asked after it.
    pub since_generation: Option<i64>,
}

/// Waits for several things, over one lineage after the other.
#[derive(Clone, Debug)]
pub struct Waiter {
    awaited: Vec<WaitFor>,
    options: Options,
    /// The things waited for that something on the path carried at an earlier look.
    carried: Vec<bool>,
    /// Changes of an apply that are waited for, too.
    applied: Option<Applied>,
    /// Whether every resource has to be stamped.
    stamped: bool,
}

/// Judges what is waited for on one state.
///
/// A revision that a branch has not brought yet is waited for: only a [`Waiter`] can tell it from
/// one that was replaced.
pub fn judge(lineage: &OwnerLineage, awaited: &[WaitFor], options: Options) -> Verdict {
    Waiter::new(awaited.to_vec(), options).judge(lineage)
}

impl Waiter {
    /// Begins to wait.
    pub fn new(awaited: Vec<WaitFor>, options: Options) -> Self {
        Self {
            carried: vec![false; awaited.len()],
            awaited,
            options,
            applied: None,
            stamped: false,
        }
    }

    /// Waits for what an apply has changed, too.
    #[must_use]
    pub fn with_applied(mut self, applied: Applied) -> Self {
        self.applied = Some(applied);
        self
    }

    /// Waits for every resource on the path to be stamped, too; one that can't be has failed.
    #[must_use]
    pub fn with_stamping(mut self) -> Self {
        self.stamped = true;
        self
    }

    /// Tells whether only the owner itself can say if what an apply removed is still not there: the
    /// generation that the apply made was never looked at.
    pub fn is_unsure_of_removed(&self, lineage: &OwnerLineage) -> bool {
        let since = self.options.since_generation;
        let applied = self.applied.as_ref();
        applied.is_some_and(|it| it.is_unsure(lineage, since))
    }

    /// Goes on from what an earlier one had learned, by its [`Waiter::carried`].
    #[must_use]
    pub fn remembering(mut self, carried: &[bool]) -> Self {
        for (now, before) in self.carried.iter_mut().zip(carried) {
            *now |= before;
        }
        self
    }

    /// Tells for each thing that is waited for whether something on the path has carried it since the waiting began: one
    /// that is gone since is superseded, and not still to come.
    pub fn carried(&self) -> &[bool] {
        &self.carried
    }

    /// Judges what is waited for by what is known now.
    pub fn judge(&mut self, lineage: &OwnerLineage) -> Verdict {
        if let Some(early) = self.is_early(lineage) {
            return early;
        }
        if let Some(impossible) = contradiction::on_path(&self.awaited, &lineage.state) {
            return Verdict::Impossible(impossible);
        }
        let mut verdict = Verdict::Holds(Vec::new());
        for (wait_for, carried) in self.awaited.iter().zip(&mut self.carried) {
            let asked = Asked::of(wait_for, lineage);
            let judging = Judging {
                lineage,
                options: self.options,
                was_carried: *carried,
            };
            *carried |= asked.is_carried(lineage);
            verdict = verdict.and(judging.judge(wait_for, &asked));
        }
        if let Some(applied) = &mut self.applied {
            verdict = verdict.and(applied.judge(lineage, self.options));
        }
        if self.stamped {
            verdict = stamping::judge(lineage).and(verdict);
        }
        verdict
    }

    /// Returns what people should know about what they wait for.
    pub fn notes(&self, lineage: &OwnerLineage) -> Vec<String> {
        let current = self.awaited.contains(&WaitFor::Current);
        let applied = self.applied.as_ref();
        let names_source = self
            .awaited
            .iter()
            .any(|it| matches!(it, WaitFor::Source(_)));
        let entry_points = lineage.state.entry_points(Kind::Source);
        let follows = (current || applied.is_some()) && !names_source && !entry_points.is_empty();
        let moving = follows.then(|| {
            let entry_points = entry_points.join(", ");
            format!("the source is not fixed (`{entry_points}` finds its revision): `current` does not wait for a commit; add --for source=REV to wait for one")
        });
        let unused = lineage
            .inputs()
            .into_iter()
            .filter(|it| current && it.unused);
        let unused = unused.map(|it| {
            format!(
                "nothing on the path reads {}: it is not waited for",
                it.name
            )
        });
        let idle = applied.map(|it| it.notes(lineage)).unwrap_or_default();
        moving.into_iter().chain(unused).chain(idle).collect()
    }

    fn is_early(&self, lineage: &OwnerLineage) -> Option<Verdict> {
        let since = self.options.since_generation?;
        let looked = lineage.generation >= since;
        let looked = lineage.state.clauses().holds(Clause::Since, looked);
        (!looked).then(|| {
            let said = format!("generation {since} of the owner has not been observed yet");
            let wait = |wait_for: &WaitFor| Progress::unknown(wait_for, said.clone());
            let applied = self.applied.as_ref().map(Applied::awaited);
            let applied = applied.unwrap_or_default();
            let all = self.awaited.iter().chain(&applied);
            Verdict::Waiting(all.map(wait).collect())
        })
    }
}
