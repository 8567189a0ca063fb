//! Soaking: the time for which a release has to be live before the next environment takes it.
//!
//! It is a gate of entering: until a release has soaked it has no entry in the environment, so that an older one which
//! has is not displaced by a newer one which has not.

use jiff::Timestamp;

use super::{EntryState, Environment, Flow, Queues};
use crate::clauses::Clause;

impl Queues {
    /// Returns the first instant after one at which [`Queues::advance`] has something to do, if everything stays as it
    /// is.
    pub fn next_soak(&self, flow: &Flow, at: Timestamp) -> Option<Timestamp> {
        let environments = flow.environments().iter();
        let soaked = environments.flat_map(|environment| {
            let arriving = self.arriving(flow, environment).into_iter();
            arriving.filter_map(|release| self.soaked_at(flow, environment, release))
        });
        soaked.filter(|it| *it > at).min()
    }

    /// Returns the instant at which a release has soaked for an environment: when it has been live for long enough
    /// wherever it is deployed at the last position before. What it skips on its way does not count.
    pub(super) fn soaked_at(
        &self,
        flow: &Flow,
        environment: &Environment,
        release: u64,
    ) -> Option<Timestamp> {
        if self.is_omitted(environment, release) || self.clauses.is_dropped(Clause::Soak) {
            return Some(Timestamp::MIN);
        }
        let mut soaked_at = Timestamp::MIN;
        let position = self.deployed_before(flow, environment, release);
        for before in position.into_iter().flat_map(|it| flow.at(it)) {
            let entry = self.entry(&before.name, release);
            if let Some(deployed) = entry.filter(|it| it.state == EntryState::Deployed) {
                soaked_at = soaked_at.max(deployed.live.reaches(environment.soak)?);
            }
        }
        Some(soaked_at)
    }

    /// Writes down for how long a release was live before an environment that lets it in: it has soaked, also if
    /// Pathline ends without a word, and counts less afterwards.
    pub(super) fn note_soak(
        &mut self,
        flow: &Flow,
        environment: &Environment,
        release: u64,
        at: Timestamp,
    ) {
        let position = self.deployed_before(flow, environment, release);
        for before in position.into_iter().flat_map(|it| flow.at(it)) {
            let entry = self.entry_mut(&before.name, release);
            if let Some(deployed) = entry.filter(|it| it.live.since.is_some()) {
                deployed.live.end(at);
                deployed.live.begin(at);
            }
        }
    }

    /// Returns the last position before an environment at which a release is deployed.
    pub(super) fn deployed_before(
        &self,
        flow: &Flow,
        environment: &Environment,
        release: u64,
    ) -> Option<u32> {
        let before = flow.environments().iter().rev();
        let mut before = before.filter(|it| it.position < environment.position);
        let is_deployed =
            |it: &&Environment| self.state(&it.name, release) == Some(EntryState::Deployed);
        before.find(is_deployed).map(|it| it.position)
    }
}
