//! Rollback: a new release with the content of an older one, for one environment alone.

use jiff::Timestamp;

use super::{Entry, EntryState, Environment, Flow, Hold, Holds, Queues, Restore, Stop, Transition};
use crate::clauses::Clause;
use crate::release::Release;

/// Says why nothing is rolled back.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotRolledBack {
    /// There is no such environment.
    #[error("there is no environment `{0}`")]
    NoEnvironment(String),
    /// The release is not known.
    #[error("there is no release {0}")]
    NoRelease(u64),
    /// Nothing else was deployed there.
    #[error("nothing else was deployed in `{0}` before; name a release to deploy its content")]
    Nothing(String),
    /// The release has not been in the environment, and could not be.
    #[error("release {release} has not got to `{environment}`")]
    NotThere {
        /// The environment.
        environment: String,
        /// The number of the release.
        release: u64,
    },
    /// The release was never deployed in the environment, which takes nothing new now.
    #[error("release {release} was never deployed in `{environment}`, and {stop}")]
    Stopped {
        /// The environment.
        environment: String,
        /// The number of the release.
        release: u64,
        /// The stop of the environment.
        stop: String,
    },
    /// A rollback is being deployed there already.
    #[error(
        "release {deploying}, a rollback, is being deployed in `{environment}`; name a release to deploy another one"
    )]
    Busy {
        /// The environment.
        environment: String,
        /// The number of that rollback.
        deploying: u64,
    },
    /// The tracker was deleted.
    #[error("the tracker was deleted")]
    Deleted,
}

impl Hold {
    /// Returns the hold that a rollback sets, for the reason that somebody gave, or for the rollback itself.
    pub fn of_rollback(to: u64, reason: Option<String>, by: String, since: Timestamp) -> Self {
        Self {
            reason: reason.unwrap_or_else(|| format!("rolled back to release {to}")),
            by,
            since,
        }
    }
}

impl Queues {
    /// Returns the release whose content a rollback of an environment brings back: the one that is named, or the newest
    /// that was deployed there before what was taken last, with another image or another configuration. `halts` are the
    /// holds of environments as a whole: nothing stops a rollback to what was deployed there before, but one that is
    /// named and never was is something new.
    ///
    /// # Errors
    /// If there is none, the one that is named has never got that far, or it is new there and the environment is held or
    /// frozen.
    pub fn rollback_target(
        &self,
        (flow, halts): (&Flow, &Holds),
        (environment, release): (&str, Option<u64>),
        at: Timestamp,
    ) -> Result<u64, NotRolledBack> {
        if self.is_deleted {
            return Err(NotRolledBack::Deleted);
        }
        let unknown = || NotRolledBack::NoEnvironment(environment.to_owned());
        let environment = flow.get(environment).ok_or_else(unknown)?;
        match release {
            Some(release) => {
                let target = self.named_target(flow, environment, release)?;
                self.may_roll_back((environment, halts), target, at)
            }
            None => self.usual_target(environment),
        }
    }

    /// Begins to deploy a rollback at once, whatever stops its environment, and holds the tracker there: it is skipped
    /// in all environments before, and goes nowhere else. What waits or is being deployed there makes room.
    pub fn roll_back(
        &mut self,
        flow: &Flow,
        release: &Release,
        hold: Hold,
        at: Timestamp,
    ) -> Vec<Transition> {
        let environment = release.rollback.as_ref();
        let environment = environment.and_then(|it| flow.get(&it.environment));
        let Some(environment) = environment.filter(|_| !self.is_deleted && !self.knows(release))
        else {
            return Vec::new();
        };
        let mut transitions = self.advance(flow, at);
        self.learn(release);
        let all = flow.environments().iter();
        for before in all.filter(|it| it.position < environment.position) {
            let state = EntryState::Skipped;
            self.set(&before.name, release.number, state, at, &mut transitions);
        }
        let name = environment.name.as_str();
        for open in self.all_in(name, |it| !it.is_terminal()) {
            self.supersede(name, open, release.number, at, &mut transitions);
        }
        self.take(name, release.number, at, &mut transitions);
        if !self.clauses.is_dropped(Clause::RollbackHolds) {
            self.hold(name, hold);
        }
        transitions
    }

