//! The reconciler of one kind of owners: Workloads or Deliverables.
//!
//! An owner is reconciled when it, its blueprints and templates, or the objects stamped for it change,
//! and again after a while when something failed. Nothing is polled.

mod former;
mod orphans;
mod realize;
mod reconcile;
mod reports;
mod resource;
mod status;

pub use former::forget_live;

use std::sync::Arc;

use kube::api::DynamicObject;
use pathline_blueprint::owner::{self, OwnerKind};

use crate::runtime::calls;
use crate::runtime::clients;
use crate::runtime::controller::{Controller, Reconcile};
use crate::runtime::queue::{Key, Next};
use crate::supply::Context;
use reports::Reports;

/// A reason to reconcile an owner again after a while.
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
    Orphan(#[source] calls::Error),
    #[error("lineage was not written down; what is reported of it stays as it is")]
    Ledger(#[source] pathline_ledger::Error),
    #[error("it is not known whether it runs: {0}")]
    Rollout(String),
}

struct OwnerReconciler {
    kind: OwnerKind,
    context: Arc<Context>,
    reports: Reports,
}

/// Reconciles the owners of one kind until the engine stops; what has been started is finished.
pub(crate) async fn run(context: Arc<Context>, kind: OwnerKind) {
    let controller = Controller {
        kind: kind.into(),
        env: context.env.clone(),
    };
    let reconciler = OwnerReconciler {
        kind,
        context: context.clone(),
        reports: Reports::default(),
    };
    let ready = context.catalogue.filled();
    controller.run(reconciler, ready).await;
}

impl Reconcile for OwnerReconciler {
    async fn reconcile(&self, key: &Key, object: &DynamicObject) -> Next {
        match self.advance(object).await {
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
        self.context.observers.rollouts.gone(self.kind.into(), key);
        match self.context.observers.lineage.gone(self.kind, key).await {
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
