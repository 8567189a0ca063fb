//! The loops: reconcile owners, run the workers of the embedded cluster.
//!
//! Every rule lives in `pathline_blueprint`; this crate carries watch events to those rules and their
//! answers to the cluster. [`Engine::run`] is the one entry: it starts the loops and joins them.

pub mod crds;
pub mod workers;

use std::path::PathBuf;

use kube::Client;
use tokio_util::sync::CancellationToken;

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
}

/// Says why the engine stopped before it was told to.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A worker could not be started or failed for good.
    #[error("the workers stopped")]
    Workers(#[from] workers::Error),
}

impl Engine {
    /// Runs until `shutdown` is cancelled, then stops every loop and returns when the last has ended.
    ///
    /// The kinds of [`crds::all`] must be installed before.
    pub async fn run(
        client: Client,
        options: Options,
        shutdown: CancellationToken,
    ) -> Result<(), Error> {
        if options.workers {
            workers::run(client, options.data_dir, shutdown).await?;
        }
        Ok(())
    }
}
