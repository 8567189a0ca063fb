//! Stops: what keeps an environment from taking a release.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::future::just_before;
use super::{Environment, Freeze, Queues};
use crate::clauses::Clause;
use crate::name::TrackerName;

/// Somebody's word that nothing is taken until it is resumed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hold {
    /// The reason, as somebody gave it.
    pub reason: String,
    /// The one who gave it.
    pub by: String,
    /// The time since which it holds.
    pub since: Timestamp,
}

/// Holds by environment: those of one tracker, or those of environments as a whole.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Holds(BTreeMap<String, Hold>);

/// The reason why an environment takes nothing of a tracker at an instant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stop {
    /// The environment is held as a whole.
    Environment(Hold),
    /// The tracker is held there.
    Tracker(Hold),
    /// The environment is frozen.
    Freeze(Freeze),
}

impl Holds {
    /// Sets a hold. One that is there already gets the new reason, and holds since it was first set.
    pub fn hold(&mut self, environment: &str, hold: Hold) {
        let held = self.0.entry(environment.to_owned());
        let held = held.or_insert_with(|| hold.clone());
        *held = Hold {
            since: held.since,
            ..hold
        };
    }

    /// Ends a hold, and returns it.
    pub fn resume(&mut self, environment: &str) -> Option<Hold> {
        self.0.remove(environment)
    }

    /// Returns the hold of an environment.
    pub fn get(&self, environment: &str) -> Option<&Hold> {
        self.0.get(environment)
    }

    /// Returns all holds, each with its environment.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Hold)> {
        let all = self.0.iter();
        all.map(|(environment, hold)| (environment.as_str(), hold))
    }
}

impl FromIterator<(String, Hold)> for Holds {
    fn from_iter<T: IntoIterator<Item = (String, Hold)>>(holds: T) -> Self {
        Self(holds.into_iter().collect())
    }
}

impl Stop {
    /// Returns the instant at which it ends; nothing if somebody has to end it.
    pub(super) fn until(&self) -> Option<Timestamp> {
        match self {
            Self::Environment(_) | Self::Tracker(_) => None,
            Self::Freeze(freeze) => Some(freeze.until).filter(|_| !freeze.is_endless()),
        }
    }

    /// Returns who stops what, since or until when, and why.
    pub fn sentence(&self, environment: &Environment, tracker: &TrackerName) -> String {
        let name = &environment.name;
        let local = |at| environment.timeline.local(at);
        let held = |hold: &Hold| format!("held by {} since {}", hold.by, local(hold.since));
        let (stopped, reason) = match self {
            Self::Environment(hold) => (format!("`{name}` is {}", held(hold)), &hold.reason),
            Self::Tracker(hold) => {
                let held = held(hold);
                (format!("`{tracker}` is {held} in `{name}`"), &hold.reason)
            }
            Self::Freeze(freeze) if freeze.is_endless() => {
                (format!("`{name}` takes nothing"), &freeze.reason)
            }
            Self::Freeze(freeze) => {
                let until = local(freeze.until);
                (format!("`{name}` is frozen until {until}"), &freeze.reason)
            }
        };
        match reason.is_empty() {
            true => stopped,
            false => format!("{stopped}: {reason}"),
        }
    }
}

impl Freeze {
    /// Tells whether an instant is in it.
    pub fn contains(&self, at: Timestamp) -> bool {
        self.from <= at && (at < self.until || self.is_endless())
    }

    /// Tells whether it never ends.
    fn is_endless(&self) -> bool {
        self.until == Timestamp::MAX
    }
}

impl Environment {
    /// Returns the first tick after an instant that is in no freeze.
    pub fn next_open_tick(&self, at: Timestamp) -> Option<Timestamp> {
        let mut tick = self.timeline.next_after(at)?;
        while let Some(freeze) = self.freezes.iter().find(|it| it.contains(tick)) {
            let until = Some(freeze.until).filter(|_| !freeze.is_endless())?;
            tick = self.timeline.next_after(just_before(until))?;
        }
        Some(tick)
    }
}

/// Holds of this tracker
impl Queues {
    /// Returns the holds of the tracker, by environment.
    pub fn holds(&self) -> &Holds {
        &self.holds
    }

    /// Holds the tracker in an environment: nothing of it is taken there until it is resumed.
    pub fn hold(&mut self, environment: &str, hold: Hold) {
        self.holds.hold(environment, hold);
    }

    /// Ends the hold of the tracker in an environment, and returns it.
    pub fn resume(&mut self, environment: &str) -> Option<Hold> {
        self.holds.resume(environment)
    }

    /// Returns what keeps an environment from taking anything of the tracker at an instant; `halts` are the holds of
    /// environments as a whole.
    pub fn stop(&self, environment: &Environment, halts: &Holds, at: Timestamp) -> Option<Stop> {
        self.stops(environment, halts, at).next()
    }

    /// Returns everything that does.
    pub(super) fn stops(
        &self,
        environment: &Environment,
        halts: &Holds,
        at: Timestamp,
    ) -> impl Iterator<Item = Stop> + use<> {
        let is_asked = |clause| !self.clauses.is_dropped(clause);
        let name = environment.name.as_str();
        let halt = halts.get(name).filter(|_| is_asked(Clause::Halt));
        let hold = self.holds.get(name).filter(|_| is_asked(Clause::Hold));
        let mut freezes = environment.freezes.iter();
        let freeze = freezes.find(|it| it.contains(at) && is_asked(Clause::Freeze));
        let halt = halt.map(|it| Stop::Environment(it.clone()));
        let hold = hold.map(|it| Stop::Tracker(it.clone()));
        let freeze = freeze.map(|it| Stop::Freeze(it.clone()));
        [halt, hold, freeze].into_iter().flatten()
    }

    /// Returns what keeps an environment from taking a release. Nothing stops a rollback.
    pub(super) fn stop_of(
        &self,
        environment: &Environment,
        release: u64,
        halts: &Holds,
        at: Timestamp,
    ) -> Option<Stop> {
        let stop = self.stop(environment, halts, at);
        stop.filter(|_| !self.is_rollback(release))
    }
}
