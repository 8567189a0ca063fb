//! The environment that all parts of the engine share.

use kube::Client;
use pathline_ledger::Ledger;
use pathline_remote::git::Git;
use tokio_util::sync::CancellationToken;

use super::clock::Clock;
use super::connection::Connection;
use super::metrics::Metrics;
use super::queues::Queues;
use crate::Options;

/// The environment that every part of the engine works in. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Env {
    /// The client of the engine itself.
    pub(crate) client: Client,
    /// The way to the cluster under any service account.
    pub(crate) connection: Connection,
    pub(crate) ledger: Ledger,
    pub(crate) git: Git,
    pub(crate) clock: Clock,
    pub(crate) metrics: Metrics,
    pub(crate) queues: Queues,
    /// Cancelled when every part has to end.
    pub(crate) stop: CancellationToken,
}

impl Env {
    /// Makes the environment of one engine, which `stop` stops.
    pub(crate) fn new(connection: &Connection, options: &Options, stop: CancellationToken) -> Self {
        Self {
            client: connection.client().clone(),
            connection: connection.clone(),
            ledger: options.ledger.clone(),
            git: Git::new(options.data_dir.join("git-history")),
            clock: options.clock.clone(),
            metrics: options.metrics.clone(),
            queues: Queues::new(&options.metrics, &options.clock),
            stop,
        }
    }
}
