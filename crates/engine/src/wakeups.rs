//! Who must be looked at again.

use std::sync::Arc;

use kube::api::DynamicObject;
use kube::core::{ApiResource, GroupVersionKind};
use kube::runtime::reflector::{ObjectRef, Store, store::Writer};
use pathline_blueprint::model::GROUP;
use pathline_blueprint::owner::OwnerKind;
use tokio::sync::mpsc;

/// Names an owner in its queue.
pub(crate) type OwnerRef = ObjectRef<DynamicObject>;

/// Puts owners into the queues of their loops. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Wakeups {
    lanes: Arc<[Lane; 2]>,
}

struct Lane {
    kind: OwnerKind,
    queue: mpsc::UnboundedSender<OwnerRef>,
    owners: Store<DynamicObject>,
}

/// The receiving end of the wake-ups of one kind of owners, and the cache that its loop fills.
pub(crate) struct Queue {
    pub(crate) wakeups: mpsc::UnboundedReceiver<OwnerRef>,
    pub(crate) owners: Writer<DynamicObject>,
}

/// Returns how the API names this kind of owners.
pub(crate) fn owner_resource(kind: OwnerKind) -> ApiResource {
    let plural = format!("{}s", kind.noun());
    ApiResource::from_gvk_with_plural(
        &GroupVersionKind::gvk(GROUP, "v1alpha1", kind.name()),
        &plural,
    )
}

impl Wakeups {
    /// Makes the queues of both kinds, in the order of [`OwnerKind::ALL`].
    pub(crate) fn new() -> (Self, [Queue; 2]) {
        let [(one, one_queue), (other, other_queue)] = OwnerKind::ALL.map(lane);
        (
            Self {
                lanes: Arc::new([one, other]),
            },
            [one_queue, other_queue],
        )
    }

    /// Wakes one owner.
    pub(crate) fn wake(&self, kind: OwnerKind, namespace: &str, name: &str) {
        let owner = ObjectRef::new_with(name, owner_resource(kind)).within(namespace);
        self.lane(kind).wake(owner);
    }

    /// Wakes every owner of a kind.
    pub(crate) fn wake_all(&self, kind: OwnerKind) {
        let lane = self.lane(kind);
        for owner in lane.owners.state() {
            lane.wake(ObjectRef::from_obj_with(&*owner, owner_resource(kind)));
        }
    }

    fn lane(&self, kind: OwnerKind) -> &Lane {
        let lane = self.lanes.iter().find(|lane| lane.kind == kind);
        lane.expect("there is a lane for every kind of owners")
    }
}

impl Lane {
    fn wake(&self, owner: OwnerRef) {
        // The loop that listens ends only when everything ends; then nobody needs to wake.
        let _ = self.queue.send(owner);
    }
}

fn lane(kind: OwnerKind) -> (Lane, Queue) {
    let (queue, wakeups) = mpsc::unbounded_channel();
    let owners = Writer::new(owner_resource(kind));
    let lane = Lane {
        kind,
        queue,
        owners: owners.as_reader(),
    };
    (lane, Queue { wakeups, owners })
}
