//! Advancing: what a release does between two environments.

use std::collections::BTreeSet;

use jiff::Timestamp;

use super::{EntryState, Environment, Flow, Queues, Transition};
use crate::clauses::Clause;

impl Queues {
    /// Enters releases wherever they have got to, have soaked, and have no entry yet; ends what waits in environments
    /// that are gone, or where it would not be let in any more.
    ///
    /// Every other transition does this first, or last: it is to be called by itself when the flow has changed, and at
    /// [`Queues::next_soak`]. Only what was taken last in an environment gets from there to the next: whatever was
    /// replaced before it could go on stays behind. So an environment that is new begins with the newest release that
    /// has got that far, and goes on with those that follow.
    pub fn advance(&mut self, flow: &Flow, at: Timestamp) -> Vec<Transition> {
        let mut transitions = Vec::new();
        self.leave(flow, at, &mut transitions);
        if self.clauses.holds(Clause::Deleted, !self.is_deleted) {
            // The first ones first: what is skipped in one goes on to the next.
            for environment in flow.environments() {
                self.withdraw(flow, environment, at, &mut transitions);
                self.arrive(flow, environment, at, &mut transitions);
            }
        }
        transitions
    }

    /// Ends what waits, or is being deployed, in environments that are gone.
    fn leave(&mut self, flow: &Flow, at: Timestamp, transitions: &mut Vec<Transition>) {
        let is_asked = !self.clauses.is_dropped(Clause::Removed);
        let is_gone = |name: &&String| flow.get(name).is_none() && is_asked;
        let gone: Vec<_> = self.entries.keys().filter(is_gone).cloned().collect();
        for environment in gone {
            self.end_live(&environment, at);
            self.end_restore(&environment);
            for release in self.all_in(&environment, |it| !it.is_terminal()) {
                let state = EntryState::Cancelled;
                self.set(&environment, release, state, at, transitions);
            }
        }
    }

    /// Takes back what waits in an environment and would not be let in now: since it was, environments before it
    /// have come back or have moved, or this one asks for more. It comes again when it may.
    fn withdraw(
        &mut self,
        flow: &Flow,
        environment: &Environment,
        at: Timestamp,
        transitions: &mut Vec<Transition>,
    ) {
        let name = environment.name.as_str();
        let mut waiting = self.all_in(name, EntryState::is_waiting);
        waiting.retain(|it| self.only(*it).is_none());
        for release in waiting {
            // Whoever promotes a release has not promised that it is through all that comes before.
            let is_promoted = self.entry(name, release).is_some_and(|it| it.is_promoted);
            let soaked_at = self.soaked_at(flow, environment, release);
            let has_soaked = is_promoted || soaked_at.is_some_and(|it| it <= at);
            let may_wait = self.has_got_to(flow, environment, release) && has_soaked;
            if self.is_omitted(environment, release) {
                self.set(name, release, EntryState::Skipped, at, transitions);
            } else if !self.clauses.holds(Clause::StillThrough, may_wait) {
                self.set(name, release, EntryState::Cancelled, at, transitions);
            }
        }
    }

    fn arrive(
        &mut self,
        flow: &Flow,
        environment: &Environment,
        at: Timestamp,
        transitions: &mut Vec<Transition>,
    ) {
        for release in self.arriving(flow, environment) {
            let soaked_at = self.soaked_at(flow, environment, release);
            if soaked_at.is_some_and(|it| it <= at) {
                self.note_soak(flow, environment, release, at);
                self.enter_environment(environment, release, at, transitions);
            }
        }
    }

    /// Returns the releases that have got to an environment, and are not there: the oldest first, soaked or not.
    pub(super) fn arriving(&self, flow: &Flow, environment: &Environment) -> BTreeSet<u64> {
        let mut newest_first = self.releases.keys().rev().copied();
        let mut arriving = match flow.before(environment.position) {
            None => newest_first
                .find(|it| self.only(*it).is_none())
                .into_iter()
                .collect(),
            Some(before) => self.through(flow, before),
        };
        arriving.retain(|release| {
            self.state(&environment.name, *release).is_none()
                && self.only(*release).is_none()
                && self.is_current(flow, environment, *release)
        });
        arriving
    }

    /// Returns the releases that all environments of a position have deployed or skipped, of those that came last.
    fn through(&self, flow: &Flow, position: u32) -> BTreeSet<u64> {
        let last = flow.at(position).flat_map(|environment| {
            let states = [
                EntryState::Deployed,
                EntryState::Skipped,
                EntryState::Failed,
            ];
            let states = states.into_iter().filter(|it| self.passes(Some(*it)));
            states.filter_map(|state| self.last_that(&environment.name, state))
        });
        let last = last.filter(|release| self.is_through(flow, position, *release));
        last.collect()
    }

    /// Returns the newest release that is in a state in an environment. Rollbacks, which are skipped for the sake of
    /// another one, do not hide what was skipped before.
    fn last_that(&self, environment: &str, state: EntryState) -> Option<u64> {
        match state {
            EntryState::Skipped => {
                let skipped = self.all_in(environment, |it| it == state);
                let mut newest_first = skipped.into_iter().rev();
                newest_first.find(|it| self.only(*it).is_none())
            }
            _ => self.newest(environment, state),
        }
    }

    /// Tells whether all environments of a position have deployed or skipped a release.
    fn is_through(&self, flow: &Flow, position: u32, release: u64) -> bool {
        let mut states = flow.at(position).map(|it| self.state(&it.name, release));
        match self.clauses.is_dropped(Clause::Siblings) {
            false => states.all(|it| self.passes(it)),
            true => states.any(|it| self.passes(it)),
        }
    }

    /// Tells whether a release in a state goes on.
    fn passes(&self, state: Option<EntryState>) -> bool {
        let is_failed = state == Some(EntryState::Failed);
        matches!(state, Some(EntryState::Deployed | EntryState::Skipped))
            || is_failed && self.clauses.is_dropped(Clause::DeployedFirst)
    }

    /// Tells whether a release without an entry in an environment could be deployed there by hand.
    pub(super) fn could_be_in(&self, flow: &Flow, environment: &Environment, release: u64) -> bool {
        self.has_got_to(flow, environment, release) && !self.is_omitted(environment, release)
    }

    /// Tells whether a release is through everything before an environment, soaked or not.
    pub(super) fn has_got_to(&self, flow: &Flow, environment: &Environment, release: u64) -> bool {
        let before = flow.before(environment.position);
        let is_through = before.is_none_or(|it| self.is_through(flow, it, release));
        let only = self.only(release);
        is_through && only.is_none_or(|it| it == environment.name)
    }

    /// Tells whether nothing has replaced a release yet, in one environment at least, where it was deployed last
    /// before another one.
    fn is_current(&self, flow: &Flow, environment: &Environment, release: u64) -> bool {
        let Some(position) = self.deployed_before(flow, environment, release) else {
            return true;
        };
        let newest = |it: &Environment| self.newest(&it.name, EntryState::Deployed);
        let is_current = flow.at(position).any(|it| newest(it) == Some(release));
        self.clauses.holds(Clause::Current, is_current)
    }
}
