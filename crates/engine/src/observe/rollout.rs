//! Rollouts: watches what lies below final resources, and judges whether it runs.
//!
//! Only kinds that a final resource needs are watched, and only in the namespaces where it needs them;
//! a watch that nobody needs any more ends. Of what is seen only a summary is kept. Read on in this
//! order: `pathline_observe::rollout` (how the rollout of an object is followed, and the rules), `check` (one
//! judgement of all rollouts of an owner), `index` (what the watches know, and whom they wake), and the calls
//! that confirm a judgement: `inventory` and `selected` (objects that the stamped one does not control),
//! `revisions` (of daemon sets), `runnable_runs` (runs of Runnables), `deliveries` (across git), `crossings`
//! (what git said of that). What was stamped before must be gone: `retiring`.

mod check;
mod crossings;
mod deliveries;
mod index;
mod inventory;
mod retiring;
mod revisions;
mod runnable_runs;
mod selected;
mod watch;

use std::collections::HashMap;
use std::sync::Arc;

use kube::Client;
use kube::api::ApiResource;
use kube::core::GroupVersionKind;
use kube::discovery::{Scope, pinned_kind};
use parking_lot::Mutex;
use pathline_blueprint::owner::Owner;
use pathline_observe::rollout::Configs;

use crate::runtime::calls::{self, call};
use crate::runtime::env::Env;
use crate::runtime::queue::Key;
use crate::runtime::queues::{OwnedKind, Queues};
use crate::runtime::tasks::Tasks;
use deliveries::Deliveries;
use index::{Follower, Needs, NewWatch, RolloutIndex};
use runnable_runs::RunnableRuns;
use watch::Watch;

pub(crate) use check::RolloutCheck;

/// Judges rollouts, and queues the owners of those that change.
pub(crate) struct RolloutWatcher {
    client: Client,
    queues: Queues,
    tasks: Tasks,
    index: Arc<Mutex<RolloutIndex>>,
    /// The API resources of the kinds that were discovered.
    resources: Mutex<HashMap<GroupVersionKind, ApiResource>>,
    pub(crate) runs: RunnableRuns,
    pub(crate) deliveries: Deliveries,
}

/// A reason why a kind cannot be watched.
enum NoKind {
    /// The cluster does not have it; somebody has to do this.
    Absent(String),
    /// The cluster did not say.
    Unknown(calls::Error),
}

impl RolloutWatcher {
    pub(crate) fn new(env: &Env) -> Self {
        Self {
            client: env.client.clone(),
            runs: RunnableRuns::new(env.queues.clone()),
            queues: env.queues.clone(),
            tasks: Tasks::new(env.stop.clone()),
            index: Arc::default(),
            resources: Mutex::default(),
            deliveries: Deliveries::new(env),
        }
    }

    /// Begins to judge all rollouts of an owner, whose pods may read what it stamps as ConfigMaps and
    /// Secrets.
    pub(crate) fn check<'r>(&'r self, owner: &'r Owner, configs: Configs<'r>) -> RolloutCheck<'r> {
        RolloutCheck::new(self, owner, configs)
    }

    /// Forgets an owner that is no longer there.
    pub(crate) fn gone(&self, kind: OwnedKind, key: &Key) {
        self.deliveries.gone(kind, key);
        let follower = Follower {
            kind,
            key: key.clone(),
        };
        self.index.lock().settle(&follower, Needs::default());
    }

    /// Waits, after the engine was stopped, until no watch runs any more.
    pub(crate) async fn ended(&self) {
        self.tasks.ended().await;
    }

    fn start(&self, start: NewWatch, resource: ApiResource) {
        let watch = Watch {
            start,
            resource,
            index: self.index.clone(),
            queues: self.queues.clone(),
        };
        self.tasks.spawn(watch.run(self.client.clone()));
    }

    /// Returns how the API names a kind.
    async fn resource(&self, gvk: &GroupVersionKind) -> Result<ApiResource, NoKind> {
        if matches!(gvk.group.as_str(), "" | "apps" | "batch") {
            return Ok(ApiResource::from_gvk(gvk));
        }
        if let Some(known) = self.resources.lock().get(gvk) {
            return Ok(known.clone());
        }
        let (kind, api_version) = (&gvk.kind, gvk.api_version());
        let (resource, capabilities) = match call(pinned_kind(&self.client, gvk)).await {
            Ok(found) => found,
            Err(error) if error.is_absence() => {
                let why = format!("the cluster has no {kind} of `{api_version}`; install it");
                return Err(NoKind::Absent(why));
            }
            Err(error) => return Err(NoKind::Unknown(error)),
        };
        if capabilities.scope != Scope::Namespaced {
            let why =
                format!("{kind} of `{api_version}` has no namespace, so nothing of it is followed");
            return Err(NoKind::Absent(why));
        }
        self.resources.lock().insert(gvk.clone(), resource.clone());
        Ok(resource)
    }
}
