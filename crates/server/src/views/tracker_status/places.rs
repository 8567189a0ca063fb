//! The places that the releases of trackers are in.

use std::collections::BTreeMap;

use jiff::Timestamp;
use pathline_client::api::{QueueState, TrackerCondition};
use pathline_ledger::releases::{
    DeploymentNote, EnvironmentStatus, EnvironmentStatuses, TrackerHold,
};
use pathline_ledger::trackers::StoredTracker;
use pathline_release::environment::Environments;
use pathline_release::queue::{Flow, Holds};

use crate::AppState;
use crate::error::ApiError;
use crate::views::environments;

/// The beginning of the note about a deployment that no blueprint takes.
pub(crate) const NO_PATH: &str = "NoPath";

/// The releases of some trackers, and the environments that they go through.
pub(crate) struct Places {
    statuses: BTreeMap<String, EnvironmentStatuses>,
    notes: BTreeMap<String, Vec<DeploymentNote>>,
    holds: Vec<TrackerHold>,
    halts: Holds,
    /// Nothing while the cluster does not say.
    environments: Option<Environments>,
    now: Timestamp,
}

impl Places {
    /// Reads the places of trackers, by their uids.
    pub(crate) async fn load(state: &AppState, uids: &[String]) -> Result<Self, ApiError> {
        let releases = state.ledger()?.releases();
        Ok(Self {
            statuses: releases.environments(uids).await?,
            notes: releases.deployment_notes(uids).await?,
            holds: releases.tracker_holds().await?,
            halts: releases.environment_holds().await?,
            environments: environments::load_if_possible(state).await,
            now: state.clock().now(),
        })
    }

    /// Returns the queues of a tracker in the order of the flow, without environments that are not there any more.
    pub(super) fn queues(&self, uid: &str) -> Vec<QueueState> {
        let usual = Flow::usual();
        let known = self.environments.as_ref().map(Environments::flow);
        let flow = known.unwrap_or(&usual).environments();
        let statuses = self.statuses.get(uid);
        let status = |name: &str| statuses.and_then(|it| it.get(name)).copied();
        // Where the cluster does not say which environments there are, those that the ledger knows are told.
        let present = flow.iter().map(|it| it.name.as_str());
        let present = present.filter(|it| known.is_some() || status(it).is_some());
        let is_other = |it: &&str| known.is_none() && flow.iter().all(|of| of.name != **it);
        let others = statuses.into_iter().flatten();
        let others = others.map(|(name, _)| name.as_str()).filter(is_other);
        present
            .chain(others)
            .map(|name| self.queue(uid, name, status(name).unwrap_or_default()))
            .collect()
    }

    fn queue(&self, uid: &str, name: &str, status: EnvironmentStatus) -> QueueState {
        let mut holds = self.holds.iter();
        let hold = holds.find(|it| it.uid == uid && it.environment == name);
        let is_held = hold.is_some() || self.halts.get(name).is_some();
        let environments = self.environments.as_ref().filter(|_| !is_held);
        QueueState {
            name: name.to_owned(),
            deployed: status.deployed,
            deploying: status.deploying,
            queued: status.queued,
            held: status.held,
            failed: status.failed.filter(|it| Some(*it) > status.deployed),
            hold: hold.map(|it| environments::hold(&it.hold)),
            next_tick: environments.and_then(|it| environments::next_tick(it, name, self.now)),
        }
    }

    /// Returns the conditions that follow from environments, and from deployments in them.
    pub(super) fn conditions(&self, tracker: &StoredTracker) -> Vec<TrackerCondition> {
        let mut conditions = Vec::new();
        let known = self.environments.as_ref().map(Environments::flow);
        if known.is_some_and(|it| it.environments().is_empty()) {
            conditions.push(TrackerCondition {
                of_type: "NoEnvironment".to_owned(),
                message: "there is no Environment, so releases go nowhere; make one with `kubectl apply`, as \
                          docs/releases.md shows"
                    .to_owned(),
                since: tracker.created,
            });
        }
        let notes = self.notes.get(&tracker.uid).into_iter().flatten();
        let notes = notes.filter(|it| it.message.starts_with(NO_PATH));
        conditions.extend(notes.map(|note| {
            let message = note.message.trim_start_matches(NO_PATH);
            let message = message.trim_start_matches([':', ' ']);
            TrackerCondition {
                of_type: NO_PATH.to_owned(),
                message: format!(
                    "release {} in `{}`: {message}",
                    note.release, note.environment
                ),
                since: note.since,
            }
        }));
        conditions
    }
}
