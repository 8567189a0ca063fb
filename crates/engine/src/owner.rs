//! The loop of one kind of owners: Workloads or Deliverables.
//!
//! An owner is looked at when it, its blueprints and templates, or the objects stamped for it change,
//! and again after a while when something failed. Nothing is polled.

mod leftovers;
mod news;
mod realize;
mod reconcile;
mod reports;
mod resource;
mod status;

use std::sync::Arc;

use kube::Client;
use kube::api::DynamicObject;
use kube::runtime::reflector::Store;
use pathline_blueprint::owner::{self, OwnerKind};
use tokio_util::sync::CancellationToken;

use crate::calls;
use crate::catalogue::Catalogue;
use crate::clients::{self, Clients};
use crate::events::Events;
use crate::following::follow;
use crate::queue::{Key, Next};
use crate::wakeups::{self, LaneEnd, Reconciled, Wakeups};
use crate::watches::Watches;
use crate::ytt::Renderer;
use reports::Reports;

/// How many owners of a kind are looked at side by side.
const CONCURRENCY: usize = 8;

/// What the loop needs of the rest of the engine.
pub(crate) struct Context {
    pub(crate) kind: OwnerKind,
    pub(crate) client: Client,
    pub(crate) clients: Clients,
    pub(crate) catalogue: Arc<Catalogue>,
    pub(crate) watches: Arc<Watches>,
    pub(crate) wakeups: Wakeups,
    pub(crate) events: Events,
    pub(crate) renderer: Arc<Renderer>,
}

/// Says why an owner must be looked at again after a while.
#[derive(Debug, thiserror::Error)]
enum Error {
    #[error(transparent)]
    Unreadable(#[from] owner::ReadError),
    #[error("there is no client for the service account")]
    Account(#[source] clients::Error),
    #[error("the status was not written")]
    Status(#[source] calls::Error),
    #[error("resource [{0}] was not taken by the cluster")]
    Resource(String),
    #[error("an object that is no longer stamped was not removed")]
    Leftover(#[source] calls::Error),
}

struct Loop {
    context: Context,
    owners: Store<DynamicObject>,
    reports: Reports,
}

/// Runs the loop until told to stop; what has been started is finished.
pub(crate) async fn run(context: Context, lane: LaneEnd, stop: CancellationToken) {
    let kind = context.kind.into();
    let (client, wakeups) = (context.client.clone(), context.wakeups.clone());
    let this = Arc::new(Loop {
        owners: lane.objects.as_reader(),
        reports: Reports::default(),
        context,
    });
    let following = follow(kind, client, wakeups, lane.objects, stop.clone());
    let looking = async {
        // Before everything is listed, a template that is merely unknown would look missing.
        let filled = this.context.catalogue.filled();
        if stop.run_until_cancelled(filled).await.is_none() {
            return;
        }
        let look = |key| {
            let this = this.clone();
            async move { this.look(key).await }
        };
        lane.queue.work(CONCURRENCY, stop.clone(), look).await;
    };
    tokio::join!(following, looking);
}

impl Loop {
    /// Looks at one owner, if it is still there.
    async fn look(&self, key: Key) -> Next {
        let kind = Reconciled::from(self.context.kind);
        let Some(object) = wakeups::find(&self.owners, kind, &key) else {
            self.context.wakeups.forget(kind, &key);
            self.reports.forget(&key);
            return Next::Wait;
        };
        if object.metadata.deletion_timestamp.is_some() {
            return Next::Wait;
        }
        match self.reconcile(&object).await {
            Ok(()) => Next::Wait,
            Err(error) => {
                let error = &error as &dyn std::error::Error;
                tracing::info!(owner = key.name, error, "tried again later");
                Next::Retry
            }
        }
    }
}
