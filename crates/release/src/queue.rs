//! Queues: where a release goes, one environment after the other.
//!
//! Each environment pulls: at a tick of its timeline it takes the newest release that is queued there. A release is
//! queued in the first environment when it is formed, and in the next when it is deployed in the one before, and has
//! been live there for long enough. [`Queues`] are those of one tracker. Every change of a state is a [`Transition`], to
//! be stored before anything is done; [`Queues::changes`] has all that changed.

mod advance;
mod awaited;
mod entry;
mod environment;
mod flow;
mod foremost;
mod future;
mod live;
mod moves;
mod promotion;
mod queued;
mod restore;
mod rollback;
mod soak;
mod stop;
mod why;
mod work;

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

pub use self::awaited::Awaited;
pub use self::entry::{Entry, EntryState, Transition};
pub use self::environment::{Environment, Freeze, OnFailure, Promotion, READY_TIMEOUT};
pub use self::flow::{Flow, InvalidFlow};
pub use self::live::Live;
pub use self::promotion::NotPromoted;
use self::queued::QueuedRelease;
pub use self::restore::{Restore, Restoring};
pub use self::rollback::NotRolledBack;
pub use self::stop::{Hold, Holds, Stop};
pub use self::why::Why;
pub use self::work::{Deploying, Work};
use crate::clauses::{Clause, Clauses};
use crate::name::TrackerName;
use crate::release::Release;
use crate::version::Level;

/// The queues of one tracker: what became of its releases in each environment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Queues {
    tracker: TrackerName,
    releases: BTreeMap<u64, QueuedRelease>,
    /// By environment, and then by release.
    entries: BTreeMap<String, BTreeMap<u64, Entry>>,
    #[serde(default)]
    holds: Holds,
    is_deleted: bool,
    #[serde(skip)]
    clauses: Clauses,
}

/// The end of a deployment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Report {
    /// It is ready.
    Ready,
    /// It failed, with the reason.
    Failed(String),
}

/// Queries
impl Queues {
    /// Returns the queues of a tracker without releases.
    pub fn new(tracker: TrackerName) -> Self {
        Self {
            tracker,
            releases: BTreeMap::new(),
            entries: BTreeMap::new(),
            holds: Holds::default(),
            is_deleted: false,
            clauses: Clauses::default(),
        }
    }

    /// Returns the queues of a tracker as they were stored: releases, each with its entries by environment, and all
    /// holds of the tracker.
    ///
    /// With these releases, each with all of its entries, they go on as if they had all:
    ///
    /// - those that are queued, held or deploying somewhere, or have failed where something is still to be restored;
    /// - of each environment the newest that is deployed, the newest that has failed, the one that has failed last, and the
    ///   newest that is skipped and no rollback;
    /// - the newest of all, and the newest that is no rollback;
    /// - where a release is named ([`Queues::promote`], [`Queues::promote_now`], [`Queues::rollback_target`],
    ///   [`Queues::why`]) that one, those that have superseded it, and of each environment the next one that was
    ///   deployed;
    /// - for [`Queues::rollback_target`] all that are deployed or have failed in the environment.
    pub fn restored(
        tracker: TrackerName,
        releases: impl IntoIterator<Item = (Release, BTreeMap<String, Entry>)>,
        holds: Holds,
        is_deleted: bool,
    ) -> Self {
        let mut queues = Self {
            holds,
            is_deleted,
            ..Self::new(tracker)
        };
        for (release, entries) in releases {
            queues.learn(&release);
            for (environment, entry) in entries {
                let entries = queues.entries.entry(environment).or_default();
                entries.insert(release.number, entry);
            }
        }
        queues
    }

    /// Returns what became of a release in an environment.
    pub fn entry(&self, environment: &str, release: u64) -> Option<&Entry> {
        self.entries.get(environment)?.get(&release)
    }

    /// Returns what counts of a release in an environment: whatever was cancelled while the tracker is there may come
    /// again, as if it had never been there.
    fn standing(&self, environment: &str, release: u64) -> Option<&Entry> {
        let entry = self.entry(environment, release);
        entry.filter(|it| it.state != EntryState::Cancelled || self.is_deleted)
    }

    /// Returns the state of a release in an environment.
    fn state(&self, environment: &str, release: u64) -> Option<EntryState> {
        self.standing(environment, release).map(|it| it.state)
    }

