//! What the doors lead to.

use std::sync::Arc;

use pathline_ledger::Ledger;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use crate::auth::Usage;
use crate::health::Readiness;
use crate::metrics::Metrics;
use crate::refusal::Refusal;
use crate::wait::OwnerWatches;

/// How many may follow `/stream` at the same time.
const FOLLOWERS: usize = 256;
/// How many may wait at the same time; each costs little.
const WAITERS: usize = 4096;

/// Holds what the doors show: how far the start has come, the metrics, the ledger and the cluster.
#[derive(Clone)]
pub struct Doors {
    readiness: Readiness,
    metrics: Metrics,
    ledger: Option<Ledger>,
    cluster: Option<kube::Client>,
    usage: Usage,
    followers: Arc<Semaphore>,
    waiters: Arc<Semaphore>,
    owner_watches: OwnerWatches,
    closing: CancellationToken,
}

impl Doors {
    /// Returns doors of a Pathline that has just begun to start: alive, and nothing ready yet.
    pub fn new(version: &'static str) -> Self {
        Self {
            readiness: Readiness::default(),
            metrics: Metrics::new(version),
            ledger: None,
            cluster: None,
            usage: Usage::default(),
            followers: Arc::new(Semaphore::new(FOLLOWERS)),
            waiters: Arc::new(Semaphore::new(WAITERS)),
            owner_watches: OwnerWatches::default(),
            closing: CancellationToken::new(),
        }
    }

    /// Gives them the memory, without which nobody is let in.
    #[must_use]
    pub fn with_ledger(mut self, ledger: Ledger) -> Self {
        self.ledger = Some(ledger);
        self
    }

    /// Gives them the cluster that owners live in.
    #[must_use]
    pub fn with_cluster(mut self, cluster: kube::Client) -> Self {
        self.cluster = Some(cluster);
        self
    }

    /// Tells them when to let go of those who follow, who would otherwise never leave.
    #[must_use]
    pub fn closing_with(mut self, closing: CancellationToken) -> Self {
        self.closing = closing;
        self
    }

    /// Returns the handle that the parts report to when they come up or go down.
    pub fn readiness(&self) -> &Readiness {
        &self.readiness
    }

    /// Returns the handle through which other crates register their metrics.
    pub fn metrics(&self) -> &Metrics {
        &self.metrics
    }

    /// Returns the memory, or says that it is not there yet.
    pub fn ledger(&self) -> Result<&Ledger, Refusal> {
        self.ledger
            .as_ref()
            .ok_or_else(|| Refusal::unavailable("the ledger is not open yet"))
    }

    /// Returns a client of the cluster, or says that it is not there yet.
    pub fn cluster(&self) -> Result<&kube::Client, Refusal> {
        self.cluster
            .as_ref()
            .ok_or_else(|| Refusal::unavailable("the cluster is not there yet"))
    }

    /// Returns what is cancelled when the doors close.
    pub fn closing(&self) -> &CancellationToken {
        &self.closing
    }

    pub(crate) fn usage(&self) -> &Usage {
        &self.usage
    }

    pub(crate) fn followers(&self) -> &Arc<Semaphore> {
        &self.followers
    }

    pub(crate) fn waiters(&self) -> &Arc<Semaphore> {
        &self.waiters
    }

    /// Returns the watches of owners that are not there yet.
    pub(crate) fn owner_watches(&self) -> &OwnerWatches {
        &self.owner_watches
    }
}
