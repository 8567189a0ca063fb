//! Following one kind in one namespace.

use std::sync::Arc;

use futures::StreamExt;
use kube::api::{ApiResource, DynamicObject};
use kube::runtime::{WatchStreamExt, watcher};
use kube::{Api, Client, ResourceExt};
use parking_lot::Mutex;
use pathline_lineage::rollout::Below;
use serde_json::Value;

use super::seen::{Seen, Start};
use crate::wakeups::Wakeups;

/// Follows one kind in one namespace.
pub(super) struct Watch {
    pub(super) start: Start,
    pub(super) resource: ApiResource,
    pub(super) seen: Arc<Mutex<Seen>>,
    pub(super) wakeups: Wakeups,
    /// What a listing has found so far. Until it is complete, what was known before counts.
    pub(super) fresh: Option<Below>,
}

impl Watch {
    /// Follows the kind until it is told to stop.
    pub(super) async fn run(mut self, client: Client) {
        let namespace = &self.start.watched.namespace;
        let api: Api<DynamicObject> = Api::namespaced_with(client, namespace, &self.resource);
        let events = watcher(api, watcher::Config::default()).default_backoff();
        let stop = self.start.stop.clone();
        let mut events = std::pin::pin!(events.take_until(stop.cancelled_owned()));
        while let Some(event) = events.next().await {
            match event {
                Ok(event) => self.observe(event),
                Err(error) => self.fail(&error),
            }
        }
    }

    fn observe(&mut self, event: watcher::Event<DynamicObject>) {
        let seen = self.seen.clone();
        match event {
            watcher::Event::Init => self.fresh = Some(self.nothing()),
            watcher::Event::InitApply(object) => {
                let value = value_of(&object, &self.resource);
                let nothing = self.nothing();
                self.fresh.get_or_insert(nothing).seen(&value);
            }
            watcher::Event::InitDone => {
                let fresh = self.fresh.take().unwrap_or_else(|| self.nothing());
                let mut seen = seen.lock();
                if !self.is_over() {
                    seen.listed(&self.start.watched, fresh, &self.wakeups);
                }
            }
            watcher::Event::Apply(object) => {
                let value = value_of(&object, &self.resource);
                self.change(&mut seen.lock(), &object, |below| below.changed(&value));
            }
            watcher::Event::Delete(object) => {
                let uid = object.uid().unwrap_or_default();
                self.change(&mut seen.lock(), &object, |below| below.gone(&uid));
            }
        }
    }

    fn change(&self, seen: &mut Seen, object: &DynamicObject, change: impl FnOnce(&mut Below)) {
        if self.is_over() {
            return;
        }
        let watched = &self.start.watched;
        // What controlled it may be forgotten together with it.
        seen.wake(watched, object, &self.wakeups);
        seen.change(&watched.namespace, change);
    }

    /// Tells whether another watch has taken its place. It is told so under the lock of what was seen.
    fn is_over(&self) -> bool {
        self.start.stop.is_cancelled()
    }

    fn nothing(&self) -> Below {
        Below::by_labels(self.start.labels.clone())
    }

    fn fail(&self, error: &watcher::Error) {
        let watched = &self.start.watched;
        let (kind, namespace) = (&watched.gvk.kind, &watched.namespace);
        tracing::debug!(kind, namespace, %error, "a last mile is not watched; it is tried again");
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
        let mut seen = self.seen.lock();
        if !self.is_over() {
            seen.refused(watched, why, &self.wakeups);
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
