//! Advancing: what a release does between two environments.

use std::collections::BTreeSet;

use jiff::Timestamp;

use super::{Entry, EntryState, Environment, Flow, Queues, Transition};
use crate::clauses::Clause;

impl Queues {
    /// Enters releases wherever they have got to, have soaked, and have no entry yet; ends what waits in environments
    /// that are gone.
    ///
    /// Every other transition does this first, or last: it is to be called by itself when the flow has changed, and at
    /// [`Queues::next_soak`]. Only what was taken last in an environment gets from there to the next: whatever was
    /// replaced before it could go on stays behind. So an environment that is new begins with the newest release that
    /// has got that far, and goes on with those that follow.
    pub fn advance(&mut self, flow: &Flow, at: Timestamp) -> Vec<Transition> {
        let mut transitions = Vec::new();
        if self.clauses.holds(Clause::Deleted, !self.is_deleted) {
            self.leave(flow, at, &mut transitions);
            // The first ones first: what is skipped in one goes on to the next.
            for environment in flow.environments() {
                self.arrive(flow, environment, at, &mut transitions);
            }
        }
        transitions
    }

    /// Ends what waits, or is deployed, in environments that are gone.
    fn leave(&mut self, flow: &Flow, at: Timestamp, transitions: &mut Vec<Transition>) {
        let is_asked = !self.clauses.is_dropped(Clause::Removed);
        let is_gone = |name: &&String| flow.get(name).is_none() && is_asked;
        let gone: Vec<_> = self.entries.keys().filter(is_gone).cloned().collect();
        for environment in gone {
            self.end_live(&environment, at);
            for release in self.all_in(&environment, |it| !it.is_terminal()) {
                let state = EntryState::Cancelled;
                self.set(&environment, release, state, at, transitions);
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
                self.enter_environment(environment, release, at, transitions);
            }
        }
    }

    /// Returns the releases that have got to an environment, and are not there: the oldest first, soaked or not.
    pub(super) fn arriving(&self, flow: &Flow, environment: &Environment) -> BTreeSet<u64> {
        let newest = self.releases.keys().next_back().copied();
        let mut arriving = match flow.before(environment.position) {
            None => newest.into_iter().collect(),
            Some(before) => self.through(flow, before),
        };
        arriving.retain(|release| {
            let state = self.state(&environment.name, *release);
            // What was cancelled was so in an environment of that name that is no longer there.
            state.is_none_or(|it| it == EntryState::Cancelled)
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
            states.filter_map(|state| self.newest(&environment.name, state))
        });
        let last = last.filter(|release| self.is_through(flow, position, *release));
        last.collect()
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

    /// Tells whether a release is through everything before an environment, soaked or not.
    pub(super) fn has_got_to(&self, flow: &Flow, environment: &Environment, release: u64) -> bool {
        let before = flow.before(environment.position);
        before.is_none_or(|it| self.is_through(flow, it, release))
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

    fn enter_environment(
        &mut self,
        environment: &Environment,
        release: u64,
        at: Timestamp,
        transitions: &mut Vec<Transition>,
    ) {
        let name = &environment.name;
        if let Some(cancelled) = self.entry_mut(name, release) {
            // Reports about the deployment that was cancelled are not about this one.
            *cancelled = Entry {
                state: cancelled.state,
                attempt: cancelled.attempt + 1,
                ..Entry::default()
            };
        }
        let newer = self.newer_than(name, release);
        let newer = newer.filter(|_| !self.clauses.is_dropped(Clause::Overtaken));
        if self.is_omitted(environment, release) {
            self.set(name, release, EntryState::Skipped, at, transitions);
        } else if let Some(newer) = newer {
            self.supersede(name, release, newer, at, transitions);
        } else if self.needs_promotion(environment, release) {
            self.set(name, release, EntryState::Held, at, transitions);
        } else {
            self.queue(name, release, at, transitions);
        }
    }

    pub(super) fn tick_one(
        &mut self,
        environment: &Environment,
        at: Timestamp,
        transitions: &mut Vec<Transition>,
    ) {
        let name = environment.name.as_str();
        let is_busy = self.newest(name, EntryState::Deploying).is_some();
        let is_busy = is_busy && !self.clauses.is_dropped(Clause::OneDeploying);
        let Some(release) = self.newest(name, EntryState::Queued).filter(|_| !is_busy) else {
            return;
        };
        let entry = self.entry(name, release).cloned().unwrap_or_default();
        if entry.since > at {
            return;
        }
        // Asked again: the environment, and what is deployed there, may be another than when the release was queued.
        match self.needs_promotion(environment, release) && !entry.is_promoted {
            true => self.set(name, release, EntryState::Held, at, transitions),
            false => self.take(name, release, at, transitions),
        }
    }

    /// Begins to deploy a release: from now on nothing else is live there.
    pub(super) fn take(
        &mut self,
        environment: &str,
        release: u64,
        at: Timestamp,
        transitions: &mut Vec<Transition>,
    ) {
        if !self.clauses.is_dropped(Clause::Replaced) {
            self.end_live(environment, at);
        }
        self.set(environment, release, EntryState::Deploying, at, transitions);
    }

    /// Queues a release in an environment; older ones that wait there make room.
    pub(super) fn queue(
        &mut self,
        environment: &str,
        release: u64,
        at: Timestamp,
        transitions: &mut Vec<Transition>,
    ) {
        self.make_room(environment, release, at, transitions);
        self.set(environment, release, EntryState::Queued, at, transitions);
    }

    /// Supersedes the older releases that wait in an environment.
    pub(super) fn make_room(
        &mut self,
        environment: &str,
        release: u64,
        at: Timestamp,
        transitions: &mut Vec<Transition>,
    ) {
        let waiting = self.all_in(environment, EntryState::is_waiting);
        for older in waiting.into_iter().filter(|it| *it < release) {
            if !self.clauses.is_dropped(Clause::Supersede) {
                self.supersede(environment, older, release, at, transitions);
            }
        }
    }

    fn supersede(
        &mut self,
        environment: &str,
        release: u64,
        by: u64,
        at: Timestamp,
        transitions: &mut Vec<Transition>,
    ) {
        self.set(
            environment,
            release,
            EntryState::Superseded,
            at,
            transitions,
        );
        if let Some(entry) = self.entry_mut(environment, release) {
            entry.superseded_by = Some(by);
        }
    }

    pub(super) fn set(
        &mut self,
        environment: &str,
        release: u64,
        state: EntryState,
        at: Timestamp,
        transitions: &mut Vec<Transition>,
    ) {
        let entries = self.entries.entry(environment.to_owned()).or_default();
        let before = entries.get(&release).map(|it| it.state);
        let entry = entries.entry(release).or_default();
        entry.state = state;
        entry.since = at;
        transitions.push(Transition {
            environment: environment.to_owned(),
            release,
            from: before,
            to: state,
        });
    }

    pub(super) fn entry_mut(&mut self, environment: &str, release: u64) -> Option<&mut Entry> {
        self.entries.get_mut(environment)?.get_mut(&release)
    }

    /// Returns the releases that are in some state in an environment, the oldest first.
    pub(super) fn all_in(
        &self,
        environment: &str,
        is_wanted: impl Fn(EntryState) -> bool,
    ) -> Vec<u64> {
        let wanted = self.entries(environment);
        let wanted = wanted.filter(|(_, entry)| is_wanted(entry.state));
        wanted.map(|(release, _)| release).collect()
    }
}
