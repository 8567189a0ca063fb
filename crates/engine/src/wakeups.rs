//! Who must be looked at again.

mod index;

use std::sync::Arc;

use kube::api::DynamicObject;
use kube::core::{ApiResource, GroupVersionKind};
use parking_lot::Mutex;
use pathline_blueprint::model::GROUP;
use pathline_blueprint::owner::OwnerKind;

use crate::metrics::Metrics;
use crate::objects::Objects;
use crate::queue::{Key, Queue};
use crate::selected::Selection;
use index::Index;

pub(crate) use index::Used;

/// The kinds that are looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Reconciled {
    Workload,
    Deliverable,
    Runnable,
}

impl Reconciled {
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

impl From<OwnerKind> for Reconciled {
    fn from(kind: OwnerKind) -> Self {
        match kind {
            OwnerKind::Workload => Self::Workload,
            OwnerKind::Deliverable => Self::Deliverable,
        }
    }
}

/// Puts those into their queues whom a change concerns. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Wakeups {
    lanes: Arc<[Lane; 3]>,
}

/// All that is known of one kind: who there is, who waits, and who uses what.
struct Lane {
    kind: Reconciled,
    queue: Queue,
    objects: Objects,
    uses: Mutex<Index>,
}

/// What the loop of one kind works with.
pub(crate) struct LaneEnd {
    pub(crate) queue: Queue,
    pub(crate) objects: Objects,
}

impl Wakeups {
    /// Makes the queues of all kinds, in the order of [`Reconciled::ALL`].
    pub(crate) fn new(metrics: &Metrics) -> (Self, [LaneEnd; 3]) {
        let [one, two, three] = Reconciled::ALL.map(|kind| lane(kind, metrics));
        let lanes = Arc::new([one.0, two.0, three.0]);
        (Self { lanes }, [one.1, two.1, three.1])
    }

    /// Wakes one.
    pub(crate) fn wake(&self, kind: impl Into<Reconciled>, namespace: &str, name: &str) {
        self.lane(kind.into()).queue.push(Key::new(namespace, name));
    }

    /// Wakes all of a kind.
    pub(crate) fn wake_all(&self, kind: impl Into<Reconciled>) {
        let lane = self.lane(kind.into());
        for key in lane.objects.keys() {
            lane.queue.push(key);
        }
    }

    /// Wakes those of a kind that are so.
    pub(crate) fn wake_where(
        &self,
        kind: impl Into<Reconciled>,
        is_concerned: impl Fn(&DynamicObject) -> bool,
    ) {
        let lane = self.lane(kind.into());
        for key in lane.objects.keys() {
            let object = lane.objects.get(&key);
            if object.is_some_and(|object| is_concerned(&object)) {
                lane.queue.push(key);
            }
        }
    }

    /// Returns those of a kind that follow a git repository, with its address.
    pub(crate) fn repositories(&self, kind: Reconciled) -> Vec<(Key, Arc<str>)> {
        self.lane(kind).objects.repositories()
    }

    /// Wakes whoever uses this.
    pub(crate) fn wake_users(&self, used: &Used) {
        for lane in self.lanes.iter() {
            for key in lane.uses.lock().users(used) {
                lane.queue.push(key);
            }
        }
    }

    /// Wakes whoever works under an account, of one namespace or of any.
    pub(crate) fn wake_under(&self, namespace: Option<&str>) {
        for lane in self.lanes.iter() {
            for key in lane.uses.lock().users_of_accounts(namespace) {
                lane.queue.push(key);
            }
        }
    }

    /// Tells whether anybody selects this, in whatever namespace.
    pub(crate) fn is_selected(&self, selection: &Selection) -> bool {
        let mut lanes = self.lanes.iter();
        lanes.any(|lane| lane.uses.lock().is_selected(selection))
    }

    /// Notes what one uses, in place of what it used before.
    ///
    /// To be called *before* what is used is read: a change between the two would be missed.
    pub(crate) fn note(&self, kind: impl Into<Reconciled>, key: &Key, used: Vec<Used>) {
        self.lane(kind.into()).uses.lock().note(key, used);
    }

    /// Forgets one that is gone.
    pub(crate) fn forget(&self, kind: impl Into<Reconciled>, key: &Key) {
        self.note(kind, key, Vec::new());
    }

    fn lane(&self, kind: Reconciled) -> &Lane {
        let lane = self.lanes.iter().find(|lane| lane.kind == kind);
        lane.expect("there is a lane for every kind")
    }
}

fn lane(kind: Reconciled, metrics: &Metrics) -> (Lane, LaneEnd) {
    let queue = Queue::new(metrics.queue(kind));
    let objects = Objects::default();
    let lane = Lane {
        kind,
        queue: queue.clone(),
        objects: objects.clone(),
        uses: Mutex::default(),
    };
    (lane, LaneEnd { queue, objects })
}
