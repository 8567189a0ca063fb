//! Moves: the changes of single entries, of which all else is made.

use jiff::Timestamp;

use super::{Entry, EntryState, Environment, Holds, Queues, Transition};
use crate::clauses::Clause;

impl Queues {
    /// Makes the entry of a release in an environment that it has got to.
    pub(super) fn enter_environment(
        &mut self,
        environment: &Environment,
        release: u64,
        at: Timestamp,
        transitions: &mut Vec<Transition>,
    ) {
        let name = &environment.name;
        let is_new_attempt = !self.clauses.is_dropped(Clause::Again);
        if let Some(cancelled) = self.entry_mut(name, release) {
            // Reports about the deployment that was cancelled are not about this one.
            *cancelled = Entry {
                state: cancelled.state,
                attempt: cancelled.attempt + u32::from(is_new_attempt),
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

    /// Lets an environment take what is queued there, unless something stops it.
    pub(super) fn tick_one(
        &mut self,
        (environment, halts): (&Environment, &Holds),
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
        let stop = self.stop_of(environment, release, halts, at);
        if entry.since > at || stop.is_some() {
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
        self.end_restore(environment);
        self.set(environment, release, EntryState::Deploying, at, transitions);
        if let Some(entry) = self.entry_mut(environment, release) {
            // What followed an earlier attempt is over, however it went.
            entry.restore = None;
        }
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

    pub(super) fn supersede(
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
