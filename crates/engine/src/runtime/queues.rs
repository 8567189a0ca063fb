//! The queues of objects to reconcile, one for each kind.

mod index;

use std::collections::HashMap;
use std::sync::Arc;

use kube::api::DynamicObject;
use kube::core::{ApiResource, GroupVersionKind};
use parking_lot::Mutex;
use pathline_blueprint::owner::OwnerKind;
use pathline_kinds::carto::GROUP;
use pathline_lineage::rollout::Followed;

use crate::runtime::clock::Clock;
use crate::runtime::metrics::Metrics;
use crate::runtime::queue::{Key, Queue};
use crate::runtime::selections::Selection;
use crate::runtime::store::Store;
use crate::runtime::stored_owner::StoredOwner;
use index::Index;

pub(crate) use index::Used;

/// A kind whose objects own what is stamped, and are reconciled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum OwnedKind {
    Workload,
    Deliverable,
    Runnable,
}

impl OwnedKind {
    pub(crate) const ALL: [Self; 3] = [Self::Workload, Self::Deliverable, Self::Runnable];

    /// Returns the kind as the API spells it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Workload => "Workload",
            Self::Deliverable => "Deliverable",
            Self::Runnable => "Runnable",
        }
    }

    /// Returns how the API names this kind.
    pub(crate) fn resource(self) -> ApiResource {
        let gvk = GroupVersionKind::gvk(GROUP, "v1alpha1", self.name());
        ApiResource::from_gvk_with_plural(&gvk, &format!("{}s", self.name().to_lowercase()))
    }
}

impl From<OwnerKind> for OwnedKind {
    fn from(kind: OwnerKind) -> Self {
        match kind {
            OwnerKind::Workload => Self::Workload,
            OwnerKind::Deliverable => Self::Deliverable,
        }
    }
}

/// Queues the objects that a change concerns. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Queues {
    by_kind: Arc<HashMap<OwnedKind, KindQueue>>,
}

/// The queue of one kind, with its objects and what each of them uses.
struct KindQueue {
    queue: Queue,
    owners: Arc<Store<StoredOwner>>,
    uses: Mutex<Index>,
}

/// The side of a queue that the controller of its kind works off.
pub(crate) struct QueueReceiver {
    pub(crate) queue: Queue,
    pub(crate) owners: Arc<Store<StoredOwner>>,
}

impl Queues {
    /// Makes the queues of all kinds.
    pub(crate) fn new(metrics: &Metrics, clock: &Clock) -> Self {
        let queue = |kind| {
            let queue = KindQueue {
                queue: Queue::new(metrics.queue(kind), clock.clone()),
                owners: Arc::default(),
                uses: Mutex::default(),
            };
            (kind, queue)
        };
        Self {
            by_kind: Arc::new(OwnedKind::ALL.map(queue).into()),
        }
    }

    /// Returns the receiver of a kind, for its one controller.
    pub(crate) fn receiver(&self, kind: OwnedKind) -> QueueReceiver {
        let KindQueue { queue, owners, .. } = self.of_kind(kind);
        QueueReceiver {
            queue: queue.clone(),
            owners: owners.clone(),
        }
    }

    /// Queues one object.
    pub(crate) fn wake(&self, kind: impl Into<OwnedKind>, namespace: &str, name: &str) {
        let key = Key::new(namespace, name);
        self.of_kind(kind.into()).queue.push(key);
    }

    /// Queues all objects of a kind.
    pub(crate) fn wake_all(&self, kind: impl Into<OwnedKind>) {
        let KindQueue { queue, owners, .. } = self.of_kind(kind.into());
        for key in owners.keys() {
            queue.push(key);
        }
    }

    /// Queues those objects of a kind that `is_concerned` picks.
    pub(crate) fn wake_where(
        &self,
        kind: impl Into<OwnedKind>,
        is_concerned: impl Fn(&DynamicObject) -> bool,
    ) {
        let KindQueue { queue, owners, .. } = self.of_kind(kind.into());
        for key in owners.keys() {
            let owner = owners.get(&key);
            if owner.is_some_and(|owner| is_concerned(&owner.object())) {
                queue.push(key);
            }
        }
    }

    /// Returns the objects of a kind that follow a git repository, with that.
    pub(crate) fn repositories(&self, kind: OwnedKind) -> Vec<(Key, Followed)> {
        self.of_kind(kind).owners.pick(StoredOwner::repository)
    }

    /// Queues whatever uses this.
    pub(crate) fn wake_users(&self, used: &Used) {
        for KindQueue { queue, uses, .. } in self.by_kind.values() {
            for key in uses.lock().users(used) {
                queue.push(key);
            }
        }
    }

    /// Queues whatever works under a service account, of one namespace or of any.
    pub(crate) fn wake_under(&self, namespace: Option<&str>) {
        for KindQueue { queue, uses, .. } in self.by_kind.values() {
            for key in uses.lock().users_of_accounts(namespace) {
                queue.push(key);
            }
        }
    }

    /// Tells whether anything selects this, in whatever namespace.
    pub(crate) fn is_selected(&self, selection: &Selection) -> bool {
        let mut queues = self.by_kind.values();
        queues.any(|it| it.uses.lock().is_selected(selection))
    }

    /// Notes what an object uses, in place of what it used before.
    ///
    /// To be called *before* what is used is read: a change between the two would be missed.
    pub(crate) fn note(&self, kind: impl Into<OwnedKind>, key: &Key, used: Vec<Used>) {
        self.of_kind(kind.into()).uses.lock().note(key, used);
    }

    /// Forgets an object that no longer exists.
    pub(crate) fn forget(&self, kind: impl Into<OwnedKind>, key: &Key) {
        self.note(kind, key, Vec::new());
    }

    fn of_kind(&self, kind: OwnedKind) -> &KindQueue {
        let queue = self.by_kind.get(&kind);
        queue.expect("there is a queue for every kind")
    }
}