    /// Returns the entries that are not as they were before: all that has to be stored of them.
    pub fn changes<'a>(
        &'a self,
        before: &'a Self,
    ) -> impl Iterator<Item = (&'a str, u64, &'a Entry)> + use<'a> {
        let environments = self.entries.keys();
        let entries = environments.flat_map(|environment| {
            let entries = self.entries(environment);
            entries.map(move |(release, entry)| (environment.as_str(), release, entry))
        });
        entries.filter(|(environment, release, entry)| {
            before.entry(environment, *release) != Some(*entry)
        })
    }

    /// Returns what became of each release in an environment, the oldest first.
    pub fn entries(
        &self,
        environment: &str,
    ) -> impl DoubleEndedIterator<Item = (u64, &Entry)> + use<'_> {
        let entries = self.entries.get(environment).into_iter().flatten();
        entries.map(|(release, entry)| (*release, entry))
    }

    /// Returns the newest release that is in a state in an environment.
    pub fn newest(&self, environment: &str, state: EntryState) -> Option<u64> {
        let mut newest_first = self.entries(environment).rev();
        let found = newest_first.find(|(_, entry)| entry.state == state);
        found.map(|(release, _)| release)
    }

    /// Returns the release that has replaced one that was deployed in an environment: the next one that was.
    pub fn replaced_by(&self, environment: &str, release: u64) -> Option<u64> {
        let mut entries = self.entries(environment);
        let is_next = |it: u64, entry: &Entry| it > release && entry.state == EntryState::Deployed;
        let found = entries.find(|(it, entry)| is_next(*it, entry));
        found.map(|(newer, _)| newer)
    }

    /// Tells whether a release was entered already, or a later one.
    fn knows(&self, release: &Release) -> bool {
        self.releases.keys().next_back() >= Some(&release.number)
    }

    #[cfg(feature = "clauses")]
    pub(crate) fn clauses_mut(&mut self) -> &mut Clauses {
        &mut self.clauses
    }

    /// Returns the newest release after one that is queued, deploying or deployed in an environment.
    fn newer_than(&self, environment: &str, release: u64) -> Option<u64> {
        let mut newest_first = self.entries(environment).rev();
        let found = newest_first.find(|(_, entry)| {
            matches!(
                entry.state,
                EntryState::Queued | EntryState::Deploying | EntryState::Deployed
            )
        });
        found
            .map(|(newer, _)| newer)
            .filter(|newer| *newer > release)
    }

    /// Tells whether a release is passed over in an environment.
    fn is_omitted(&self, environment: &Environment, release: u64) -> bool {
        let vetos = self.releases.get(&release).map(|it| &it.vetos);
        let is_omitted = vetos.is_some_and(|it| environment.omits(&self.tracker, it));
        is_omitted && !self.clauses.is_dropped(Clause::Omit)
    }

    /// Tells whether an environment takes a release only when somebody has promoted it.
    fn needs_promotion(&self, environment: &Environment, release: u64) -> bool {
        let vetos = self.releases.get(&release).map(|it| &it.vetos);
        let is_vetoed = vetos.is_some_and(|it| !it.auto_deploy);
        let is_manual = environment.promotion == Promotion::Manual;
        is_vetoed && !self.clauses.is_dropped(Clause::Veto)
            || is_manual && !self.clauses.is_dropped(Clause::Manual)
            || self.is_above(environment, release)
    }

    /// Tells whether a release is above the level that an environment accepts by itself.
    fn is_above(&self, environment: &Environment, release: u64) -> bool {
        let deployed = self.newest(&environment.name, EntryState::Deployed);
        let tag_of = |release| {
            self.releases
                .get(&release)
                .map(|it| it.content.image.tag.as_str())
        };
        let (Some(accepts), Some(from), Some(to)) = (
            environment.accepts,
            deployed.and_then(tag_of),
            tag_of(release),
        ) else {
            return false;
        };
        Level::between(from, to) > accepts && !self.clauses.is_dropped(Clause::Accepts)
    }
}

/// Transitions
impl Queues {
    /// Queues a release that was formed, in the first environment; a release that is known already is not queued again.
    pub fn enter(&mut self, flow: &Flow, release: &Release, at: Timestamp) -> Vec<Transition> {
        if self.is_deleted || self.knows(release) {
            return Vec::new();
        }
        self.learn(release);
        self.advance(flow, at)
    }

