//! The loop that every kind goes through: follow its objects, and look at those that are woken.

use std::sync::Arc;

use kube::Client;
use kube::api::DynamicObject;
use tokio_util::sync::CancellationToken;

use crate::catalogue::Catalogue;
use crate::following::follow;
use crate::objects::Objects;
use crate::queue::{Key, Next};
use crate::wakeups::{LaneEnd, Reconciled, Wakeups};

/// How many of a kind are looked at side by side.
const CONCURRENCY: usize = 8;

/// Knows what is to be done about one object of a kind.
pub(crate) trait Look: Send + Sync + 'static {
    /// Looks at one that is there and is not being deleted.
    fn look(&self, key: &Key, object: &DynamicObject) -> impl Future<Output = Next> + Send;

    /// Lets go of one that is there no longer.
    fn gone(&self, _key: &Key) -> impl Future<Output = Next> + Send {
        std::future::ready(Next::Wait)
    }
}

/// Says which objects are looked at, and what must be known before.
pub(crate) struct Rounds {
    pub(crate) kind: Reconciled,
    pub(crate) client: Client,
    pub(crate) catalogue: Arc<Catalogue>,
    pub(crate) wakeups: Wakeups,
}

impl Rounds {
    /// Looks at all that are woken until told to stop; what has been started is finished.
    pub(crate) async fn run(self, lane: LaneEnd, look: impl Look, stop: CancellationToken) {
        let objects = lane.objects.clone();
        let (client, wakeups) = (self.client.clone(), self.wakeups.clone());
        let following = follow(self.kind, client, wakeups, lane.objects, stop.clone());
        let each = Arc::new((self, objects, look));
        let looking = async {
            // Before everything is listed, a template that is merely unknown would look missing.
            let filled = each.0.catalogue.filled();
            if stop.run_until_cancelled(filled).await.is_none() {
                return;
            }
            let look = |key| {
                let each = each.clone();
                async move { each.0.one(&each.1, &each.2, key).await }
            };
            lane.queue.work(CONCURRENCY, stop.clone(), look).await;
        };
        tokio::join!(following, looking);
    }

    async fn one(&self, objects: &Objects, look: &impl Look, key: Key) -> Next {
        let Some(object) = objects.get(&key) else {
            // What was stamped may be listed first, and wakes owners that are not known yet. All are
            // woken when they are.
            if !objects.is_listed() {
                return Next::Wait;
            }
            self.wakeups.forget(self.kind, &key);
            return look.gone(&key).await;
        };
        if object.metadata.deletion_timestamp.is_some() {
            return Next::Wait;
        }
        look.look(&key, &object).await
    }
}
