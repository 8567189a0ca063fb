//! The loops: reconcile owners, run the workers of the embedded cluster.
//!
//! Every rule lives in `pathline_blueprint`; this crate carries watch events to those rules and their
//! answers to the cluster. [`Engine::run`] is the one entry: it starts the loops and joins them.

pub mod crds;
pub mod workers;

mod blueprint_status;
mod calls;
mod catalogue;
mod clients;
mod connection;
mod events;
mod following;
mod metrics;
mod owner;
mod queue;
mod shelf;
mod stamped;
mod wakeups;
mod watches;

use std::path::PathBuf;
use std::sync::Arc;

use pathline_blueprint::owner::OwnerKind;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::catalogue::Catalogue;
use crate::clients::Clients;
pub use crate::connection::Connection;
use crate::events::Events;
use crate::wakeups::Wakeups;
use crate::watches::Watches;

pub use crate::metrics::Metrics;

/// The name under which Pathline owns the fields it writes.
pub const FIELD_MANAGER: &str = "pathline";

/// Runs the loops of Pathline against one cluster.
#[derive(Debug)]
pub struct Engine;

/// Says what to run, and where it may keep files.
#[derive(Debug, Clone)]
pub struct Options {
    /// The directory of the workers' logs, checkouts and artifacts.
    pub data_dir: PathBuf,
    /// Whether to run the workers, which only the embedded cluster needs.
    pub workers: bool,
    /// What the engine counts into; a handle that the caller may register.
    pub metrics: Metrics,
}

impl Options {
    /// Returns what an engine without workers needs.
    pub fn new(data_dir: impl Into<PathBuf>) -> Self {
        Self {
            data_dir: data_dir.into(),
            workers: false,
            metrics: Metrics::default(),
        }
    }
}

/// Says why the engine stopped before it was told to.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A worker could not be started or failed for good.
    #[error("the workers stopped")]
    Workers(#[from] workers::Error),
    /// A loop panicked, which is a defect of Pathline.
    #[error("a loop of the engine ended by a panic; please report this with the log above")]
    Panicked(#[from] tokio::task::JoinError),
}

impl Engine {
    /// Runs until `shutdown` is cancelled, then stops every loop and returns when the last has ended.
    ///
    /// The kinds of [`crds::all`] must be installed before. If one loop fails, the others are stopped too.
    pub async fn run(
        connection: Connection,
        options: Options,
        shutdown: CancellationToken,
    ) -> Result<(), Error> {
        let stop = shutdown.child_token();
        let mut loops: JoinSet<Result<(), Error>> = JoinSet::new();
        let connection = connection.map(|client| options.metrics.count(client));
        start_owners(&connection, &options.metrics, &stop, &mut loops);
        if options.workers {
            let running = workers::run(
                connection.client().clone(),
                workers::Options::new(options.data_dir),
                stop.clone(),
            );
            loops.spawn(async { running.await.map_err(Error::from) });
        }
        let mut result = Ok(());
        while let Some(ended) = loops.join_next().await {
            // Only the first failure is the cause; later ones follow from being stopped.
            result = result.and(ended.map_err(Error::from).flatten());
            if result.is_err() {
                stop.cancel();
            }
        }
        result
    }
}

/// Starts what realizes owners: their queues, the catalogue, and the watches on what they stamp.
fn start_owners(
    connection: &Connection,
    metrics: &Metrics,
    stop: &CancellationToken,
    loops: &mut JoinSet<Result<(), Error>>,
) {
    let client = connection.client();
    let clients = Clients::new(connection.clone());
    let (wakeups, [workloads, deliverables, _]) = Wakeups::new(metrics);
    let catalogue = Arc::new(Catalogue::default());
    let watches = Arc::new(Watches::new(client.clone(), wakeups.clone(), stop.clone()));
    let infallible = |running| async {
        let () = running.await;
        Ok(())
    };

    loops.spawn(infallible(boxed(catalogue.clone().follow(
        client.clone(),
        wakeups.clone(),
        stop.clone(),
    ))));
    loops.spawn(infallible(boxed(blueprint_status::report(
        client.clone(),
        catalogue.clone(),
        stop.clone(),
    ))));
    loops.spawn(infallible(boxed(watches::follow_kinds(
        client.clone(),
        wakeups.clone(),
        stop.clone(),
    ))));
    let (swept, of_whom, until) = (watches.clone(), client.clone(), stop.clone());
    loops.spawn(infallible(boxed(async move {
        watches::sweep(of_whom, &swept, until).await;
    })));
    let (events, waiting) = Events::new();
    loops.spawn(infallible(boxed(events::publish(
        client.clone(),
        waiting,
        stop.clone(),
    ))));
    let lanes = [workloads, deliverables];
    for (kind, lane) in OwnerKind::ALL.into_iter().zip(lanes) {
        let context = owner::Context {
            kind,
            client: client.clone(),
            clients: clients.clone(),
            catalogue: catalogue.clone(),
            watches: watches.clone(),
            wakeups: wakeups.clone(),
            events: events.clone(),
        };
        loops.spawn(infallible(boxed(owner::run(context, lane, stop.clone()))));
    }
    loops.spawn(infallible(boxed(async move { watches.ended().await })));
}

fn boxed(
    running: impl Future<Output = ()> + Send + 'static,
) -> futures::future::BoxFuture<'static, ()> {
    Box::pin(running)
}
