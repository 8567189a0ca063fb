//! Advancing: what a release does between two environments.

use jiff::Timestamp;

use super::{Entry, EntryState, Environment, Flow, Queues, Transition};
use crate::clauses::Clause;

impl Queues {
    /// Queues a release at a position, and behind it where nothing is to be deployed.
    pub(super) fn enter_position(
        &mut self,
        flow: &Flow,
        position: u32,
        release: u64,
        at: Timestamp,
        transitions: &mut Vec<Transition>,
    ) {
        for environment in flow.at(position) {
            if self.entry(&environment.name, release).is_none() {
                self.enter_environment(environment, release, at, transitions);
            }
        }
        self.go_on(flow, position, release, at, transitions);
    }

    fn enter_environment(
        &mut self,
        environment: &Environment,
        release: u64,
        at: Timestamp,
        transitions: &mut Vec<Transition>,
    ) {
        let name = &environment.name;
        let vetos = self.releases.get(&release).map(|it| it.vetos.clone());
        let vetos = vetos.unwrap_or_default();
        let is_omitted = environment.omits(&self.tracker, &vetos);
        let newer = self.newer_than(name, release);
        let newer = newer.filter(|_| !self.clauses.is_dropped(Clause::Overtaken));
        if is_omitted && !self.clauses.is_dropped(Clause::Omit) {
            self.set(name, release, EntryState::Skipped, at, transitions);
        } else if let Some(newer) = newer {
            self.supersede(name, release, newer, at, transitions);
        } else if self.needs_promotion(environment, release) {
            self.set(name, release, EntryState::Held, at, transitions);
        } else {
            self.queue(name, release, at, transitions);
        }
    }

    /// Goes on to the next position, if every environment of one has deployed or skipped a release.
    pub(super) fn go_on(
        &mut self,
        flow: &Flow,
        position: u32,
        release: u64,
        at: Timestamp,
        transitions: &mut Vec<Transition>,
    ) {
        let is_through = |environment: &Environment| {
            let state = self.entry(&environment.name, release).map(|it| it.state);
            let is_through = matches!(state, Some(EntryState::Deployed | EntryState::Skipped));
            let is_failed = state == Some(EntryState::Failed);
            is_through || is_failed && self.clauses.is_dropped(Clause::DeployedFirst)
        };
        let is_through = flow.at(position).all(is_through);
        if let Some(next) = flow.after(position).filter(|_| is_through) {
            self.enter_position(flow, next, release, at, transitions);
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
        let state = match self.needs_promotion(environment, release) && !entry.is_promoted {
            true => EntryState::Held,
            false => EntryState::Deploying,
        };
        self.set(name, release, state, at, transitions);
    }

    /// Queues a release in an environment; older ones that wait there make room.
    pub(super) fn queue(
        &mut self,
        environment: &str,
        release: u64,
        at: Timestamp,
        transitions: &mut Vec<Transition>,
    ) {
        let older = self.entries(environment).filter(|(it, _)| *it < release);
        let waiting = older.filter(|(_, entry)| entry.state.is_waiting());
        let waiting: Vec<_> = waiting.map(|(release, _)| release).collect();
        for older in waiting {
            if !self.clauses.is_dropped(Clause::Supersede) {
                self.supersede(environment, older, release, at, transitions);
            }
        }
        self.set(environment, release, EntryState::Queued, at, transitions);
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

    pub(super) fn all(&self, is_wanted: impl Fn(EntryState) -> bool) -> Vec<(String, u64)> {
        let all = self.entries.iter();
        let all = all.flat_map(|(name, entries)| entries.iter().map(move |it| (name, it)));
        let wanted = all.filter(|(_, (_, entry))| is_wanted(entry.state));
        wanted
            .map(|(name, (release, _))| (name.clone(), *release))
            .collect()
    }
}
