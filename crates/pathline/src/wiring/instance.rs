//! One running Pathline: the cluster, the servers and the engine, started and stopped in order.

use std::net::SocketAddr;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context;
use k8s_openapi::api::core::v1::Namespace;
use kube::Client;
use kube::api::ApiResource;
use pathline_clock::Clock;
use pathline_cluster::Cluster;
use pathline_engine::{Connection, Engine, Tracking};
use pathline_ledger::{ClusterRef, Location};
use pathline_server::{AppState, Part};
use pathline_workers::{Keeper, Kinds};
use tokio::net::TcpListener;
use tokio::sync::watch;

use crate::cli::Address;
use crate::cli::settings::TrackerSettings;
use crate::terminal::report::CommandError;
use crate::wiring::admission::{Mode, Rules};
use crate::wiring::environments::{self, Namespaces, Provisioning};
use crate::wiring::identity::{self, Established};
use crate::wiring::ledger_home::{self, LedgerClaim, LedgerHome};
use crate::wiring::private;
use crate::wiring::tasks::Tasks;
use crate::wiring::tracker_files::Beginnings;

/// The directory, the addresses and the programs of an instance.
#[derive(Debug)]
pub(crate) struct Options {
    pub(crate) data_dir: PathBuf,
    /// True if a copy of a data directory, or a ledger of another cluster, is adopted, with `--adopt`.
    pub(crate) adopt: bool,
    pub(crate) listen: Address,
    pub(crate) kube_listen: Address,
    pub(crate) admission: Mode,
    /// The ytt program, if it is not on the `PATH`.
    pub(crate) ytt: Option<PathBuf>,
    /// The one in the data directory unless said otherwise.
    pub(crate) ledger: Option<Location>,
    pub(crate) trackers: TrackerSettings,
}

/// A Pathline that runs in this process.
///
/// Dropping it without [`Instance::stop`] is like a crash: nothing acknowledged is lost, but
/// processes that workers started may live on until the next start on the same directory.
pub(crate) struct Instance {
    cluster: Cluster,
    home: LedgerHome,
    engine: Tasks,
    servers: Tasks,
    readiness: pathline_server::Readiness,
    prepared: watch::Receiver<bool>,
    data_dir: PathBuf,
    listen: SocketAddr,
    kube_listen: SocketAddr,
    kubeconfig: PathBuf,
}

impl Instance {
    /// Starts everything; returns when the kinds are installed and the kubeconfig is written.
    pub(crate) async fn start(options: &Options) -> Result<Self, CommandError> {
        // Before our limits are raised, so that commands have those of whoever started us.
        let keeper = Keeper::default();
        let data_dir = prepare(&options.data_dir)?;
        let clock = Clock::system();
        // First of all, because it also makes sure that nobody else uses the directory.
        let cluster = Cluster::open(pathline_cluster::Options {
            admission: Some(Arc::new(Rules(options.admission))),
            clock: clock.clone(),
            ..pathline_cluster::Options::new(&data_dir)
        })
        .await?;
        let Established { identity, was_copy } = identity::establish(&data_dir, options.adopt)?;
        let claim = LedgerClaim {
            cluster: ClusterRef {
                uid: identity.id().to_owned(),
                name: data_dir.display().to_string(),
            },
            adopt: options.adopt,
            is_embedded: true,
            seal_key: options.trackers.seal_key.clone(),
        };
        let home = LedgerHome::open(options.ledger.as_ref(), &data_dir, &claim, &clock).await?;
        // All kinds of the embedded cluster share one count of revisions, and this one is always there.
        let (client, kind) = (cluster.client(), ApiResource::erase::<Namespace>(&()));
        let revision = ledger_home::revision(&client, &kind);
        home.check_revision(revision, &clock).await?;
        if options.adopt && !was_copy && home.taken_over_from().is_none() {
            identity::announce_nothing_to_adopt();
        }
        let tracking = tracking(&options.trackers);
        let listener = pathline_server::listen(options.listen.as_str(), "--listen").await?;
        let kube_listener =
            pathline_server::listen(options.kube_listen.as_str(), "--kube-listen").await?;
        let listen = pathline_server::reachable(listener.local_addr()?);
        let kube_listen = pathline_server::reachable(kube_listener.local_addr()?);

        pathline_workers::forget_runs(&cluster.client(), &clock)
            .await
            .context("cannot say that no process runs yet")?;
        pathline_engine::forget_live(&cluster.client())
            .await
            .context("cannot say that nothing is known to be live yet")?;
        let mut servers = Tasks::default();
        let state = app_state(&home, cluster.client(), &servers, clock.clone())
            .with_tracking(tracking.clone())
            .with_ingest(options.trackers.config.ingest.clone());
        let has_had = Provisioning::of(&client).await?.is_complete();
        let trackers = &options.trackers;
        let mut beginnings = Beginnings::read(trackers, home.ledger(), has_had).await?;
        beginnings
            .make_trackers(trackers, home.ledger(), &clock)
            .await?;
        let readiness = state.readiness().clone();
        serve_api(&mut servers, state.clone(), listener);
        serve_cluster(&mut servers, &cluster, kube_listener);
        readiness.mark_ready(Part::Cluster);
        readiness.follow(Part::Cluster, cluster.writable());

        pathline_engine::crds::install(&cluster.client())
            .await
            .context("cannot install the kinds of Pathline")?;
        let usual = || pathline_release::environment::usual();
        let wanted = beginnings.environments.unwrap_or_else(usual);
        environments::make(&client, &wanted, Namespaces::Make).await?;
        readiness.mark_ready(Part::Crds);
        let kubeconfig = data_dir.join("kubeconfig");
        private::write(&kubeconfig, &cluster.kubeconfig(kube_listen))
            .context("cannot write the kubeconfig")?;
        home.announce(listen)?;

        let anonymous = Client::new(cluster.service(), "default");
        let connection = Connection::new(cluster.client(), anonymous);
        let engine_options = pathline_engine::Options {
            identity: Some(identity),
            workers: Some(Kinds::all()),
            keeper,
            ytt: options.ytt.clone(),
            tracking,
            clock,
            ..pathline_engine::Options::new(&data_dir, home.ledger().clone())
        };
        let prepared = engine_options.prepared.subscribe();
        readiness.follow(Part::Engine, prepared.clone());
        let mut engine = start_engine(connection, engine_options, &state);
        home.guard(&mut engine);

        Ok(Self {
            cluster,
            home,
            engine,
            servers,
            readiness,
            prepared,
            data_dir,
            listen,
            kube_listen,
            kubeconfig,
        })
    }

