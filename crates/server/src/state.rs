//! The state that all handlers share.

use std::sync::Arc;

use pathline_clock::Clock;
use pathline_engine::{PollBoard, Tracking, TrackingSettings};
use pathline_ledger::Ledger;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::auth::Usage;
use crate::error::ApiError;
use crate::metrics::Metrics;
use crate::readiness::Readiness;
use crate::views::environments::EnvironmentCache;
use crate::views::ingest::{Ingest, IngestHook};
use crate::views::wait::OwnerWatches;

/// The most clients that may follow `/stream` at the same time.
const MAX_FOLLOWERS: usize = 256;
/// The most clients that may wait at the same time; each costs little.
const MAX_WAITERS: usize = 4096;

/// The state that all handlers share: how far the start has come, the metrics, the ledger and the cluster.
#[derive(Clone)]
pub struct AppState {
    readiness: Readiness,
    metrics: Metrics,
    ledger: Option<Ledger>,
    cluster: Option<kube::Client>,
    clock: Clock,
    usage: Usage,
    followers: Arc<Semaphore>,
    waiters: Arc<Semaphore>,
    owner_watches: OwnerWatches,
    releases: Arc<ReleaseState>,
    ingest: Ingest,
    closing: CancellationToken,
    /// The tasks that requests start and do not wait for.
    tasks: TaskTracker,
}

/// The state of what trackers and releases need, behind one pointer: every request holds the state, some for long.
#[derive(Default)]
struct ReleaseState {
    tracking: Tracking,
    environments: EnvironmentCache,
}

impl AppState {
    /// Returns the state of a Pathline that has just begun to start: alive, and nothing ready yet.
    pub fn new(version: &'static str) -> Self {
        let tasks = TaskTracker::new();
        Self {
            readiness: Readiness::default(),
            metrics: Metrics::new(version),
            ledger: None,
            cluster: None,
            clock: Clock::system(),
            usage: Usage::new(tasks.clone()),
            followers: Arc::new(Semaphore::new(MAX_FOLLOWERS)),
            waiters: Arc::new(Semaphore::new(MAX_WAITERS)),
            owner_watches: OwnerWatches::new(tasks.clone()),
            releases: Arc::default(),
            ingest: Ingest::default(),
            closing: CancellationToken::new(),
            tasks,
        }
    }

    /// Adds the ledger, without which every token is refused.
    #[must_use]
    pub fn with_ledger(mut self, ledger: Ledger) -> Self {
        self.ledger = Some(ledger);
        self
    }

    /// Adds the cluster that owners live in.
    #[must_use]
    pub fn with_cluster(mut self, cluster: kube::Client) -> Self {
        self.cluster = Some(cluster);
        self
    }

    /// Takes the time from a clock: when tokens end, and when they were made and used.
    #[must_use]
    pub fn with_clock(mut self, clock: Clock) -> Self {
        self.clock = clock;
        self
    }

    /// Adds the settings of tracking, and the board of its polls.
    #[must_use]
    pub fn with_tracking(mut self, tracking: Tracking) -> Self {
        self.releases = Arc::new(ReleaseState {
            tracking,
            environments: EnvironmentCache::default(),
        });
        self
    }

    /// Adds the senders whose messages are taken.
    #[must_use]
    pub fn with_ingest(mut self, hooks: Vec<IngestHook>) -> Self {
        self.ingest = Ingest::new(hooks);
        self
    }

    /// Ends open streams when `closing` is cancelled; they would otherwise never end.
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

    /// Returns the ledger, or says that it is not there yet.
    pub fn ledger(&self) -> Result<&Ledger, ApiError> {
        self.ledger
            .as_ref()
            .ok_or_else(|| ApiError::unavailable("the ledger is not open yet"))
    }

    /// Returns a client of the cluster, or says that it is not there yet.
    pub fn cluster(&self) -> Result<&kube::Client, ApiError> {
        self.cluster
            .as_ref()
            .ok_or_else(|| ApiError::unavailable("the cluster is not there yet"))
    }

    /// Returns the token that is cancelled when the server stops.
    pub fn closing(&self) -> &CancellationToken {
        &self.closing
    }

    /// Waits, after the last request was answered, until nothing runs that a request has started.
    pub async fn ended(&self) {
        self.tasks.close();
        self.tasks.wait().await;
    }

    pub(crate) fn clock(&self) -> &Clock {
        &self.clock
    }

    pub(crate) fn tracking(&self) -> &TrackingSettings {
        &self.releases.tracking.settings
    }

    pub(crate) fn polls(&self) -> &PollBoard {
        &self.releases.tracking.board
    }

    pub(crate) fn ingest(&self) -> &Ingest {
        &self.ingest
    }

    /// Returns the environments of the cluster, for those who ask again and again.
    pub(crate) fn environments(&self) -> &EnvironmentCache {
        &self.releases.environments
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
