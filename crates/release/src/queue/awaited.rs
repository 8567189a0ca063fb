//! Waiting: whether one of some releases is deployed in an environment, or can still be.

use jiff::Timestamp;

use super::{EntryState, Flow, Holds, Queues, Why};

/// The state of releases that somebody waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Awaited {
    /// One of them is what is deployed there.
    Deployed(u64),
    /// The newest of them may still be taken.
    Waiting(Why),
    /// The newest of them has failed there, or on its way there. It is tried again only if somebody promotes it.
    Failed(Why),
    /// Another release has taken their place.
    Superseded {
        /// The number of that release.
        by: u64,
    },
    /// The newest of them never gets there.
    Never(Why),
}

impl Queues {
    /// Says whether one of some releases is deployed in an environment, or can still be; `halts` are the holds of
    /// environments as a whole. A newer release counts only if it is one of them.
    ///
    /// Nothing is said of releases that are not known, and of an environment that is not there.
    pub fn awaited(
        &self,
        (flow, halts): (&Flow, &Holds),
        (environment, releases): (&str, &[u64]),
        now: Timestamp,
    ) -> Option<Awaited> {
        let newest = releases.iter().copied().max()?;
        let position = flow.get(environment)?.position;
        let deployed = self.newest(environment, EntryState::Deployed);
        let failed = self.failed_since(environment);
        if let Some(deployed) = deployed.filter(|it| releases.contains(it)) {
            return match failed {
                None => Some(Awaited::Deployed(deployed)),
                Some(by) => Some(Awaited::Superseded { by }),
            };
        }
        let answers = self.why((flow, halts), newest, now);
        let place = answers.iter().position(|it| it.environment == environment);
        let (before, rest) = answers.split_at(place?);
        let answer = rest.first()?.clone();
        if self.only(newest).is_some_and(|it| it != environment) {
            return Some(Awaited::Never(answer));
        }
        let replacing = self
            .entry(environment, newest)
            .and_then(|it| it.superseded_by);
        if let Some(by) = replacing.or(deployed.filter(|it| *it > newest)) {
            return Some(Awaited::Superseded { by });
        }
        let has_failed = |it: &&Why| it.state == Some(EntryState::Failed);
        let is_before =
            |it: &&Why| flow.get(&it.environment).map(|it| it.position) < Some(position);
        let mut before = before.iter().filter(has_failed).filter(is_before);
        Some(match answer.state {
            Some(EntryState::Failed) => Awaited::Failed(answer),
            None => match before.next() {
                Some(failed) => Awaited::Failed(failed.clone()),
                None if answer.never => Awaited::Never(answer),
                None => Awaited::Waiting(answer),
            },
            _ if answer.never => Awaited::Never(answer),
            _ => Awaited::Waiting(answer),
        })
    }
}
