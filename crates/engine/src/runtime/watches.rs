//! One watch for each kind of object that is stamped, started when the first such object is.

mod discovery;
mod normalized;
mod stored_object;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{ApiResource, DynamicObject};
use kube::core::GroupVersionKind;
use kube::discovery::{ApiCapabilities, Scope, pinned_kind};
use kube::runtime::{WatchStreamExt, watcher};
use kube::{Api, Client};
use parking_lot::Mutex;
use pathline_blueprint::runnable::RUNNABLE_NAME_LABEL;
use pathline_blueprint::stamp::{self, RESOURCE_NAME_LABEL};
use pathline_workers::explain;
use serde_json::Value;

use crate::runtime::calls::{self, call};
use crate::runtime::env::Env;
use crate::runtime::queue::Key;
use crate::runtime::queues::{OwnedKind, Queues};
use crate::runtime::store::Store;
use crate::runtime::tasks::Tasks;
use normalized::Normalized;
use stored_object::StoredObject;

pub(crate) use discovery::discover_stamped;

/// A first listing arrives in milliseconds; without it objects are read one by one.
const FIRST_LISTING_TIMEOUT: Duration = Duration::from_secs(5);

/// The label by which stamped objects are told from the others of their kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum WatchLabel {
    /// On what the resources of blueprints stamp.
    Resource,
    /// On what Runnables run.
    Run,
}

impl WatchLabel {
    fn key(self) -> &'static str {
        match self {
            Self::Resource => RESOURCE_NAME_LABEL,
            Self::Run => RUNNABLE_NAME_LABEL,
        }
    }
}

/// Watches what is stamped, and queues the owners of what changes.
pub(crate) struct Watches {
    client: Client,
    queues: Queues,
    kinds: Mutex<HashMap<(GroupVersionKind, WatchLabel), WatchedKind>>,
    tasks: Tasks,
}

/// A kind of object that is stamped.
#[derive(Clone)]
pub(crate) struct WatchedKind {
    pub(crate) resource: ApiResource,
    pub(crate) is_namespaced: bool,
    store: Arc<Store<StoredObject>>,
    normalized: Arc<Normalized>,
}

impl WatchedKind {
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
    fn get(&self, namespace: &str, name: &str) -> Option<Value> {
        let stored = self.store.get(&Key::new(namespace, name))?;
        serde_json::to_value(stored.object()).ok()
    }

    /// Returns the version since which the content of an object, as ConfigMaps and Secrets have one, is
    /// known to be the same up to this state of it.
    pub(crate) fn steady_since(&self, object: &Value) -> Option<u64> {
        let text = |name: &str| object["metadata"][name].as_str();
        let version = text("resourceVersion")?.parse().ok()?;
        let key = Key::new(text("namespace")?, text("name")?);
        self.store.get(&key)?.steady_since(version)
    }

    /// Returns every stamped object of this kind that the owner of this uid controls.
    pub(crate) async fn controlled_by(&self, uid: &str) -> Vec<DynamicObject> {
        if self.is_listed().await {
            let stored = self.store.controlled_by(uid);
            stored.iter().map(|it| it.object()).collect()
        } else {
            Vec::new()
        }
    }

    /// Takes note of what the server answered to a write of ours, which the watch delivers later.
    pub(crate) fn wrote(&self, object: DynamicObject) {
        self.store.wrote(object, StoredObject::new);
    }

    /// Tells whether a live object holds what was stamped, as stamped or as the cluster writes it.
    pub(crate) fn holds(&self, stamped: &Value, live: &Value) -> bool {
        if stamp::is_applied(stamped, live) {
            return true;
        }
        let (key, digest) = identity(stamped);
        let normal = self.normalized.get(&key, digest);
        normal.is_some_and(|normal| stamp::holds(live, &normal))
            && stamp::names_same_inputs(stamped, live)
    }

    /// Learns from the answer to a write how the cluster writes what was stamped.
    pub(crate) fn learn(&self, stamped: &Value, written: &Value) {
        if !stamp::holds(written, stamped) {
            let (key, digest) = identity(stamped);
            let normal = stamp::as_written(stamped, written);
            self.normalized.note(key, digest, &normal);
        }
    }

    async fn is_listed(&self) -> bool {
        tokio::time::timeout(FIRST_LISTING_TIMEOUT, self.store.filled())
            .await
            .is_ok()
    }
}

impl Watches {
    pub(crate) fn new(env: &Env) -> Self {
        Self {
            client: env.client.clone(),
            queues: env.queues.clone(),
            kinds: Mutex::default(),
            tasks: Tasks::new(env.stop.clone()),
        }
    }

