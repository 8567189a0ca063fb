//! The controller of one kind: watches its objects, and reconciles those that are queued.

use std::sync::Arc;

use kube::api::DynamicObject;

use crate::runtime::env::Env;
use crate::runtime::queue::{Key, Next};
use crate::runtime::queues::{OwnedKind, QueueReceiver};
use crate::runtime::store::Store;
use crate::runtime::stored_owner::StoredOwner;
use crate::runtime::watch_owners::watch_owners;

/// The number of objects of a kind that are reconciled side by side.
const CONCURRENCY: usize = 8;

/// Brings the cluster to what one object of a kind asks for.
pub(crate) trait Reconcile: Send + Sync + 'static {
    /// Reconciles an object that exists and is not being deleted.
    fn reconcile(&self, key: &Key, object: &DynamicObject) -> impl Future<Output = Next> + Send;

    /// Releases what is kept of an object that no longer exists.
    fn gone(&self, _key: &Key) -> impl Future<Output = Next> + Send {
        std::future::ready(Next::Wait)
    }
}

/// Reconciles the objects of one kind.
pub(crate) struct Controller {
    pub(crate) kind: OwnedKind,
    pub(crate) env: Env,
}

impl Controller {
    /// Reconciles every object that is queued until the engine stops; what has been started is finished.
    ///
    /// Nothing is reconciled before `ready`: of what is not listed yet, absence says nothing.
    pub(crate) async fn run(self, reconciler: impl Reconcile, ready: impl Future<Output = ()>) {
        let QueueReceiver { queue, owners } = self.env.queues.receiver(self.kind);
        let (kind, env, stop) = (self.kind, self.env.clone(), self.env.stop.clone());
        let watching = watch_owners(kind, &env, &owners);
        let each = Arc::new((self, owners.clone(), reconciler));
        let reconciling = async {
            if stop.run_until_cancelled(ready).await.is_none() {
                return;
            }
            let reconcile = |key| {
                let each = each.clone();
                async move { each.0.one(&each.1, &each.2, key).await }
            };
            queue.work(CONCURRENCY, stop.clone(), reconcile).await;
        };
        tokio::join!(watching, reconciling);
    }

    async fn one(
        &self,
        owners: &Store<StoredOwner>,
        reconciler: &impl Reconcile,
        key: Key,
    ) -> Next {
        let Some(owner) = owners.get(&key) else {
            // What was stamped may be listed first, and wakes owners that are not known yet. All are
            // woken when they are.
            if !owners.is_filled() {
                return Next::Wait;
            }
            self.env.queues.forget(self.kind, &key);
            return reconciler.gone(&key).await;
        };
        let object = owner.object();
        if object.metadata.deletion_timestamp.is_some() {
            return Next::Wait;
        }
        reconciler.reconcile(&key, &object).await
    }
}
