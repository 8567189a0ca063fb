//! The future in words: when an environment takes a release, or why it does not.

use jiff::Timestamp;

use super::sentence::Asked;
use crate::queue::{EntryState, Promotion, Stop};
use crate::version::Level;

impl Asked<'_> {
    /// Goes on from what there is to what happens in the environment.
    pub(super) fn then(&self, there: String) -> String {
        match self.coming() {
            Some(coming) => format!("{there}; {coming}"),
            None => there,
        }
    }

    /// Says what happens in the environment when the release gets there.
    fn coming(&self) -> Option<String> {
        let name = self.name();
        if let Some(taken_at) = self.taken_at() {
            let taken_at = self.local(taken_at);
            // How long deployments take before that is not known.
            let takes = match self.is_next() {
                true => format!("takes it at {taken_at}"),
                false => format!("takes it at {taken_at} at the earliest"),
            };
            return Some(match self.freeze() {
                Some(freeze) => format!("{freeze}, and {takes}"),
                None => format!("`{name}` {takes}"),
            });
        }
        let ended = self.future.queues.standing(name, self.release)?;
        match ended.state {
            EntryState::Queued => Some(self.stopped()),
            EntryState::Held => {
                let promote = self.command("promote", &format!(" --release {}", self.release));
                Some(format!(
                    "{}, and it will be held there; {promote}",
                    self.held_by()
                ))
            }
            EntryState::Skipped => Some(self.skipped()),
            EntryState::Superseded => {
                let by = ended.superseded_by?;
                Some(format!("release {by} takes its place in `{name}`"))
            }
            _ => None,
        }
    }

    /// Tells whether nothing has to be deployed before the environment takes the release.
    fn is_next(&self) -> bool {
        let (queues, name) = (self.queues, self.name());
        let is_free = queues.newest(name, EntryState::Deploying).is_none();
        is_free && queues.has_got_to(self.flow, self.environment, self.release)
    }

    /// Returns the freeze that lets the first tick pass at which the release could be taken.
    fn freeze(&self) -> Option<String> {
        let queued = self.future.queued.get(self.name());
        let queued = queued.copied().unwrap_or(self.now);
        let stop = self.stop(self.environment.timeline.next_after(queued)?)?;
        Some(stop.sentence(self.environment, &self.queues.tracker))
    }

    fn stop(&self, at: Timestamp) -> Option<Stop> {
        let environment = self.environment;
        self.queues
            .stop_of(environment, self.release, self.halts, at)
    }

    /// Says why what is queued is never taken.
    fn stopped(&self) -> String {
        let name = self.name();
        if let Some(held) = self.on_hold() {
            return held;
        }
        match self.stop(self.now) {
            Some(stop) => stop.sentence(self.environment, &self.queues.tracker),
            None => format!("the timeline of `{name}` has no tick that could take it"),
        }
    }

    /// Says who holds the environment, and the tracker there, each with the command that ends it.
    pub(super) fn on_hold(&self) -> Option<String> {
        let (queues, name) = (self.queues, self.name());
        let stops = queues.stops(self.environment, self.halts, self.now);
        let held = stops.filter_map(|stop| {
            let resume = match stop {
                Stop::Environment(_) => format!("`pathline release resume {name}`"),
                Stop::Tracker(_) => self.command("resume", ""),
                Stop::Freeze(_) => return None,
            };
            let sentence = stop.sentence(self.environment, &queues.tracker);
            Some(format!("{sentence}; {resume}"))
        });
        let held: Vec<_> = held.collect();
        (!held.is_empty()).then(|| held.join("; "))
    }

    /// Says why the release has to be promoted.
    pub(super) fn held_by(&self) -> String {
        let (name, tracker) = (self.name(), &self.queues.tracker);
        let queued = self.queues.releases.get(&self.release);
        match self.step() {
            _ if queued.is_some_and(|it| !it.vetos.auto_deploy) => {
                format!("`{tracker}` is deployed by hand (`autoDeploy: false`)")
            }
            _ if self.environment.promotion == Promotion::Manual => {
                format!("`{name}` is promoted by hand")
            }
            Some((level, accepts)) if level > accepts => {
                let (level, accepts) = (level.as_str(), accepts.as_str());
                format!("it is a step of level {level}, and `{name}` accepts {accepts}")
            }
            _ => "it waits to be promoted".to_owned(),
        }
    }

    /// Returns the level of the step to the release, and the one that the environment accepts.
    fn step(&self) -> Option<(Level, Level)> {
        let tag = |release| {
            let release = self.queues.releases.get(&release);
            release.map(|it| it.content.image.tag.as_str())
        };
        let deployed = self.queues.newest(self.name(), EntryState::Deployed)?;
        let level = Level::between(tag(deployed)?, tag(self.release)?);
        Some((level, self.environment.accepts?))
    }
}
