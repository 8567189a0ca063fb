//! Absence in words: how far a release has got that has no entry in an environment.

use super::Why;
use super::sentence::Asked;
use crate::queue::{Entry, EntryState};

impl Asked<'_> {
    pub(super) fn not_there(&self) -> (String, bool) {
        if self.queues.is_deleted {
            ("the tracker was deleted".to_owned(), true)
        } else if let Some(alone) = self.alone() {
            (alone, true)
        } else if let Some(blocking) = self.blocking() {
            self.before(blocking)
        } else if self.queues.is_omitted(self.environment, self.release) {
            (self.skipped(), true)
        } else if let Some(newer) = self.queues.newer_than(self.name(), self.release) {
            (self.replaced(newer), true)
        } else {
            (self.soaking(), false)
        }
    }

    /// Returns the first environment before that the release is not through.
    fn blocking(&self) -> Option<&Why> {
        let has_got_there = self
            .queues
            .has_got_to(self.flow, self.environment, self.release);
        let is_through =
            |it: &&Why| matches!(it.state, Some(EntryState::Deployed | EntryState::Skipped));
        let position = |it: &Why| self.flow.get(&it.environment).map(|it| it.position);
        let mut before = self
            .before
            .iter()
            .filter(|it| !has_got_there && !is_through(it));
        before.find(|it| position(it) < Some(self.environment.position))
    }

    fn before(&self, blocking: &Why) -> (String, bool) {
        let (release, there) = (self.release, &blocking.environment);
        let sentence = match blocking.state {
            Some(EntryState::Failed) => format!("release {release} has failed in `{there}`"),
            Some(state) => format!("release {release} is {state} in `{there}`"),
            None => format!("release {release} has not got to `{there}`"),
        };
        let ended = self.future.queues.state(self.name(), release);
        let never = blocking.never || ended == Some(EntryState::Skipped);
        // Where nothing comes by itself, it is the environment before that says what to do.
        match blocking.earliest.is_none() && ended.is_none() {
            true => (format!("in `{there}`: {}", blocking.sentence), never),
            false => (self.then(sentence), never),
        }
    }

    /// Says how long the release soaks, or why it stays behind.
    fn soaking(&self) -> String {
        let (flow, environment, release) = (self.flow, self.environment, self.release);
        let is_arriving = self.queues.arriving(flow, environment).contains(&release);
        let soaked_at = self.queues.soaked_at(flow, environment, release);
        let places = self.places(|_| true);
        match soaked_at {
            Some(soaked_at) if is_arriving => {
                let soaked_at = self.local(soaked_at);
                let soaks = format!("release {release} soaks in {places} until {soaked_at}");
                match self.replaced_while_soaking() {
                    None => self.then(soaks),
                    Some(by) => self.promoted_now(&format!(
                        "{soaks}, and release {by} takes its place there before"
                    )),
                }
            }
            None if is_arriving => {
                let needed = environment.soak;
                let places = self.places(|it| it.live.reaches(needed).is_none());
                let asking = format!("`pathline release why {}", self.queues.tracker);
                self.promoted_now(&format!(
                    "release {release} soaks, and is not live in {places}: {asking} --release {release}` says why"
                ))
            }
            _ => self.promoted_now(&format!("release {release} was replaced in {places}")),
        }
    }

    /// Returns the release that is taken where this one soaks before it has soaked.
    fn replaced_while_soaking(&self) -> Option<u64> {
        let ended = &self.future.queues;
        if ended.state(self.name(), self.release).is_some() {
            return None;
        }
        let position = ended.deployed_before(self.flow, self.environment, self.release)?;
        let newest = |name: &str| ended.newest(name, EntryState::Deployed);
        let newest = self.flow.at(position).filter_map(|it| newest(&it.name));
        newest.filter(|it| *it > self.release).max()
    }

    fn promoted_now(&self, there: &str) -> String {
        let options = format!(" --release {} --now", self.release);
        let promote = self.command("promote", &options);
        format!("{there}; {promote} deploys it all the same")
    }

    /// Returns the environments that the release soaks in, of those that are wanted.
    fn places(&self, is_wanted: impl Fn(&Entry) -> bool) -> String {
        let queues = self.queues;
        let position = queues.deployed_before(self.flow, self.environment, self.release);
        let environments = position.into_iter().flat_map(|it| self.flow.at(it));
        let wanted = environments.filter(|it| {
            let entry = queues.entry(&it.name, self.release);
            entry.is_some_and(|it| it.state == EntryState::Deployed && is_wanted(it))
        });
        let wanted: Vec<_> = wanted.map(|it| format!("`{}`", it.name)).collect();
        wanted.join(", ")
    }
}