    /// Returns the environment that a release is for, if it is a rollback.
    pub(super) fn only(&self, release: u64) -> Option<&str> {
        let only = self.releases.get(&release)?.only.as_deref();
        only.filter(|_| !self.clauses.is_dropped(Clause::Alone))
    }

    pub(super) fn is_rollback(&self, release: u64) -> bool {
        let release = self.releases.get(&release);
        release.is_some_and(|it| it.only.is_some())
    }

    fn named_target(
        &self,
        flow: &Flow,
        environment: &Environment,
        release: u64,
    ) -> Result<u64, NotRolledBack> {
        if !self.releases.contains_key(&release) {
            return Err(NotRolledBack::NoRelease(release));
        }
        let has_been_there = match self.state(&environment.name, release) {
            Some(state) => state != EntryState::Skipped,
            None => self.could_be_in(flow, environment, release),
        };
        has_been_there
            .then_some(release)
            .ok_or_else(|| NotRolledBack::NotThere {
                environment: environment.name.clone(),
                release,
            })
    }

    /// Refuses what was never deployed in an environment while that is held as a whole, or frozen. The hold of the
    /// tracker there is no reason: the rollback before has set it.
    fn may_roll_back(
        &self,
        (environment, halts): (&Environment, &Holds),
        release: u64,
        at: Timestamp,
    ) -> Result<u64, NotRolledBack> {
        let name = environment.name.as_str();
        let was_deployed = self.state(name, release) == Some(EntryState::Deployed);
        let stops = self.stops(environment, halts, at);
        let mut stops = stops.filter(|it| !was_deployed && !matches!(it, Stop::Tracker(_)));
        match stops.next() {
            Some(stop) => Err(NotRolledBack::Stopped {
                environment: name.to_owned(),
                release,
                stop: stop.sentence(environment, &self.tracker),
            }),
            None => Ok(release),
        }
    }

    fn usual_target(&self, environment: &Environment) -> Result<u64, NotRolledBack> {
        let name = environment.name.as_str();
        let nothing = || NotRolledBack::Nothing(name.to_owned());
        let (taken, entry) = self.taken_last(name).ok_or_else(nothing)?;
        if entry.state == EntryState::Deploying && self.is_rollback(taken) {
            return Err(NotRolledBack::Busy {
                environment: name.to_owned(),
                deploying: taken,
            });
        }
        let content = |release: u64| self.releases.get(&release).map(|it| &it.content);
        let deployed = self.all_in(name, |it| it == EntryState::Deployed);
        let mut newest_first = deployed.into_iter().rev().filter(|it| *it < taken);
        let target = newest_first.find(|it| content(*it) != content(taken));
        target.ok_or_else(nothing)
    }

    /// Tells whether a release is deployed in an environment, and nothing was written there since.
    pub fn is_deployed_now(&self, environment: &str, release: u64) -> bool {
        let taken = self.taken_last(environment);
        taken.is_some_and(|(taken, entry)| taken == release && entry.state == EntryState::Deployed)
    }

    /// Returns the release that has failed after another one was deployed in an environment, if its objects were written
    /// over those and nothing is restored, or about to be.
    pub(super) fn failed_since(&self, environment: &str) -> Option<u64> {
        let (taken, entry) = self.taken_last(environment)?;
        let is_kept = match entry.state {
            EntryState::Failed => entry.restore != Some(Restore::Pending),
            EntryState::Queued => true,
            _ => false,
        };
        is_kept.then_some(taken)
    }

    /// Returns the release whose objects an environment has: the one that was taken last, unless that has failed and
    /// what was deployed is restored. One that has failed and waits to be tried again is still what is there.
    pub(super) fn taken_last(&self, environment: &str) -> Option<(u64, &Entry)> {
        let entries = self.entries(environment);
        let taken = entries.filter(|(_, entry)| match entry.state {
            EntryState::Deploying | EntryState::Deployed | EntryState::Failed => true,
            EntryState::Queued => entry.attempt > 0,
            _ => false,
        });
        let (release, entry) = taken.max_by_key(|(release, entry)| (entry.since, *release))?;
        let is_undone = !entry.state.is_terminal() || entry.state == EntryState::Failed;
        match is_undone && entry.restore == Some(Restore::Done) {
            false => Some((release, entry)),
            true => {
                let deployed = self.newest(environment, EntryState::Deployed)?;
                Some((deployed, self.entry(environment, deployed)?))
            }
        }
    }
}
