//! Promotion: what somebody does by hand.

mod refusal;

use jiff::Timestamp;

pub use self::refusal::NotPromoted;
use super::{EntryState, Environment, Flow, Holds, Queues, Transition};
use crate::clauses::Clause;

impl Queues {
    /// Queues a release that is held, or once more one that failed; without a number, the newest one of them.
    ///
    /// # Errors
    /// If there is no such release, or a newer one is queued, deploying or deployed there. Then nothing has changed.
    pub fn promote(
        &mut self,
        flow: &Flow,
        (environment, release): (&str, Option<u64>),
        at: Timestamp,
    ) -> Result<Vec<Transition>, NotPromoted> {
        self.promoted(flow, environment, at, |queues, environment, transitions| {
            let newest = |state| queues.newest(&environment.name, state);
            let found = release
                .or_else(|| newest(EntryState::Held))
                .or_else(|| newest(EntryState::Failed))
                // It is refused below, with the reason.
                .or_else(|| queues.arriving(flow, environment).last().copied());
            let release = queues.found(environment, found)?;
            let state = queues.state(&environment.name, release);
            if !matches!(state, Some(EntryState::Held | EntryState::Failed)) {
                return Err(queues.refused(flow, environment, release));
            }
            queues.is_let_in(flow, environment, release)?;
            queues.is_newest(environment, release)?;
            queues.queue(&environment.name, release, at, transitions);
            queues.note_promotion(environment, release, state);
            Ok(())
        })
    }

    /// Begins to deploy a release that is queued, held or has failed, or has not soaked yet, without waiting for a
    /// tick; without a number, the newest one that waits, or that failed. `halts` are the holds of environments as a
    /// whole.
    ///
    /// # Errors
    /// If there is no such release, if it has not got there, if something else is being deployed there, if a newer one
    /// is queued or deployed there, or if the environment takes nothing now. Then nothing has changed.
    pub fn promote_now(
        &mut self,
        (flow, halts): (&Flow, &Holds),
        (environment, release): (&str, Option<u64>),
        at: Timestamp,
    ) -> Result<Vec<Transition>, NotPromoted> {
        self.promoted(flow, environment, at, |queues, environment, transitions| {
            let name = environment.name.as_str();
            let found = release.or_else(|| queues.newest_waiting(flow, environment));
            let found = found.or_else(|| queues.newest(name, EntryState::Failed));
            let release = queues.found(environment, found)?;
            let state = queues.state(name, release);
            match state {
                Some(EntryState::Queued | EntryState::Held | EntryState::Failed) => {}
                None if queues.could_be_in(flow, environment, release) => {}
                _ => return Err(queues.refused(flow, environment, release)),
            }
            queues.is_let_in(flow, environment, release)?;
            queues.may_take(environment, release, halts, at)?;
            queues.is_newest(environment, release)?;
            queues.make_room(name, release, at, transitions);
            let before = queues.entry(name, release).map(|it| it.state);
            queues.take(name, release, at, transitions);
            queues.note_promotion(environment, release, before);
            Ok(())
        })
    }

    /// Promotes something in an environment, or changes nothing.
    fn promoted(
        &mut self,
        flow: &Flow,
        environment: &str,
        at: Timestamp,
        promote: impl FnOnce(&mut Self, &Environment, &mut Vec<Transition>) -> Result<(), NotPromoted>,
    ) -> Result<Vec<Transition>, NotPromoted> {
        if self.is_deleted {
            return Err(NotPromoted::Deleted);
        }
        let unknown = || NotPromoted::NoEnvironment(environment.to_owned());
        let environment = flow.get(environment).ok_or_else(unknown)?;
        let mut promoted = self.clone();
        let mut transitions = promoted.advance(flow, at);
        promote(&mut promoted, environment, &mut transitions)?;
        *self = promoted;
        Ok(transitions)
    }

    fn found(&self, environment: &Environment, found: Option<u64>) -> Result<u64, NotPromoted> {
        let release = found.ok_or_else(|| NotPromoted::Nothing {
            environment: environment.name.clone(),
        })?;
        let is_known = self.releases.contains_key(&release);
        is_known
            .then_some(release)
            .ok_or(NotPromoted::NoRelease(release))
    }

    /// Returns the newest release that waits in an environment, or soaks for it.
    fn newest_waiting(&self, flow: &Flow, environment: &Environment) -> Option<u64> {
        let waiting = self.all_in(&environment.name, EntryState::is_waiting);
        let soaking = self.arriving(flow, environment);
        waiting.into_iter().chain(soaking).max()
    }

    /// Checks that a release is through all that comes before an environment: what failed there may have been let in
    /// while environments were others.
    fn is_let_in(
        &self,
        flow: &Flow,
        environment: &Environment,
        release: u64,
    ) -> Result<(), NotPromoted> {
        let is_let_in = self.only(release).is_some() || self.has_got_to(flow, environment, release);
        match self.clauses.holds(Clause::StillThrough, is_let_in) {
            true => Ok(()),
            false => Err(self.not_there(flow, environment, release)),
        }
    }

    fn is_newest(&self, environment: &Environment, release: u64) -> Result<(), NotPromoted> {
        let newer = self.newer_than(&environment.name, release);
        let newer = newer.filter(|_| !self.clauses.is_dropped(Clause::PromoteNewest));
        newer.map_or(Ok(()), |newer| {
            Err(self.replaced(environment, release, newer))
        })
    }

    /// Tells whether an environment could take a release at once.
    fn may_take(
        &self,
        environment: &Environment,
        release: u64,
        halts: &Holds,
        at: Timestamp,
    ) -> Result<(), NotPromoted> {
        let stop = self.stop_of(environment, release, halts, at);
        if let Some(stop) = stop.filter(|_| !self.clauses.is_dropped(Clause::NowStopped)) {
            return Err(NotPromoted::Stopped(
                stop.sentence(environment, &self.tracker),
            ));
        }
        let deploying = self.newest(&environment.name, EntryState::Deploying);
        let deploying = deploying.filter(|_| !self.clauses.is_dropped(Clause::NowAlone));
        deploying.map_or(Ok(()), |deploying| {
            Err(NotPromoted::Busy {
                environment: environment.name.clone(),
                deploying,
            })
        })
    }

    /// Notes that somebody has promoted what was in a state: what had failed is tried once more.
    fn note_promotion(&mut self, environment: &Environment, release: u64, was: Option<EntryState>) {
        if let Some(entry) = self.entry_mut(&environment.name, release) {
            entry.is_promoted = true;
            entry.attempt += u32::from(matches!(
                was,
                Some(EntryState::Failed | EntryState::Cancelled)
            ));
            entry.message = None;
        }
    }
}
