//! The loop of one kind of owners: Workloads or Deliverables.
//!
//! An owner is looked at when it, its blueprints and templates, or the objects stamped for it change,
//! and again after a while when something failed. Nothing is polled.

mod realize;
mod status;

use std::sync::Arc;

use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use kube::Client;
use kube::api::DynamicObject;
use kube::runtime::reflector::Store;
use pathline_blueprint::account::Account;
use pathline_blueprint::conditions::{self, Happened};
use pathline_blueprint::model::ConditionStatus;
use pathline_blueprint::owner::{self, Owner, OwnerKind};
use pathline_blueprint::selection;
use tokio_util::sync::CancellationToken;

use crate::calls;
use crate::catalogue::Catalogue;
use crate::clients::{self, Clients};
use crate::following::follow;
use crate::queue::{Key, Next};
use crate::wakeups::{self, LaneEnd, Reconciled, Wakeups};
use crate::watches::Watches;
use status::Status;

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
    #[error("resource [{resource}] was not taken by the cluster: {reason}")]
    Rejected { resource: String, reason: String },
    #[error("an object that is no longer stamped was not removed")]
    Leftover(#[source] calls::Error),
}

struct Loop {
    context: Context,
    owners: Store<DynamicObject>,
}

/// Runs the loop until told to stop; what has been started is finished.
pub(crate) async fn run(context: Context, lane: LaneEnd, stop: CancellationToken) {
    let kind = context.kind.into();
    let (client, wakeups) = (context.client.clone(), context.wakeups.clone());
    let this = Arc::new(Loop {
        owners: lane.objects.as_reader(),
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

    /// Realizes one owner as far as it can be, and reports how far that is.
    async fn reconcile(&self, object: &DynamicObject) -> Result<(), Error> {
        let value = serde_json::to_value(object).unwrap_or_default();
        let owner = Owner::read(self.context.kind, value)?;
        let mut status = Status::of(&owner);
        let outcome = self.advance(&owner, &mut status).await;
        status
            .write(&self.context.client, object)
            .await
            .map_err(Error::Status)?;
        outcome
    }

    /// Brings the owner one step further and notes in `status` what happened.
    ///
    /// An error is what must be tried again; it is noted in the status as well.
    async fn advance(&self, owner: &Owner, status: &mut Status) -> Result<(), Error> {
        let now = Time(Timestamp::now());
        let listed = self.context.catalogue.blueprints(owner.kind);
        let blueprints = listed.iter().map(|listed| &listed.blueprint);
        let listed = match selection::choose_blueprint(owner, blueprints) {
            Ok(chosen) => listed
                .iter()
                .find(|listed| listed.blueprint.name == chosen.name),
            Err(why) => {
                status.conclude(
                    conditions::of_owner(owner, &Happened::NoBlueprint(&why)),
                    &now,
                );
                return Ok(());
            }
        };
        let listed = listed.expect("the blueprint was chosen from these");
        let blueprint = &listed.blueprint;
        status.name_blueprint(&blueprint.name);
        let readiness = self.context.catalogue.judge(listed);
        let not_ready = readiness
            .last()
            .filter(|ready| ready.status != ConditionStatus::True);
        if let Some(ready) = not_ready {
            status.conclude(
                conditions::of_owner(owner, &Happened::NotReady(ready)),
                &now,
            );
            return Ok(());
        }
        let account = Account::of(owner, blueprint);
        let client = match self.context.clients.of_account(&account).await {
            Ok(client) => client,
            Err(error) => {
                let fault = error.fault();
                status.conclude(
                    conditions::of_owner(owner, &Happened::NoAccount(&fault)),
                    &now,
                );
                return if error.is_transient() {
                    Err(Error::Account(error))
                } else {
                    Ok(())
                };
            }
        };
        let realized = realize::all(&client, &self.context, owner, listed).await;
        let resources = realized.resources;
        let happened = Happened::Realized {
            blueprint: &blueprint.name,
            resources: &resources,
        };
        status.conclude(conditions::of_owner(owner, &happened), &now);
        let orphans = status.replace_resources(&blueprint.name, &resources, &now);
        let removed = realize::remove(&client, &self.context, owner, orphans, status).await;
        removed.map_err(Error::Leftover)?;
        realized.rejected.map_or(Ok(()), |(resource, reason)| {
            Err(Error::Rejected { resource, reason })
        })
    }
}
