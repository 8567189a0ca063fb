//! One watch for each kind of object that is stamped, started when the first such object is.

mod seen;
mod sweep;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{ApiResource, DynamicObject};
use kube::core::GroupVersionKind;
use kube::discovery::{ApiCapabilities, Scope, pinned_kind};
use kube::runtime::{WatchStreamExt, watcher};
use kube::{Api, Client, ResourceExt};
use parking_lot::Mutex;
use pathline_blueprint::model::API_VERSION;
use pathline_blueprint::runnable::RUNNABLE_NAME_LABEL;
use pathline_blueprint::stamp::{self, RESOURCE_NAME_LABEL};
use serde_json::Value;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::calls::{self, call};
use crate::queue::Key;
use crate::wakeups::{Reconciled, Wakeups};
use seen::Seen;

pub(crate) use sweep::sweep;

/// A first listing arrives in milliseconds; without it objects are read one by one.
const FIRST_LISTING: Duration = Duration::from_secs(5);

/// By which label the objects that matter are told from the others of their kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Mark {
    /// What the resources of blueprints stamp.
    Resource,
    /// What Runnables run.
    Run,
}

impl Mark {
    fn label(self) -> &'static str {
        match self {
            Self::Resource => RESOURCE_NAME_LABEL,
            Self::Run => RUNNABLE_NAME_LABEL,
        }
    }
}

/// Watches what is stamped, and wakes the owners of what changes.
pub(crate) struct Watches {
    client: Client,
    wakeups: Wakeups,
    stop: CancellationToken,
    kinds: Mutex<HashMap<(GroupVersionKind, Mark), Kind>>,
    tasks: TaskTracker,
}

/// A kind of object that is stamped.
#[derive(Clone)]
pub(crate) struct Kind {
    pub(crate) resource: ApiResource,
    pub(crate) is_namespaced: bool,
    seen: Arc<Seen>,
}

impl Kind {
    /// Returns the resource as status shows it: `plural.group`.
    pub(crate) fn resource_name(&self) -> String {
        let ApiResource { plural, group, .. } = &self.resource;
        if group.is_empty() {
            plural.clone()
        } else {
            format!("{plural}.{group}")
        }
    }

    /// Returns a stamped object as it was last seen, or as we last wrote it if that is newer.
    fn seen(&self, namespace: &str, name: &str) -> Option<Value> {
        let object = self.seen.get(namespace, name)?;
        serde_json::to_value(object).ok()
    }

    /// Returns the version since which the content of an object, as ConfigMaps and Secrets have one, is
    /// known to be the same up to this state of it.
    pub(crate) fn steady_since(&self, object: &Value) -> Option<u64> {
        let text = |name: &str| object["metadata"][name].as_str();
        let version = text("resourceVersion")?.parse().ok()?;
        self.seen
            .steady_since(text("namespace")?, text("name")?, version)
    }

    /// Returns every stamped object of this kind that the owner of this uid controls.
    pub(crate) async fn controlled_by(&self, uid: &str) -> Vec<DynamicObject> {
        if self.is_listed().await {
            self.seen.controlled_by(uid)
        } else {
            Vec::new()
        }
    }

    /// Takes note of what the server answered to a write of ours, which the watch delivers later.
    pub(crate) fn wrote(&self, object: DynamicObject) {
        self.seen.wrote(object);
    }

    /// Tells whether a live object holds what was stamped, as stamped or as the cluster writes it.
    pub(crate) fn holds(&self, stamped: &Value, live: &Value) -> bool {
        if stamp::is_applied(stamped, live) {
            return true;
        }
        let (namespace, name, digest) = identity(stamped);
        let normal = self.seen.normal(namespace, name, digest);
        normal.is_some_and(|normal| stamp::holds(live, &normal))
            && stamp::names_same_inputs(stamped, live)
    }

    /// Learns from the answer to a write how the cluster writes what was stamped.
    pub(crate) fn learn(&self, stamped: &Value, written: &Value) {
        if !stamp::holds(written, stamped) {
            let (namespace, name, digest) = identity(stamped);
            let normal = stamp::as_written(stamped, written);
            self.seen.normalize(namespace, name, digest, &normal);
        }
    }

    async fn is_listed(&self) -> bool {
        tokio::time::timeout(FIRST_LISTING, self.seen.filled())
            .await
            .is_ok()
    }
}

impl Watches {
    pub(crate) fn new(client: Client, wakeups: Wakeups, stop: CancellationToken) -> Self {
        Self {
            client,
            wakeups,
            stop,
            kinds: Mutex::default(),
            tasks: TaskTracker::new(),
        }
    }

