//! What lies below final resources in one namespace.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use futures::StreamExt;
use kube::api::{ApiResource, DynamicObject};
use kube::core::GroupVersionKind;
use kube::runtime::{WatchStreamExt, watcher};
use kube::{Api, Client, ResourceExt};
use parking_lot::Mutex;
use pathline_lineage::rollout::{self, Below, Object};
use pathline_lineage::{Rollout, Stage};
use serde_json::Value;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::queue::Key;
use crate::wakeups::{Reconciled, Wakeups};

/// How far up the controllers of a pod are followed.
const HIGHEST: usize = 8;

/// A kind that is watched below final resources.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Watched {
    ReplicaSet,
    Pod,
}

impl Watched {
    fn kind(self) -> &'static str {
        match self {
            Self::ReplicaSet => "ReplicaSet",
            Self::Pod => "Pod",
        }
    }

    fn resource(self) -> ApiResource {
        let group = match self {
            Self::ReplicaSet => "apps",
            Self::Pod => "",
        };
        ApiResource::from_gvk(&GroupVersionKind::gvk(group, "v1", self.kind()))
    }
}

/// What lies below final resources in one namespace.
pub(super) struct Place {
    namespace: String,
    stop: CancellationToken,
    shared: Arc<Mutex<Shared>>,
}

/// What the watches of a namespace write, and judgements read.
#[derive(Default)]
struct Shared {
    below: Below,
    watches: BTreeMap<Watched, Progress>,
    /// Who is woken when something changes below an object, by the object's uid.
    owners: HashMap<String, (Reconciled, Key)>,
}

/// How far a watch is.
#[derive(Debug, Clone, PartialEq)]
enum Progress {
    /// Not everything has been listed yet.
    Listing,
    /// What is known is current.
    Listed,
    /// The server does not let us.
    Refused(String),
}

impl Place {
    pub(super) fn new(namespace: &str, stop: CancellationToken) -> Self {
        Self {
            namespace: namespace.to_owned(),
            stop,
            shared: Arc::default(),
        }
    }

    /// Wakes an owner whenever something changes below an object.
    pub(super) fn follow(&self, uid: &str, kind: Reconciled, key: Key) {
        self.shared
            .lock()
            .owners
            .insert(uid.to_owned(), (kind, key));
    }

    /// Wakes an owner no longer.
    pub(super) fn forget(&self, kind: Reconciled, key: &Key) {
        let is_other = |followed: &(Reconciled, Key)| (followed.0, &followed.1) != (kind, key);
        self.shared
            .lock()
            .owners
            .retain(|_, followed| is_other(followed));
    }

    pub(super) fn is_needed(&self) -> bool {
        !self.shared.lock().owners.is_empty()
    }

    /// Ends all watches.
    pub(super) fn end(&self) {
        self.stop.cancel();
    }

    /// Judges an object, unless something that it needs has not been listed yet.
    pub(super) fn judge(
        &self,
        object: &Object,
        needed: &[Watched],
        images: &[String],
    ) -> Option<Rollout> {
        let shared = self.shared.lock();
        for kind in needed {
            match shared.watches.get(kind) {
                Some(Progress::Listed) => {}
                Some(Progress::Refused(why)) => {
                    return Some(Rollout {
                        uid: object.uid.clone(),
                        generation: object.generation,
                        stage: Stage::Progressing { why: why.clone() },
                    });
                }
                Some(Progress::Listing) | None => return None,
            }
        }
        Some(rollout::judge(object, &shared.below, images))
    }

    /// Starts to watch a kind, unless it is watched already.
    pub(super) fn watch(
        &self,
        kind: Watched,
        client: &Client,
        wakeups: &Wakeups,
        tasks: &TaskTracker,
    ) {
        let mut shared = self.shared.lock();
        if shared.watches.contains_key(&kind) {
            return;
        }
        shared.watches.insert(kind, Progress::Listing);
        let api = Api::namespaced_with(client.clone(), &self.namespace, &kind.resource());
        let watch = Watch {
            kind,
            namespace: self.namespace.clone(),
            shared: self.shared.clone(),
            wakeups: wakeups.clone(),
            fresh: None,
        };
        tasks.spawn(watch.run(api, self.stop.clone()));
    }
}