    /// Lets environments take what is queued there, all at the same instant; `halts` are the holds of environments as
    /// a whole.
    pub fn tick(
        &mut self,
        (flow, halts): (&Flow, &Holds),
        environments: &[&str],
        at: Timestamp,
    ) -> Vec<Transition> {
        let mut transitions = self.advance(flow, at);
        // The last ones first: nothing that one of them takes can reach another one at the same instant.
        let ticking = flow.environments().iter().rev();
        for environment in ticking.filter(|it| environments.contains(&it.name.as_str())) {
            self.tick_one((environment, halts), at, &mut transitions);
        }
        transitions
    }

    /// Takes the report about a deployment. One that is repeated, late, or of an earlier attempt changes nothing.
    pub fn report(
        &mut self,
        flow: &Flow,
        (environment, release): (&str, u64),
        attempt: u32,
        report: Report,
        at: Timestamp,
    ) -> Vec<Transition> {
        let entry = self.entry(environment, release);
        let is_open = entry.is_some_and(|it| {
            let is_open = it.state == EntryState::Deploying && it.attempt == attempt;
            self.clauses.holds(Clause::Settled, is_open)
        });
        if !is_open {
            return Vec::new();
        }
        let mut transitions = Vec::new();
        let (state, message) = match report {
            Report::Ready => (EntryState::Deployed, None),
            Report::Failed(message) => (EntryState::Failed, Some(message)),
        };
        self.set(environment, release, state, at, &mut transitions);
        if let Some(entry) = self.entry_mut(environment, release) {
            entry.message = message;
            if state == EntryState::Deployed {
                entry.live.begin(at);
            }
        }
        if let Some(environment) = flow
            .get(environment)
            .filter(|_| state == EntryState::Failed)
        {
            self.begin_restore(environment, release);
        }
        transitions.extend(self.advance(flow, at));
        transitions
    }

    /// Notes something about an attempt that is being deployed, or was: how far it has got, or what it lacks. It moves
    /// nothing. What is said of any other attempt is not noted; the reason of a failure stays.
    pub fn note(
        &mut self,
        (environment, release): (&str, u64),
        attempt: u32,
        message: Option<String>,
    ) {
        let entry = self.entry_mut(environment, release);
        let entry = entry.filter(|it| {
            let was_taken = matches!(it.state, EntryState::Deploying | EntryState::Deployed);
            was_taken && it.attempt == attempt
        });
        if let Some(entry) = entry {
            entry.message = message;
        }
    }

    /// Fails what has not become ready in time, restorations included.
    pub fn expire(&mut self, flow: &Flow, at: Timestamp) -> Vec<Transition> {
        let mut transitions = Vec::new();
        for environment in flow.environments() {
            let (name, timeout) = (environment.name.as_str(), environment.ready_timeout);
            let has_expired = |since| at.duration_since(since) >= timeout;
            let failed = |note: Option<String>| {
                let note = note.map(|it| format!(": {it}")).unwrap_or_default();
                Report::Failed(format!("not ready after {timeout:#}{note}"))
            };
            for release in self.all_in(name, |it| it == EntryState::Deploying) {
                let entry = self.entry(name, release).cloned().unwrap_or_default();
                if has_expired(entry.since) {
                    let (of_release, failed) = ((name, release), failed(entry.message));
                    transitions.extend(self.report(flow, of_release, entry.attempt, failed, at));
                }
            }
            let restoring = self.restoring(name);
            if let Some(it) = restoring.filter(|it| has_expired(it.since)) {
                self.report_restore((name, it.failed), it.attempt, failed(None), at);
            }
        }
        transitions
    }

    fn learn(&mut self, release: &Release) {
        let queued = QueuedRelease::of(release);
        self.releases.insert(release.number, queued);
    }

    /// Ends the way of everything that waits. A deployment under way ends as it does, and goes no further.
    pub fn delete(&mut self, at: Timestamp) -> Vec<Transition> {
        self.is_deleted = true;
        let mut transitions = Vec::new();
        let environments: Vec<_> = self.entries.keys().cloned().collect();
        for environment in environments {
            self.end_restore(&environment);
            for release in self.all_in(&environment, EntryState::is_waiting) {
                let state = EntryState::Cancelled;
                self.set(&environment, release, state, at, &mut transitions);
            }
        }
        transitions
    }
}
