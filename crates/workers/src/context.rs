//! The context that all workers share.

use std::fmt::Debug;
use std::future::Future;
use std::hash::Hash;
use std::sync::Arc;
use std::time::Duration;

use futures::{FutureExt, StreamExt};
use kube::core::NamespaceResourceScope;
use kube::runtime::controller::{Action, Error as ControllerError};
use kube::runtime::finalizer::{self, Event, finalizer};
use kube::runtime::{Controller, watcher};
use kube::{Api, Client, Resource, ResourceExt};
use pathline_remote::git::Git;
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use super::Options;
use super::child::Launcher;
use super::git_repository::Schedule;
use super::places::Places;
use super::slots::Slots;

/// Keeps an object until what runs for it has been stopped.
const FINALIZER: &str = "pathline.dev/stop";
/// The pause before a failed reconciliation is tried again.
const RETRY: Duration = Duration::from_secs(5);
/// The time-out of reconciliations in flight when Pathline shuts down: a git server may be silent.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(3);

/// The things that every worker needs.
pub(crate) struct Context {
    pub(crate) client: Client,
    pub(crate) options: Options,
    pub(crate) places: Places,
    pub(crate) launcher: Launcher,
    pub(crate) git: Git,
    pub(crate) slots: Slots,
    /// The permits of tasks to run.
    pub(crate) turns: Arc<Semaphore>,
    pub(crate) schedule: Schedule,
}

/// The reason for which a reconciliation failed; it is tried again.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    #[error("the cluster did not answer as expected")]
    Cluster(#[from] kube::Error),
    #[error("cannot mark or unmark an object as being in use")]
    Finalizer(#[source] Box<finalizer::Error<kube::Error>>),
}

/// Objects the workers serve.
pub(crate) trait Served:
    Resource<DynamicType = (), Scope = NamespaceResourceScope>
    + Clone
    + Debug
    + DeserializeOwned
    + Serialize
    + Send
    + Sync
    + 'static
{
}

impl<K> Served for K where
    K: Resource<DynamicType = (), Scope = NamespaceResourceScope>
        + Clone
        + Debug
        + DeserializeOwned
        + Serialize
        + Send
        + Sync
        + 'static
{
}

/// Objects for which something runs, once for every generation.
pub(crate) trait Runnable: Served {
    /// Tells whether a former Pathline has done all there is to do for this generation.
    fn is_settled(&self) -> bool;

    /// Does it, and reports in the status, until it is done or told to stop.
    fn run(
        self: Arc<Self>,
        context: Arc<Context>,
        stop: CancellationToken,
    ) -> impl Future<Output = ()> + Send + 'static;
}

/// Reconciles every object of one kind until `shutdown`.
pub(crate) async fn control<K, F>(
    context: Arc<Context>,
    shutdown: CancellationToken,
    reconcile: fn(Arc<K>, Arc<Context>) -> F,
) where
    K: Served,
    K::DynamicType: Debug + Default + Eq + Hash + Clone + Unpin,
    F: Future<Output = Result<Action, Error>> + Send + 'static,
{
    let everywhere = Api::<K>::all(context.client.clone());
    let controller = Controller::new(everywhere, watcher::Config::default());
    let store = controller.store();
    let reconciled = controller
        .graceful_shutdown_on(shutdown.clone().cancelled_owned())
        .run(reconcile, |_, _, _| Action::requeue(RETRY), context)
        .for_each(|outcome| async {
            match outcome {
                // The object was deleted between the event and the reconciliation.
                Ok(_) | Err(ControllerError::ObjectNotFound(_)) => {}
                Err(error) => {
                    let why = super::explain::explain(&error);
                    tracing::warn!(kind = %K::kind(&()), why, "reconciliation failed; it is tried again");
                }
            }
        });
    // A controller that is told to stop before it has seen the objects waits for them forever.
    let stopped_early = async {
        shutdown.cancelled().await;
        if store.wait_until_ready().now_or_never().is_some() {
            std::future::pending().await
        }
    };
    // What is cut off here is done again after the next start, as after a crash.
    let stopped_late = async {
        shutdown.cancelled().await;
        tokio::time::sleep(SHUTDOWN_TIMEOUT).await;
    };
    tokio::select! {
        () = reconciled => {}
        () = stopped_early => {}
        () = stopped_late => {}
    }
}

/// Lets the newest generation of an object run, and nothing once it is being deleted.
pub(crate) async fn reconcile_run<K: Runnable>(
    object: Arc<K>,
    context: Arc<Context>,
) -> Result<Action, Error> {
    let namespace = object.namespace().unwrap_or_default();
    let api: Api<K> = Api::namespaced(context.client.clone(), &namespace);
    finalizer(&api, FINALIZER, object, |event| async {
        match event {
            Event::Apply(object) => run_newest(object, &context).await,
            Event::Cleanup(object) => {
                context.slots.stop(&object.uid().unwrap_or_default()).await;
            }
        }
        Ok(Action::await_change())
    })
    .await
    .map_err(|error| Error::Finalizer(Box::new(error)))
}

async fn run_newest<K: Runnable>(object: Arc<K>, context: &Arc<Context>) {
    let uid = object.uid().unwrap_or_default();
    let generation = object.meta().generation.unwrap_or_default();
    match context.slots.generation(&uid) {
        Some(running) if running >= generation => return,
        Some(_) => context.slots.stop(&uid).await,
        None if object.is_settled() => return,
        None => {}
    }
    let shared = context.clone();
    context
        .slots
        .start(&uid, generation, |stop| object.run(shared, stop));
}