    /// Returns the kind, whose objects with this label are watched from now on.
    pub(crate) async fn kind(
        &self,
        gvk: &GroupVersionKind,
        label: WatchLabel,
    ) -> Result<WatchedKind, calls::Error> {
        let key = (gvk.clone(), label);
        if let Some(kind) = self.kinds.lock().get(&key) {
            return Ok(kind.clone());
        }
        let (resource, capabilities) = call(pinned_kind(&self.client, gvk)).await?;
        let mut kinds = self.kinds.lock();
        let kind = kinds
            .entry(key)
            .or_insert_with(|| self.start(resource, &capabilities, label));
        Ok(kind.clone())
    }

    /// Returns a stamped object as it was last seen, or as it is if nothing has been seen yet.
    pub(crate) async fn live(
        &self,
        kind: &WatchedKind,
        namespace: &str,
        name: &str,
    ) -> Result<Option<Value>, calls::Error> {
        if kind.is_listed().await {
            return Ok(kind.get(namespace, name));
        }
        self.read(kind, namespace, name).await
    }

    /// Returns an object as it is.
    pub(crate) async fn read(
        &self,
        kind: &WatchedKind,
        namespace: &str,
        name: &str,
    ) -> Result<Option<Value>, calls::Error> {
        let api: Api<DynamicObject> =
            Api::namespaced_with(self.client.clone(), namespace, &kind.resource);
        let found = call(api.get_opt(name)).await?;
        Ok(found.and_then(|it| serde_json::to_value(it).ok()))
    }

    /// Returns every kind whose objects with this label are watched.
    pub(crate) fn kinds(&self, label: WatchLabel) -> Vec<WatchedKind> {
        let kinds = self.kinds.lock();
        let labelled = kinds.iter().filter(|((_, known), _)| *known == label);
        labelled.map(|(_, kind)| kind.clone()).collect()
    }

    /// Waits, after the engine was stopped, until no watch runs any more.
    pub(crate) async fn ended(&self) {
        self.tasks.ended().await;
    }

    fn start(
        &self,
        resource: ApiResource,
        capabilities: &ApiCapabilities,
        label: WatchLabel,
    ) -> WatchedKind {
        let kind = WatchedKind {
            resource,
            is_namespaced: capabilities.scope == Scope::Namespaced,
            store: Arc::default(),
            normalized: Arc::default(),
        };
        let api: Api<DynamicObject> = Api::all_with(self.client.clone(), &kind.resource);
        let events = watcher(api, watcher::Config::default().labels(label.key()))
            .default_backoff()
            .take_until(self.tasks.stop().clone().cancelled_owned());
        let (queues, watched) = (self.queues.clone(), kind.clone());
        self.tasks.spawn(async move {
            let touched = |key: &Key, old: Option<&StoredObject>, new: Option<&StoredObject>| {
                if new.is_none() {
                    watched.normalized.forget(key);
                }
                let concerned = old.into_iter().chain(new);
                for (kind, name) in concerned.flat_map(StoredObject::owners) {
                    queues.wake(kind, &key.namespace, name);
                }
            };
            let kind = &watched.resource.kind;
            let following = watched
                .store
                .follow(kind, events, StoredObject::new, touched);
            following.await;
        });
        kind
    }
}

/// Returns the name and the digest of what was stamped.
fn identity(stamped: &Value) -> (Key, &str) {
    let metadata = &stamped["metadata"];
    let text = |name: &str| metadata[name].as_str().unwrap_or_default();
    let digest = metadata["annotations"][stamp::APPLIED_ANNOTATION].as_str();
    (
        Key::new(text("namespace"), text("name")),
        digest.unwrap_or_default(),
    )
}

/// Queues every owner when kinds come and go: an object of a kind that was missing may fit now.
pub(crate) async fn watch_kinds(env: Env) {
    let api: Api<CustomResourceDefinition> = Api::all(env.client);
    let events = watcher(api, watcher::Config::default()).default_backoff();
    let mut events = std::pin::pin!(events.take_until(env.stop.cancelled_owned()));
    while let Some(event) = events.next().await {
        match event {
            Ok(watcher::Event::Apply(_)) => OwnedKind::ALL
                .into_iter()
                .for_each(|kind| env.queues.wake_all(kind)),
            Ok(_) => {}
            Err(error) => {
                let error = explain(&error);
                tracing::warn!(error, "the watch on kinds failed; it is tried again");
            }
        }
    }
}