    /// Returns a client of the cluster, with all rights.
    pub(crate) fn client(&self) -> Client {
        self.cluster.client()
    }

    /// Returns the data directory as an absolute path.
    pub(crate) fn data_dir(&self) -> &Path {
        &self.data_dir
    }

    /// Returns the address of Pathline itself, for programs on this machine.
    pub(crate) fn listen(&self) -> SocketAddr {
        self.listen
    }

    /// Returns the address of the Kubernetes API, for programs on this machine.
    pub(crate) fn kube_listen(&self) -> SocketAddr {
        self.kube_listen
    }

    /// Returns the path of the kubeconfig that was written for the user.
    pub(crate) fn kubeconfig(&self) -> &Path {
        &self.kubeconfig
    }

    /// Waits until the workers are prepared: nothing of an earlier run is in their way.
    pub(crate) async fn prepared(&mut self) -> Result<(), CommandError> {
        let mut prepared = self.prepared.clone();
        tokio::select! {
            // Without an engine nobody prepares them; that it has ended is said below.
            Ok(_) = prepared.wait_for(|prepared| *prepared) => Ok(()),
            failure = self.broken() => Err(failure),
        }
    }

    /// Waits until a part ends although nobody asked it to, and says why.
    pub(crate) async fn broken(&mut self) -> CommandError {
        let (part, why) = tokio::select! {
            why = self.engine.ended() => (Part::Engine, why),
            why = self.servers.ended() => (Part::Cluster, why),
        };
        self.readiness.mark_down(part);
        CommandError::from(why)
    }

    /// Stops in order: first what writes to the cluster, then the ways in, then the cluster and the
    /// ledger.
    pub(crate) async fn stop(self) {
        self.readiness.mark_down(Part::Engine);
        tracing::debug!("stopping the engine");
        self.engine.stop().await;
        tracing::debug!("closing the servers");
        self.servers.stop().await;
        tracing::debug!("closing the cluster");
        self.cluster.close().await;
        tracing::debug!("closing the ledger");
        self.home.close().await;
    }
}

/// Makes the data directory, for this user only, and returns its absolute path: artifacts are named
/// by it in the cluster.
pub(crate) fn prepare(data_dir: &Path) -> Result<PathBuf, CommandError> {
    let made = std::fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(data_dir)
        .and_then(|()| data_dir.canonicalize())
        .with_context(|| format!("cannot use {} as the data directory", data_dir.display()))?;
    private::claim(&made)?;
    Ok(made)
}

/// Returns the settings of tracking, with handles of their own.
pub(crate) fn tracking(settings: &TrackerSettings) -> Tracking {
    Tracking {
        settings: Arc::new(settings.config.tracking.clone()),
        ..Tracking::default()
    }
}

/// Starts the loops against a cluster, embedded or real, and shows what they count under `/metrics`.
pub(crate) fn start_engine(
    connection: Connection,
    options: pathline_engine::Options,
    state: &AppState,
) -> Tasks {
    let (metrics, tracking) = (options.metrics.clone(), options.tracking.metrics.clone());
    let releasing = options.releasing.clone();
    state.metrics().register(|registry| {
        metrics.register(registry);
        tracking.register(registry);
        releasing.register(registry);
    });
    let mut engine = Tasks::default();
    engine.run(Engine::run(connection, options, engine.shutdown.clone()));
    state.readiness().mark_ready(Part::Engine);
    engine
}

/// Returns the state of a server of the ledger and the cluster, which stops when `tasks` stop.
pub(crate) fn app_state(
    home: &LedgerHome,
    cluster: Client,
    tasks: &Tasks,
    clock: Clock,
) -> AppState {
    let state = AppState::new(env!("CARGO_PKG_VERSION"))
        .with_ledger(home.ledger().clone())
        .with_cluster(cluster)
        .with_clock(clock)
        .closing_with(tasks.shutdown.clone());
    state.readiness().mark_ready(Part::Ledger);
    let writable = home.ledger().writable();
    state.readiness().follow(Part::Ledger, writable);
    state
}

/// Answers on the port of Pathline itself.
pub(crate) fn serve_api(servers: &mut Tasks, state: AppState, listener: TcpListener) {
    // Before any limit is taken from it.
    pathline_cluster::serve::raise_descriptor_limit();
    let (router, limits) = (
        pathline_server::app(state.clone()),
        pathline_server::Limits::default(),
    );
    let serving = pathline_server::serve(listener, router, limits, servers.shutdown.clone());
    servers.run(async move {
        serving.await;
        state.ended().await;
        anyhow::Ok(())
    });
}

fn serve_cluster(servers: &mut Tasks, cluster: &Cluster, listener: TcpListener) {
    let (cluster, shutdown) = (cluster.clone(), servers.shutdown.clone());
    servers.run(async move { cluster.serve(listener, shutdown).await });
}