/// Follows one kind in one namespace.
struct Watch {
    kind: Watched,
    namespace: String,
    shared: Arc<Mutex<Shared>>,
    wakeups: Wakeups,
    /// What a listing has found so far. Until it is complete, what was known before counts.
    fresh: Option<Below>,
}

impl Watch {
    async fn run(mut self, api: Api<DynamicObject>, stop: CancellationToken) {
        let events = watcher(api, watcher::Config::default()).default_backoff();
        let mut events = std::pin::pin!(events.take_until(stop.cancelled_owned()));
        while let Some(event) = events.next().await {
            match event {
                Ok(event) => self.observe(event),
                Err(error) => self.fail(&error),
            }
        }
    }

    fn observe(&mut self, event: watcher::Event<DynamicObject>) {
        match event {
            watcher::Event::Init => self.fresh = Some(Below::default()),
            watcher::Event::InitApply(object) => {
                let fresh = self.fresh.get_or_insert_default();
                fresh.seen(&value_of(&object, self.kind));
            }
            watcher::Event::InitDone => self.listed(),
            watcher::Event::Apply(object) => {
                let value = value_of(&object, self.kind);
                let mut shared = self.shared.lock();
                shared.below.seen(&value);
                shared.wake(&self.wakeups, &object);
            }
            watcher::Event::Delete(object) => {
                let mut shared = self.shared.lock();
                shared.below.gone(&object.uid().unwrap_or_default());
                shared.wake(&self.wakeups, &object);
            }
        }
    }

    fn listed(&mut self) {
        let fresh = self.fresh.take().unwrap_or_default();
        let mut shared = self.shared.lock();
        shared.below.replace(self.kind.kind(), fresh);
        shared.watches.insert(self.kind, Progress::Listed);
        shared.wake_all(&self.wakeups);
    }

    fn fail(&self, error: &watcher::Error) {
        let (kind, namespace) = (self.kind.kind(), &self.namespace);
        tracing::debug!(kind, namespace, %error, "a last mile is not watched; it is tried again");
        if !is_refusal(error) {
            return;
        }
        let why = format!(
            "Pathline may not watch {kind} objects in namespace `{namespace}`; grant it get, list and watch on them"
        );
        let refused = Progress::Refused(why);
        let mut shared = self.shared.lock();
        if shared.watches.insert(self.kind, refused.clone()) != Some(refused) {
            shared.wake_all(&self.wakeups);
        }
    }
}

impl Shared {
    /// Wakes the owner of what an object belongs to.
    fn wake(&self, wakeups: &Wakeups, object: &DynamicObject) {
        let mut controllers = object.owner_references().iter();
        let controller = controllers.find(|it| it.controller == Some(true));
        let mut above = controller.map(|it| it.uid.clone());
        for _ in 0..HIGHEST {
            let Some(uid) = above else {
                return;
            };
            if let Some((kind, key)) = self.owners.get(&uid) {
                wakeups.wake(*kind, &key.namespace, &key.name);
                return;
            }
            above = self.below.get(&uid).and_then(|it| it.controller.clone());
        }
    }

    fn wake_all(&self, wakeups: &Wakeups) {
        for (kind, key) in self.owners.values() {
            wakeups.wake(*kind, &key.namespace, &key.name);
        }
    }
}

/// Returns an object with its kind, which objects of a list do not carry.
fn value_of(object: &DynamicObject, kind: Watched) -> Value {
    let mut value = serde_json::to_value(object).unwrap_or_default();
    let resource = kind.resource();
    value["kind"] = resource.kind.into();
    value["apiVersion"] = resource.api_version.into();
    value
}

fn is_refusal(error: &watcher::Error) -> bool {
    let (watcher::Error::InitialListFailed(source)
    | watcher::Error::WatchStartFailed(source)
    | watcher::Error::WatchFailed(source)) = error
    else {
        return false;
    };
    matches!(source, kube::Error::Api(status) if status.code == 403)
}
