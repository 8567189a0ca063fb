//! The loop of one kind of owners: Workloads or Deliverables.
//!
//! An owner is looked at when it, its blueprints and templates, or the objects stamped for it change,
//! and again after a while when something failed. Nothing is polled.

mod former;
mod leftovers;
mod news;
mod realize;
mod reconcile;
mod reports;
mod resource;
mod status;

pub use former::forget_live;

use std::sync::Arc;

use kube::Client;
use kube::api::DynamicObject;
use pathline_blueprint::owner::{self, OwnerKind};
use tokio_util::sync::CancellationToken;

use crate::calls;
use crate::catalogue::Catalogue;
use crate::clients::{self, Clients};
use crate::events::Events;
use crate::last_mile::LastMiles;
use crate::lineage::Lineage;
use crate::queue::{Key, Next};
use crate::rounds::{Look, Rounds};
use crate::wakeups::{LaneEnd, Wakeups};
use crate::watches::Watches;
use crate::ytt::Renderer;
use reports::Reports;

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
    pub(crate) lineage: Arc<Lineage>,
    pub(crate) last_miles: Arc<LastMiles>,
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
    #[error("lineage was not written down; what is reported of it stays as it is")]
    Ledger(#[source] pathline_ledger::Error),
    #[error("it is not known whether it runs: {0}")]
    LastMile(String),
}

struct Loop {
    context: Context,
    reports: Reports,
}

/// Runs the loop until told to stop; what has been started is finished.
pub(crate) async fn run(context: Context, lane: LaneEnd, stop: CancellationToken) {
    let rounds = Rounds {
        kind: context.kind.into(),
        client: context.client.clone(),
        catalogue: context.catalogue.clone(),
        wakeups: context.wakeups.clone(),
    };
    let look = Loop {
        context,
        reports: Reports::default(),
    };
    rounds.run(lane, look, stop).await;
}

impl Look for Loop {
    async fn look(&self, key: &Key, object: &DynamicObject) -> Next {
        match self.reconcile(object).await {
            Ok(()) => Next::Wait,
            Err(error) => {
                let error = &error as &dyn std::error::Error;
                tracing::info!(owner = key.name, error, "tried again later");
                Next::Retry
            }
        }
    }

    async fn gone(&self, key: &Key) -> Next {
        self.reports.forget(key);
        self.context.last_miles.gone(self.context.kind.into(), key);
        match self.context.lineage.gone(self.context.kind, key).await {
            Ok(()) => Next::Wait,
            Err(error) => {
                let error = &error as &dyn std::error::Error;
                tracing::warn!(
                    owner = key.name,
                    error,
                    "the ledger is told later that it is gone"
                );
                Next::Retry
            }
        }
    }
}
