//! The loop of one kind of owners: Workloads or Deliverables.
//!
//! An owner is looked at when it, its blueprints and templates, or the objects stamped for it change,
//! and again after a while when something failed. Nothing is polled.

mod realize;
mod retries;
mod status;

use std::convert::Infallible;
use std::sync::Arc;

use futures::StreamExt;
use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use kube::api::DynamicObject;
use kube::runtime::controller::{self, Action, ReconcileRequest, applier};
use kube::runtime::reflector::{ObjectRef, store::Writer};
use kube::runtime::{WatchStreamExt, watcher};
use kube::{Api, Client, ResourceExt};
use pathline_blueprint::account::Account;
use pathline_blueprint::conditions::{self, Happened};
use pathline_blueprint::model::ConditionStatus;
use pathline_blueprint::owner::{self, Owner, OwnerKind};
use pathline_blueprint::selection;
use tokio_stream::wrappers::UnboundedReceiverStream;
use tokio_util::sync::CancellationToken;

use crate::calls;
use crate::catalogue::Catalogue;
use crate::clients::{self, Clients};
use crate::wakeups::{OwnerRef, Queue, Wakeups, owner_resource};
use crate::watches::Watches;
use retries::Retries;
use status::Status;

/// How many owners of a kind are looked at side by side.
const CONCURRENCY: u16 = 8;

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
    retries: Retries,
}

/// Runs the loop until told to stop; what has been started is finished.
pub(crate) async fn run(context: Context, queue: Queue, stop: CancellationToken) {
    let kind = context.kind;
    let owners = queue.owners.as_reader();
    let this = Arc::new(Loop {
        context,
        retries: Retries::default(),
    });
    let following = follow(this.clone(), queue.owners, stop.clone());
    let requests = UnboundedReceiverStream::new(queue.wakeups)
        .map(|owner| Ok::<_, Infallible>(ReconcileRequest::from(owner)))
        .take_until(stop.clone().cancelled_owned());
    let reconciling = applier(
        |object, this| Box::pin(reconcile(object, this)),
        |object, error, this: Arc<Loop>| {
            let delay = this.retries.next(&reference(kind, &object));
            tracing::info!(
                owner = %object.name_any(),
                error = error as &dyn std::error::Error,
                ?delay,
                "tried again later"
            );
            Action::requeue(delay)
        },
        this.clone(),
        owners,
        requests,
        controller::Config::default().concurrency(CONCURRENCY),
    );
    // Failures have been logged by the policy above, and an owner that is gone needs nothing.
    let reconciling = reconciling.for_each(|_| std::future::ready(()));
    let reconciling = async {
        // Before everything is listed, a template that is merely unknown would look missing.
        if stop
            .run_until_cancelled(this.context.catalogue.filled())
            .await
            .is_some()
        {
            reconciling.await;
        }
    };
    tokio::join!(following, reconciling);
}

/// Keeps the cache of owners, and wakes those that change.
async fn follow(this: Arc<Loop>, mut owners: Writer<DynamicObject>, stop: CancellationToken) {
    let resource = owner_resource(this.context.kind);
    let api: Api<DynamicObject> = Api::all_with(this.context.client.clone(), &resource);
    let events = watcher(api, watcher::Config::default()).default_backoff();
    let events = events.modify(|object| object.managed_fields_mut().clear());
    let mut events = std::pin::pin!(events.take_until(stop.cancelled_owned()));
    while let Some(event) = events.next().await {
        let event = match event {
            Ok(event) => event,
            Err(error) => {
                tracing::warn!(kind = resource.kind, %error, "a watch failed; it is tried again");
                continue;
            }
        };
        owners.apply_watcher_event(&event);
        match event {
            watcher::Event::Apply(owner) => this.wake(&owner),
            watcher::Event::Delete(owner) => {
                this.retries.forget(&reference(this.context.kind, &owner))
            }
            watcher::Event::InitDone => this.context.wakeups.wake_all(this.context.kind),
            watcher::Event::Init | watcher::Event::InitApply(_) => {}
        }
    }
}

fn reference(kind: OwnerKind, owner: &DynamicObject) -> OwnerRef {
    ObjectRef::from_obj_with(owner, owner_resource(kind))
}

async fn reconcile(object: Arc<DynamicObject>, this: Arc<Loop>) -> Result<Action, Error> {
    if object.metadata.deletion_timestamp.is_none() {
        this.reconcile(&object).await?;
    }
    this.retries.forget(&reference(this.context.kind, &object));
    Ok(Action::await_change())
}

impl Loop {
    fn wake(&self, owner: &DynamicObject) {
        let namespace = owner.namespace().unwrap_or_default();
        self.context
            .wakeups
            .wake(self.context.kind, &namespace, &owner.name_any());
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
        let blueprint = match selection::choose_blueprint(owner, blueprints) {
            Ok(blueprint) => blueprint,
            Err(why) => {
                status.conclude(
                    conditions::of_owner(owner, &Happened::NoBlueprint(&why)),
                    &now,
                );
                return Ok(());
            }
        };
        status.name_blueprint(&blueprint.name);
        let readiness = self.context.catalogue.judge(blueprint);
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
        let realized = realize::all(&client, &self.context, owner, blueprint).await;
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
