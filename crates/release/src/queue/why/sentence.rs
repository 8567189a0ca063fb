//! The sentences about what is there.

use jiff::Timestamp;

use super::Why;
use crate::queue::future::Future;
use crate::queue::{Entry, EntryState, Environment, Flow, Holds, Queues, Restore};

/// A question about one release in one environment.
#[derive(Clone, Copy)]
pub(super) struct Asked<'a> {
    pub(super) queues: &'a Queues,
    pub(super) future: &'a Future,
    pub(super) flow: &'a Flow,
    pub(super) halts: &'a Holds,
    pub(super) release: u64,
    pub(super) now: Timestamp,
    pub(super) environment: &'a Environment,
    /// The answers for the environments before.
    pub(super) before: &'a [Why],
}

impl Asked<'_> {
    pub(super) fn answer(self) -> Why {
        let entry = self.queues.standing(self.name(), self.release);
        let state = entry.map(|it| it.state);
        let (sentence, never) = match (state, entry) {
            (Some(EntryState::Deployed), Some(entry)) => (self.deployed(entry), false),
            (Some(EntryState::Deploying), Some(entry)) => (self.deploying(entry), false),
            (Some(EntryState::Queued), _) => (self.queued(), false),
            (Some(EntryState::Held), _) => (self.held(), false),
            (Some(EntryState::Failed), Some(entry)) => self.failed(entry),
            (Some(EntryState::Superseded), Some(entry)) => (self.superseded(entry), true),
            (Some(EntryState::Skipped), _) => (self.skipped(), true),
            (Some(EntryState::Cancelled), _) => (self.cancelled(), true),
            _ => self.not_there(),
        };
        let earliest = self.taken_at();
        // Also where nothing waits: what comes next is held.
        let held = self.on_hold().filter(|it| !never && !sentence.contains(it));
        Why {
            environment: self.name().to_owned(),
            state,
            sentence: match held {
                Some(held) => format!("{sentence}; {held}"),
                None => sentence,
            },
            earliest,
            never: never && earliest.is_none(),
        }
    }

    pub(super) fn name(&self) -> &str {
        &self.environment.name
    }

    pub(super) fn local(&self, at: Timestamp) -> String {
        self.environment.timeline.local(at)
    }

    /// Returns the instant at which the environment takes the release, if nothing else happens.
    pub(super) fn taken_at(&self) -> Option<Timestamp> {
        self.future.taken.get(self.name()).copied()
    }

    /// Returns a command about the tracker in the environment.
    pub(super) fn command(&self, verb: &str, options: &str) -> String {
        let (name, tracker) = (self.name(), &self.queues.tracker);
        format!("`pathline release {verb} {name} {tracker}{options}`")
    }

    fn deployed(&self, entry: &Entry) -> String {
        let release = self.release;
        match self.queues.replaced_by(self.name(), release) {
            Some(newer) => {
                format!("release {release} was deployed; release {newer} has replaced it")
            }
            None => self.deployed_last(entry),
        }
    }

    /// Says of the release that was deployed last whether it is what the environment still has.
    fn deployed_last(&self, entry: &Entry) -> String {
        let (release, since) = (self.release, self.local(entry.since));
        if let Some(failed) = self.queues.failed_since(self.name()) {
            let again = self.command("rollback", &format!(" --release {release}"));
            return format!(
                "release {release} was deployed since {since}; release {failed}, which has failed, was written in its \
                 place; {again} brings it back"
            );
        }
        noted(
            format!("release {release} is deployed since {since}"),
            entry,
        )
    }

    fn deploying(&self, entry: &Entry) -> String {
        let (release, since) = (self.release, self.local(entry.since));
        noted(
            format!("release {release} is being deployed since {since}"),
            entry,
        )
    }

    fn queued(&self) -> String {
        let release = self.release;
        let deploying = self.queues.newest(self.name(), EntryState::Deploying);
        match deploying {
            None => self.then(format!("release {release} is queued")),
            Some(other) => self.then(format!(
                "release {release} is queued behind release {other}, which is being deployed"
            )),
        }
    }

    fn held(&self) -> String {
        let promote = self.command("promote", &format!(" --release {}", self.release));
        format!(
            "release {} is held: {}; {promote}",
            self.release,
            self.held_by()
        )
    }

    fn failed(&self, entry: &Entry) -> (String, bool) {
        let release = self.release;
        let message = entry.message.as_deref().unwrap_or("no reason was given");
        let failed = format!("release {release} has failed: {message}");
        if let Some(newer) = self.queues.newer_than(self.name(), release) {
            return (format!("{failed}; release {newer} has replaced it"), true);
        }
        let restored = self.restored(entry).unwrap_or_default();
        let promote = self.command("promote", &format!(" --release {release}"));
        (format!("{failed}{restored}; {promote} tries again"), false)
    }

    fn restored(&self, entry: &Entry) -> Option<String> {
        let deployed = self.queues.newest(self.name(), EntryState::Deployed)?;
        let restored = match entry.restore.as_ref()? {
            Restore::Pending => format!("; release {deployed} is being restored"),
            Restore::Done => format!("; release {deployed} is restored"),
            Restore::Failed(message) => {
                format!("; release {deployed} could not be restored: {message}")
            }
        };
        Some(restored)
    }

    fn superseded(&self, entry: &Entry) -> String {
        let release = self.release;
        match entry.superseded_by {
            Some(by) => self.replaced(by),
            None => format!("a newer release has taken the place of release {release}"),
        }
    }

    pub(super) fn replaced(&self, by: u64) -> String {
        let release = self.release;
        if !self.queues.is_rollback(by) {
            return format!("release {by} has taken the place of release {release}");
        }
        let again = self.command("rollback", &format!(" --release {release}"));
        let rollback = self.queues.entry(self.name(), by);
        let failed = rollback.filter(|it| it.state == EntryState::Failed);
        match failed {
            None => format!(
                "release {by}, a rollback, came before release {release} could be deployed; {again} deploys its content"
            ),
            Some(failed) => {
                let message = failed.message.as_deref().unwrap_or("no reason was given");
                format!(
                    "release {by}, a rollback, came before release {release} could be deployed, and has failed: {message}; \
                     {again} deploys the content of release {release}"
                )
            }
        }
    }

    pub(super) fn skipped(&self) -> String {
        let (name, tracker) = (self.name(), &self.queues.tracker);
        self.alone()
            .unwrap_or_else(|| format!("`{tracker}` keeps out of `{name}`"))
    }

    /// Says of a rollback that it is for another environment.
    pub(super) fn alone(&self) -> Option<String> {
        let only = self.queues.only(self.release)?;
        let release = self.release;
        (only != self.name()).then(|| format!("release {release} is a rollback, of `{only}` alone"))
    }

    fn cancelled(&self) -> String {
        let (name, release) = (self.name(), self.release);
        match self.queues.is_deleted {
            true => "the tracker was deleted".to_owned(),
            false => format!("`{name}` was removed before release {release} was deployed"),
        }
    }
}

/// Returns a sentence with what was noted about an entry.
fn noted(sentence: String, entry: &Entry) -> String {
    match &entry.message {
        Some(note) => format!("{sentence}: {note}"),
        None => sentence,
    }
}
