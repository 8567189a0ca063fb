//! The watch on one kind in one namespace.

use std::sync::Arc;

use futures::StreamExt;
use kube::api::{ApiResource, DynamicObject};
use kube::runtime::{WatchStreamExt, watcher};
use kube::{Api, Client, ResourceExt};
use parking_lot::Mutex;
use pathline_lineage::rollout::Below;
use serde_json::Value;

use super::index::{NewWatch, RolloutIndex};
use crate::runtime::queues::Queues;
use crate::runtime::reflector::{Reflect, reflect};

/// Watches one kind in one namespace.
pub(super) struct Watch {
    pub(super) start: NewWatch,
    pub(super) resource: ApiResource,
    pub(super) index: Arc<Mutex<RolloutIndex>>,
    pub(super) queues: Queues,
}

impl Watch {
    /// Watches the kind until it is stopped.
    pub(super) async fn run(self, client: Client) {
        let namespace = &self.start.watched.namespace;
        let api: Api<DynamicObject> = Api::namespaced_with(client, namespace, &self.resource);
        let events = watcher(api, watcher::Config::default()).default_backoff();
        let stop = self.start.stop.clone();
        reflect(events.take_until(stop.cancelled_owned()), self).await;
    }

    fn change(&self, object: &DynamicObject, change: impl FnOnce(&mut Below)) {
        let mut index = self.index.lock();
        if self.is_over() {
            return;
        }
        let watched = &self.start.watched;
        // What controlled it may be forgotten together with it.
        index.wake(watched, object, &self.queues);
        index.change(&watched.namespace, change);
    }

    /// Tells whether another watch has taken over. That is decided under the lock of the index.
    fn is_over(&self) -> bool {
        self.start.stop.is_cancelled()
    }
}

impl Reflect for Watch {
    type Listing = Below;

    fn begin(&self) -> Below {
        Below::by_labels(self.start.labels.clone())
    }

    fn list(&self, listing: &mut Below, object: DynamicObject) {
        listing.seen(&value_of(&object, &self.resource));
    }

    fn listed(&self, listing: Below) {
        let mut index = self.index.lock();
        if !self.is_over() {
            index.listed(&self.start.watched, listing, &self.queues);
        }
    }

    fn applied(&self, object: DynamicObject) {
        let value = value_of(&object, &self.resource);
        self.change(&object, |below| below.changed(&value));
    }

    fn deleted(&self, object: DynamicObject) {
        let uid = object.uid().unwrap_or_default();
        self.change(&object, |below| below.gone(&uid));
    }

    fn failed(&self, error: &watcher::Error) {
        let watched = &self.start.watched;
        let (kind, namespace) = (&watched.gvk.kind, &watched.namespace);
        tracing::debug!(kind, namespace, %error, "a rollout is not watched; it is tried again");
        let why = match code(error) {
            Some(403) => format!(
                "Pathline may not watch {kind} objects in namespace `{namespace}`; grant it get, list and watch on them"
            ),
            Some(404) => format!(
                "the cluster has no {kind} of `{}`; install it",
                self.resource.api_version
            ),
            _ => return,
        };
        let mut index = self.index.lock();
        if !self.is_over() {
            index.refused(watched, why, &self.queues);
        }
    }
}

/// Returns an object with its kind, which objects of a list do not carry.
pub(super) fn value_of(object: &DynamicObject, resource: &ApiResource) -> Value {
    let mut value = serde_json::to_value(object).unwrap_or_default();
    value["kind"] = resource.kind.clone().into();
    value["apiVersion"] = resource.api_version.clone().into();
    value
}

/// Returns what the server answered.
fn code(error: &watcher::Error) -> Option<u16> {
    let (watcher::Error::InitialListFailed(source)
    | watcher::Error::WatchStartFailed(source)
    | watcher::Error::WatchFailed(source)) = error
    else {
        return None;
    };
    match source {
        kube::Error::Api(status) => Some(status.code),
        _ => None,
    }
}
