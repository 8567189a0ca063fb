//! The last mile: watches what lies below final resources, and judges whether it runs.
//!
//! Only kinds that a final resource needs are watched, and only in the namespaces where it needs them;
//! a watch that nobody needs any more ends. Of what is seen only a summary is kept. Read on in this
//! order: `end` (how the last mile of an object is followed), `round` (one look at all last miles of
//! an owner), `seen` (what the watches know, and whom they wake), and the kinds of ends: `inventory` and
//! `selected` (objects that the stamped one does not control), `revisions` (of daemon sets), `ran` (runs of Runnables), `deliveries`
//! (across git), `crossings` (what git said of that). Pods that run must also have read the ConfigMaps and
//! Secrets as they are: `configs`. What was stamped before must be gone: `retiring`.

mod configs;
mod crossings;
mod deliveries;
mod end;
mod inventory;
mod ran;
mod retiring;
mod revisions;
mod round;
mod seen;
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
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::calls::{self, call};
use crate::queue::Key;
use crate::wakeups::{Reconciled, Wakeups};
use ran::Runs;
use seen::{Follower, Needs, Seen, Start};
use watch::Watch;

pub(crate) use configs::Configs;
pub(crate) use deliveries::Deliveries;
pub(crate) use end::{End, Stamped};
pub(crate) use ran::Ran;
pub(crate) use round::Round;

/// Judges last miles, and wakes the owners of those that change.
pub(crate) struct LastMiles {
    client: Client,
    wakeups: Wakeups,
    stop: CancellationToken,
    tasks: TaskTracker,
    seen: Arc<Mutex<Seen>>,
    /// How the API names the kinds that were looked for.
    resources: Mutex<HashMap<GroupVersionKind, ApiResource>>,
    pub(crate) runs: Runs,
    pub(crate) deliveries: Deliveries,
}

/// Why a kind cannot be watched.
enum NoKind {
    /// The cluster does not have it; somebody has to do this.
    Absent(String),
    /// The cluster did not say.
    Unknown(calls::Error),
}

impl LastMiles {
    pub(crate) fn new(
        client: Client,
        wakeups: Wakeups,
        deliveries: Deliveries,
        stop: CancellationToken,
    ) -> Self {
        Self {
            client,
            runs: Runs::new(wakeups.clone()),
            wakeups,
            stop,
            tasks: TaskTracker::new(),
            seen: Arc::default(),
            resources: Mutex::default(),
            deliveries,
        }
    }

    /// Begins a look at all last miles of an owner, whose pods may read what it stamps as ConfigMaps and
    /// Secrets.
    pub(crate) fn round<'r>(&'r self, owner: &'r Owner, configs: Configs<'r>) -> Round<'r> {
        Round::new(self, owner, configs)
    }

    /// Forgets an owner that is no longer there.
    pub(crate) fn gone(&self, kind: Reconciled, key: &Key) {
        self.deliveries.gone(kind, key);
        let follower = Follower {
            kind,
            key: key.clone(),
        };
        self.seen.lock().settle(&follower, Needs::default());
    }

    /// Waits, after the engine was told to stop, until no watch runs any more.
    pub(crate) async fn ended(&self) {
        self.stop.cancelled().await;
        self.tasks.close();
        self.tasks.wait().await;
    }

    fn start(&self, start: Start, resource: ApiResource) {
        let watch = Watch {
            start,
            resource,
            seen: self.seen.clone(),
            wakeups: self.wakeups.clone(),
            fresh: None,
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
