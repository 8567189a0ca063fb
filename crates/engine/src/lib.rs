//! The loops: reconcile owners, run the workers of the embedded cluster.
//!
//! Every rule lives in `pathline_blueprint`; this crate carries watch events to those rules and their
//! answers to the cluster. [`Engine::run`] is the one entry: it starts the loops and joins them.

pub mod crds;
pub mod workers;

mod accounts;
mod blueprint_status;
mod calls;
mod catalogue;
mod clients;
mod connection;
mod events;
mod following;
mod inputs_before;
mod last_mile;
mod lease;
mod lineage;
mod metrics;
mod objects;
mod owner;
mod packed;
mod queue;
mod rounds;
mod runnable;
mod runs;
mod selected;
mod shelf;
mod stamped;
mod wakeups;
mod watches;
mod ytt;

use std::path::PathBuf;
use std::sync::Arc;

use kube::Client;
use pathline_blueprint::owner::OwnerKind;
use pathline_ledger::Ledger;
use pathline_remote::git::Git;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::catalogue::Catalogue;
use crate::clients::Clients;
pub use crate::connection::Connection;
use crate::events::Events;
use crate::last_mile::{Deliveries, LastMiles};
use crate::lease::Candidate;
use crate::lineage::Lineage;
use crate::selected::Selections;
use crate::wakeups::Wakeups;
use crate::watches::Watches;

pub use crate::lease::Election;
pub use crate::metrics::Metrics;
pub use crate::owner::forget_live;
pub use crate::ytt::Renderer;

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
    /// The identity of that directory; without one it is taken for an original.
    pub identity: Option<workers::Identity>,
    /// The workers to run, if any; the embedded cluster needs all of them.
    pub workers: Option<workers::Kinds>,
    /// The supervisor process that workers start above every command.
    pub keeper: workers::Keeper,
    /// What the engine counts into; a handle that the caller may register.
    pub metrics: Metrics,
    /// Where the ytt program is, if it is not on the `PATH`.
    pub ytt: Option<PathBuf>,
    /// Where lineage is written down, and read again after a restart.
    pub ledger: Ledger,
    /// How several engines on one cluster agree on who acts; none is needed if there is only one.
    pub election: Option<Election>,
    /// Becomes true when the workers are prepared: what an earlier run left behind has ended, and
    /// they begin to work.
    pub prepared: watch::Sender<bool>,
}

impl Options {
    /// Returns what an engine without workers needs.
    pub fn new(data_dir: impl Into<PathBuf>, ledger: Ledger) -> Self {
        Self {
            data_dir: data_dir.into(),
            identity: None,
            workers: None,
            keeper: workers::Keeper::default(),
            metrics: Metrics::default(),
            ytt: None,
            ledger,
            election: None,
            prepared: watch::Sender::new(false),
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
    /// With an election, nothing is done but while this engine leads.
    pub async fn run(
        connection: Connection,
        options: Options,
        shutdown: CancellationToken,
    ) -> Result<(), Error> {
        let connection = connection.map(|client| options.metrics.count(client));
        let Some(election) = options.election.clone() else {
            return act(&connection, &options, shutdown.child_token()).await;
        };
        let mut candidate = Candidate::new(connection.client().clone(), election);
        while candidate.win(&shutdown).await {
            let term = shutdown.child_token();
            let acted = tokio::select! {
                acted = act(&connection, &options, term.clone()) => Some(acted),
                // What is going on is cut off, not finished: the next leader may start soon.
                () = candidate.hold() => None,
            };
            term.cancel();
            if let Some(acted) = acted {
                candidate.release().await;
                return acted;
            }
        }
        Ok(())
    }
}

/// Runs every loop until `stop` is cancelled or one of them fails. Dropping it ends all at once.
async fn act(
    connection: &Connection,
    options: &Options,
    stop: CancellationToken,
) -> Result<(), Error> {
    let mut loops: JoinSet<Result<(), Error>> = JoinSet::new();
    start_owners(connection, options, &stop, &mut loops);
    if let Some(kinds) = options.workers {
        let options = workers::Options {
            identity: options.identity.clone(),
            keeper: options.keeper.clone(),
            kinds,
            prepared: options.prepared.clone(),
            ..workers::Options::new(options.data_dir.clone())
        };
        let running = workers::run(connection.client().clone(), options, stop.clone());
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

/// Starts what realizes owners: their queues, the catalogue, and the watches on what they stamp.
fn start_owners(
    connection: &Connection,
    options: &Options,
    stop: &CancellationToken,
    loops: &mut JoinSet<Result<(), Error>>,
) {
    let client = connection.client();
    let clients = Clients::new(connection.clone());
    let (wakeups, [workloads, deliverables, runnables]) = Wakeups::new(&options.metrics);
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
    loops.spawn(infallible(boxed(accounts::follow(
        client.clone(),
        clients.clone(),
        wakeups.clone(),
        stop.clone(),
    ))));
    let selections = Selections::new(client.clone(), wakeups.clone(), stop.clone());
    let selections = Arc::new(selections);
    let last_miles = Arc::new(last_miles(client, options, &wakeups, stop));
    let context = runnable::Context {
        client: client.clone(),
        clients: clients.clone(),
        catalogue: catalogue.clone(),
        watches: watches.clone(),
        selections: selections.clone(),
        wakeups: wakeups.clone(),
        last_miles: last_miles.clone(),
    };
    loops.spawn(infallible(boxed(runnable::run(
        context,
        runnables,
        stop.clone(),
    ))));
    loops.spawn(infallible(boxed(lineage::end_lost(
        client.clone(),
        options.ledger.clone(),
        stop.clone(),
    ))));
    let lineage = Lineage::new(options.ledger.clone(), options.metrics.clone());
    let lineage = Arc::new(lineage);
    let renderer = Arc::new(Renderer::new(options.ytt.clone()));
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
            renderer: renderer.clone(),
            lineage: lineage.clone(),
            last_miles: last_miles.clone(),
        };
        loops.spawn(infallible(boxed(owner::run(context, lane, stop.clone()))));
    }
    loops.spawn(infallible(boxed(async move { watches.ended().await })));
    loops.spawn(infallible(boxed(async move { selections.ended().await })));
    loops.spawn(infallible(boxed(async move { last_miles.ended().await })));
}

/// Makes what judges whether the things that owners lead to run.
fn last_miles(
    client: &Client,
    options: &Options,
    wakeups: &Wakeups,
    stop: &CancellationToken,
) -> LastMiles {
    let deliveries = Deliveries::new(
        client.clone(),
        Git::new(options.data_dir.join("git-history")),
        options.ledger.clone(),
        wakeups.clone(),
    );
    LastMiles::new(client.clone(), wakeups.clone(), deliveries, stop.clone())
}

fn boxed(
    running: impl Future<Output = ()> + Send + 'static,
) -> futures::future::BoxFuture<'static, ()> {
    Box::pin(running)
}
