//! The loops: reconcile owners, run the workers of the embedded cluster.
//!
//! Every rule lives in `pathline_blueprint`; this crate carries watch events to those rules and their
//! answers to the cluster. [`Engine::run`] is the one entry: it runs the parts side by side until all have
//! ended. `supply` reconciles, `observe` records what came of it, `tracking` follows repositories and images,
//! `releasing` brings releases to environments, `runtime` carries all of them.

pub mod crds;

mod observe;
mod releasing;
mod runtime;
mod supply;
mod tracking;

use std::path::PathBuf;

use futures::TryFutureExt;
use pathline_ledger::Ledger;
use pathline_workers as workers;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::observe::Observers;
use crate::releasing::environments::EnvironmentWatch;
use crate::runtime::env::Env;
use crate::runtime::lease::Candidate;
use crate::runtime::part::{Part, run_all};

pub use crate::observe::confirm::{ConfirmError, Confirmer, OwnerVersion, owner_resource};
pub use crate::releasing::{ReleasingMetrics, present_parts};
pub use crate::runtime::clock::Clock;
pub use crate::runtime::connection::Connection;
pub use crate::runtime::lease::Election;
pub use crate::runtime::metrics::Metrics;
pub use crate::supply::owner::forget_live;
pub use crate::supply::ytt::Renderer;
pub use crate::tracking::{
    GitHost, PollBoard, Polls, RegistryHost, Tracking, TrackingMetrics, TrackingSettings,
};
pub use pathline_workers::explain;

/// The name under which Pathline owns the fields it writes.
pub const FIELD_MANAGER: &str = "pathline";

/// Runs the loops of Pathline against one cluster.
#[derive(Debug)]
pub struct Engine;

/// The parts to run, and where they may keep files.
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
    /// The clock that every part goes by.
    pub clock: Clock,
    /// The metrics to count into; a handle that the caller may register.
    pub metrics: Metrics,
    /// The path of the ytt program, if it is not on the `PATH`.
    pub ytt: Option<PathBuf>,
    /// The ledger that lineage is recorded in, and read from after a restart.
    pub ledger: Ledger,
    /// The election by which several engines on one cluster agree on who acts; none is needed if there is
    /// only one.
    pub election: Option<Election>,
    /// Becomes true when the workers are prepared: what an earlier run left behind has ended, and
    /// they begin to work.
    pub prepared: watch::Sender<bool>,
    /// The settings of tracking, and the handles by which others see it.
    pub tracking: Tracking,
    /// The metrics of deployments; a handle that the caller may register.
    pub releasing: ReleasingMetrics,
}

impl Options {
    /// Returns what an engine without workers needs.
    pub fn new(data_dir: impl Into<PathBuf>, ledger: Ledger) -> Self {
        Self {
            data_dir: data_dir.into(),
            identity: None,
            workers: None,
            keeper: workers::Keeper::default(),
            clock: Clock::system(),
            metrics: Metrics::default(),
            ytt: None,
            ledger,
            election: None,
            prepared: watch::Sender::new(false),
            tracking: Tracking::default(),
            releasing: ReleasingMetrics::default(),
        }
    }
}

/// The reason why the engine stopped by itself.
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
    /// Runs until `shutdown` is cancelled, then stops every part and returns when the last has ended.
    ///
    /// The kinds of [`crds::all`] must be installed before. If one part fails, the others are stopped too.
    /// With an election, nothing is done but while this engine leads.
    ///
    /// # Errors
    /// Fails if the workers failed, or a part panicked.
    pub async fn run(
        connection: Connection,
        options: Options,
        shutdown: CancellationToken,
    ) -> Result<(), Error> {
        let connection = connection.map(|client| options.metrics.count(client));
        let Some(election) = options.election.clone() else {
            return act(&connection, &options, shutdown.child_token()).await;
        };
        let mut candidate =
            Candidate::new(connection.client().clone(), election, options.clock.clone());
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

/// Runs every part until `stop` is cancelled or one of them fails. Dropping it ends all at once.
async fn act(
    connection: &Connection,
    options: &Options,
    stop: CancellationToken,
) -> Result<(), Error> {
    let env = Env::new(connection, options, stop);
    run_all(parts(&env, options), &env.stop).await
}

/// Returns all parts of the engine.
fn parts(env: &Env, options: &Options) -> Vec<Part> {
    let observers = Observers::new(env);
    let mut parts = supply::parts(env, options.ytt.clone(), &observers);
    parts.extend(observers.parts(env));
    let environments = EnvironmentWatch::default();
    let has_processes = options.workers.is_some_and(|it| it.process);
    let metrics = &options.releasing;
    parts.extend(releasing::parts(env, &environments, metrics, has_processes));
    let known = environments.subscribe();
    parts.push(tracking::part(
        env,
        &options.tracking,
        &options.data_dir,
        known,
    ));
    if let Some(kinds) = options.workers {
        let options = workers::Options {
            identity: options.identity.clone(),
            keeper: options.keeper.clone(),
            kinds,
            prepared: options.prepared.clone(),
            clock: options.clock.clone(),
            ..workers::Options::new(options.data_dir.clone())
        };
        let running = workers::run(env.client.clone(), options, env.stop.clone());
        let running = running.map_err(Error::from);
        parts.push(Part::fallible("workers", running));
    }
    parts
}
