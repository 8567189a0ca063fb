//! A ledger with trackers, and an engine that follows them.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use jiff::{SignedDuration, Timestamp};
use kube::Client;
use kube::client::Body;
use pathline_engine::{
    Connection, Engine, GitHost, Options, RegistryHost, Tracking, TrackingSettings,
};
use pathline_ledger::trackers::CreateOutcome;
use pathline_ledger::{Ledger, Location, SealKey};
use pathline_release::poll::Budget;
use pathline_release::request::{Host, Scheme};
use tempfile::TempDir;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tower::{BoxError, service_fn};

use crate::fleet::{Addresses, Member};

/// The trackers that are made in one transaction.
const AT_ONCE: usize = 1_000;
/// The budget while everything is read for the first time, which is not what is measured.
const INGEST_BUDGET: Budget = Budget {
    per_second: 100_000,
    in_flight: 32,
};
/// The longest time in which everything is read for the first time.
const INGEST_TIMEOUT: Duration = Duration::from_mins(15);
/// The pause before it is asked again whether everything is read.
const PAUSE: Duration = Duration::from_millis(500);

/// A ledger with trackers.
pub(crate) struct Ground {
    pub(crate) ledger: Ledger,
    /// The uids of the trackers, in their order.
    pub(crate) uids: Vec<String>,
    addresses: Addresses,
    directory: TempDir,
}

/// An engine that follows the trackers.
pub(crate) struct Following {
    pub(crate) tracking: Tracking,
    stop: CancellationToken,
    engine: JoinHandle<Result<(), pathline_engine::Error>>,
}

impl Ground {
    /// Makes a ledger with so many trackers, none of which has been looked at.
    pub(crate) async fn make(trackers: usize, addresses: &Addresses) -> Result<Self> {
        let directory = tempfile::tempdir()?;
        let location = Location::File(directory.path().join("ledger.db"));
        let ledger = Ledger::open(&location).await?;
        let ledger = ledger.with_seal_key(SealKey::new(&[7; 32])).await?;
        let mut ground = Self {
            ledger,
            uids: Vec::with_capacity(trackers),
            addresses: addresses.clone(),
            directory,
        };
        let hosts = ground.settings(Budget::default(), SignedDuration::ZERO);
        let hosts = hosts.known_hosts();
        let all: Vec<_> = Member::all(trackers).collect();
        for members in all.chunks(AT_ONCE) {
            let new = members.iter().map(|it| it.tracker(addresses, &hosts));
            let new = new.collect::<Result<_>>()?;
            ground.create(new).await?;
        }
        Ok(ground)
    }

    async fn create(&mut self, new: Vec<pathline_release::request::NewTracker>) -> Result<()> {
        let (trackers, now) = (self.ledger.trackers(), Timestamp::now());
        let created = trackers.create_all(new, SignedDuration::ZERO, "load", now);
        for outcome in created.await? {
            let CreateOutcome::Created(tracker) = outcome else {
                bail!("a tracker is there already");
            };
            self.uids.push(tracker.uid);
        }
        Ok(())
    }

    /// Reads every repository and image for the first time, so that each tracker has a release.
    pub(crate) async fn ingest(&self) -> Result<()> {
        let interval = SignedDuration::from_hours(1);
        let following = self.follow(INGEST_BUDGET, interval);
        let ingested = tokio::time::timeout(INGEST_TIMEOUT, self.wait_released(&following)).await;
        let failure = self.failure(&following);
        following.end().await?;
        match (ingested, failure) {
            (Ok(ingested), _) => ingested,
            (Err(_), failure) => bail!("not all trackers have a release: {failure:?}"),
        }
    }

    async fn wait_released(&self, following: &Following) -> Result<()> {
        let board = &following.tracking.board;
        let is_read = |uid: &String| board.of(uid).is_some_and(|it| it.observed.is_some());
        while !self.uids.iter().all(is_read) {
            tokio::time::sleep(PAUSE).await;
        }
        loop {
            let all = self.ledger.trackers().all_active().await?;
            if all.iter().all(|it| it.state.last_release().is_some()) {
                return Ok(());
            }
            tokio::time::sleep(PAUSE).await;
        }
    }

    /// Returns the failure of a tracker, if there is one.
    pub(crate) fn failure(&self, following: &Following) -> Option<String> {
        let board = &following.tracking.board;
        let mut failures = self
            .uids
            .iter()
            .filter_map(|uid| board.of(uid)?.last_failure);
        failures.next()
    }

    /// Starts an engine that asks every host as often as a budget allows.
    pub(crate) fn follow(&self, budget: Budget, interval: SignedDuration) -> Following {
        let tracking = Tracking {
            settings: Arc::new(self.settings(budget, interval)),
            ..Tracking::default()
        };
        let options = Options {
            tracking: tracking.clone(),
            ..Options::new(self.directory.path(), self.ledger.clone())
        };
        let stop = CancellationToken::new();
        let running = Engine::run(silent_cluster(), options, stop.clone());
        Following {
            tracking,
            stop,
            engine: tokio::spawn(running),
        }
    }

    fn settings(&self, budget: Budget, interval: SignedDuration) -> TrackingSettings {
        let git = self.addresses.git.iter().map(|name| GitHost {
            host: Host {
                name: name.clone(),
                schemes: vec![Scheme::Http],
                has_nested_groups: false,
            },
            github_api: None,
            budget,
        });
        let registries = self.addresses.registries.iter().map(|name| RegistryHost {
            name: name.clone(),
            allows_http: true,
            budget,
            login: None,
        });
        TrackingSettings {
            interval,
            hosts: git.collect(),
            registries: registries.collect(),
            ..TrackingSettings::default()
        }
    }

    /// Returns the files of the ledger.
    pub(crate) fn files(&self) -> [PathBuf; 2] {
        ["ledger.db", "ledger.db-wal"].map(|name| self.directory.path().join(name))
    }
}

impl Following {
    /// Stops the engine.
    pub(crate) async fn end(self) -> Result<()> {
        self.stop.cancel();
        self.engine.await?.context("the engine failed")
    }
}

/// Returns the way to a cluster that never answers: nothing but trackers is followed, and nothing else costs anything.
fn silent_cluster() -> Connection {
    let never = || {
        let service = service_fn(|_: http::Request<Body>| {
            std::future::pending::<Result<http::Response<Body>, BoxError>>()
        });
        Client::new(service, "default")
    };
    Connection::new(never(), never())
}