    /// Returns the kind, whose marked objects are watched from now on.
    pub(crate) async fn kind(
        &self,
        gvk: &GroupVersionKind,
        mark: Mark,
    ) -> Result<Kind, calls::Error> {
        let key = (gvk.clone(), mark);
        if let Some(kind) = self.kinds.lock().get(&key) {
            return Ok(kind.clone());
        }
        let (resource, capabilities) = call(pinned_kind(&self.client, gvk)).await?;
        let mut kinds = self.kinds.lock();
        let kind = kinds
            .entry(key)
            .or_insert_with(|| self.start(resource, &capabilities, mark));
        Ok(kind.clone())
    }

    /// Returns a stamped object as it was last seen, or as it is if nothing has been seen yet.
    pub(crate) async fn live(
        &self,
        kind: &Kind,
        namespace: &str,
        name: &str,
    ) -> Result<Option<Value>, calls::Error> {
        if kind.is_listed().await {
            return Ok(kind.seen(namespace, name));
        }
        self.read(kind, namespace, name).await
    }

    /// Returns an object as it is.
    pub(crate) async fn read(
        &self,
        kind: &Kind,
        namespace: &str,
        name: &str,
    ) -> Result<Option<Value>, calls::Error> {
        let api: Api<DynamicObject> =
            Api::namespaced_with(self.client.clone(), namespace, &kind.resource);
        let found = call(api.get_opt(name)).await?;
        Ok(found.and_then(|it| serde_json::to_value(it).ok()))
    }

    /// Returns every kind whose objects of this mark are watched.
    pub(crate) fn kinds(&self, mark: Mark) -> Vec<Kind> {
        let kinds = self.kinds.lock();
        let of_mark = kinds.iter().filter(|((_, known), _)| *known == mark);
        of_mark.map(|(_, kind)| kind.clone()).collect()
    }

    /// Waits, after the engine was told to stop, until no watch runs any more.
    pub(crate) async fn ended(&self) {
        self.stop.cancelled().await;
        self.tasks.close();
        self.tasks.wait().await;
    }

    fn start(&self, resource: ApiResource, capabilities: &ApiCapabilities, mark: Mark) -> Kind {
        let seen = Arc::new(Seen::default());
        let api: Api<DynamicObject> = Api::all_with(self.client.clone(), &resource);
        let events = watcher(api, watcher::Config::default().labels(mark.label()))
            .default_backoff()
            .take_until(self.stop.clone().cancelled_owned());
        let (wakeups, store) = (self.wakeups.clone(), seen.clone());
        let kind = resource.kind.clone();
        self.tasks.spawn(async move {
            let mut events = std::pin::pin!(events);
            while let Some(event) = events.next().await {
                match event {
                    Ok(event) => {
                        let concerned = owners_of(&event);
                        // The store first: whoever wakes up must see what woke it.
                        store.observe(event);
                        for (kind, key) in concerned {
                            wakeups.wake(kind, &key.namespace, &key.name);
                        }
                    }
                    Err(error) => tracing::warn!(kind, %error, "a watch failed; it is tried again"),
                }
            }
        });
        Kind {
            resource,
            is_namespaced: capabilities.scope == Scope::Namespaced,
            seen,
        }
    }
}

/// Returns namespace, name and digest of what was stamped.
fn identity(stamped: &Value) -> (&str, &str, &str) {
    let metadata = &stamped["metadata"];
    (
        metadata["namespace"].as_str().unwrap_or_default(),
        metadata["name"].as_str().unwrap_or_default(),
        metadata["annotations"][stamp::APPLIED_ANNOTATION]
            .as_str()
            .unwrap_or_default(),
    )
}

/// Returns the owners of the object that an event is about.
fn owners_of(event: &watcher::Event<DynamicObject>) -> Vec<(Reconciled, Key)> {
    let (watcher::Event::Apply(object)
    | watcher::Event::Delete(object)
    | watcher::Event::InitApply(object)) = event
    else {
        return Vec::new();
    };
    let namespace = object.namespace().unwrap_or_default();
    let owners = object.owner_references().iter().filter_map(|reference| {
        let mut kinds = Reconciled::ALL.into_iter();
        let kind = kinds.find(|kind| kind.name() == reference.kind);
        let kind = kind.filter(|_| reference.api_version == API_VERSION)?;
        Some((kind, Key::new(&namespace, &reference.name)))
    });
    owners.collect()
}

/// Wakes everybody when kinds come and go: an object of a kind that was missing may fit now.
pub(crate) async fn follow_kinds(client: Client, wakeups: Wakeups, stop: CancellationToken) {
    let api: Api<CustomResourceDefinition> = Api::all(client);
    let events = watcher(api, watcher::Config::default()).default_backoff();
    let mut events = std::pin::pin!(events.take_until(stop.cancelled_owned()));
    while let Some(event) = events.next().await {
        match event {
            Ok(watcher::Event::Apply(_)) => Reconciled::ALL
                .into_iter()
                .for_each(|kind| wakeups.wake_all(kind)),
            Ok(_) => {}
            Err(error) => tracing::warn!(%error, "the watch on kinds failed; it is tried again"),
        }
    }
}
