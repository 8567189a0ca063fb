//! Has it arrived, does it run, or can that not happen any more?
//!
//! Somebody names what they wait for as [`Wish`]es; [`judge`] looks at one [`Track`] and says whether
//! all of them are true in that one state. A [`Waiter`] looks at one track after the other and also
//! notices what was there and has been replaced.
//!
//! Read on in this order: `wish` (what can be asked), `asked` (what that means on a path), `judging`
//! (the rules), `verdict` (the answers, and what they tell people).

mod applied;
mod asked;
mod contradiction;
mod judging;
mod settled;
mod stamping;
mod verdict;
mod way;
mod wish;

use serde::{Deserialize, Serialize};

pub use self::applied::{Applied, NotASetting, Setting};
pub use self::contradiction::check;
pub use self::verdict::{AtWork, Mend, Never, Position, Verdict};
pub use self::wish::{NotAWish, Wish};

use self::asked::Asked;
use self::judging::Judging;
use crate::artifact::Kind;
use crate::clauses::Clause;
use crate::track::Track;

/// What is enough for an answer.
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

/// Waits for wishes, over one track after the other.
#[derive(Clone, Debug)]
pub struct Waiter {
    wishes: Vec<Wish>,
    options: Options,
    /// Which of the wishes something on the path carried at an earlier look.
    carried: Vec<bool>,
    /// What an apply has changed that is waited for, too.
    applied: Option<Applied>,
    /// Whether every resource has to be stamped.
    stamped: bool,
}

/// Judges wishes on one state.
///
/// A revision that a branch has not brought yet is waited for: only a [`Waiter`] can tell it from
/// one that was replaced.
pub fn judge(track: &Track, wishes: &[Wish], options: Options) -> Verdict {
    Waiter::new(wishes.to_vec(), options).look(track)
}

impl Waiter {
    /// Begins to wait.
    pub fn new(wishes: Vec<Wish>, options: Options) -> Self {
        Self {
            carried: vec![false; wishes.len()],
            wishes,
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
    pub fn is_unsure_of_removed(&self, track: &Track) -> bool {
        let since = self.options.since_generation;
        let applied = self.applied.as_ref();
        applied.is_some_and(|it| it.is_unsure(track, since))
    }

    /// Goes on from what an earlier one had learned, by its [`Waiter::carried`].
    #[must_use]
    pub fn remembering(mut self, carried: &[bool]) -> Self {
        for (now, before) in self.carried.iter_mut().zip(carried) {
            *now |= before;
        }
        self
    }

    /// Tells for each wish whether something on the path has carried it since the waiting began: one
    /// that is gone since is superseded, and not still to come.
    pub fn carried(&self) -> &[bool] {
        &self.carried
    }

    /// Looks at what is known now.
    pub fn look(&mut self, track: &Track) -> Verdict {
        if let Some(early) = self.is_early(track) {
            return early;
        }
        if let Some(never) = contradiction::on_path(&self.wishes, &track.state) {
            return Verdict::Never(never);
        }
        let mut verdict = Verdict::Holds(Vec::new());
        for (wish, carried) in self.wishes.iter().zip(&mut self.carried) {
            let asked = Asked::of(wish, track);
            let judging = Judging {
                track,
                options: self.options,
                was_carried: *carried,
            };
            *carried |= asked.is_carried(track);
            verdict = verdict.and(judging.judge(wish, &asked));
        }
        if let Some(applied) = &mut self.applied {
            verdict = verdict.and(applied.look(track, self.options));
        }
        if self.stamped {
            verdict = stamping::judge(track).and(verdict);
        }
        verdict
    }

    /// Returns what people should know about what they wait for.
    pub fn notes(&self, track: &Track) -> Vec<String> {
        let current = self.wishes.contains(&Wish::Current);
        let applied = self.applied.as_ref();
        let names_source = self.wishes.iter().any(|it| matches!(it, Wish::Source(_)));
        let finders = track.state.finders(Kind::Source);
        let follows = (current || applied.is_some()) && !names_source && !finders.is_empty();
        let moving = follows.then(|| {
            let finders = finders.join(", ");
            format!("the source is not fixed (`{finders}` finds its revision): `current` does not wait for a commit; add --for source=REV to wait for one")
        });
        let unused = track.inputs().into_iter().filter(|it| current && it.unused);
        let unused = unused.map(|it| {
            format!(
                "nothing on the path reads {}: it is not waited for",
                it.name
            )
        });
        let idle = applied.map(|it| it.notes(track)).unwrap_or_default();
        moving.into_iter().chain(unused).chain(idle).collect()
    }

    fn is_early(&self, track: &Track) -> Option<Verdict> {
        let since = self.options.since_generation?;
        let looked = track.generation >= since;
        let looked = track.state.clauses().holds(Clause::Since, looked);
        (!looked).then(|| {
            let said = format!("generation {since} of the owner has not been looked at yet");
            let wait = |wish: &Wish| Position::unknown(wish, said.clone());
            let applied = self.applied.as_ref().map(Applied::wishes);
            let applied = applied.unwrap_or_default();
            let all = self.wishes.iter().chain(&applied);
            Verdict::Waiting(all.map(wait).collect())
        })
    }
}
