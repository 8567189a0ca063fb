//! One running Pathline: the cluster, the doors and the engine, started and stopped in order.

mod kubeconfig;

use std::net::SocketAddr;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use anyhow::Context;
use kube::Client;
use pathline_cluster::Cluster;
use pathline_engine::{Connection, Engine};
use pathline_server::{Doors, Part};
use tokio::net::TcpListener;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::cli::Address;
use crate::report::Failure;

/// Where an instance lives and listens.
#[derive(Debug)]
pub(crate) struct Options {
    pub(crate) data_dir: PathBuf,
    pub(crate) listen: Address,
    pub(crate) kube_listen: Address,
}

/// A Pathline that runs in this process.
///
/// Dropping it without [`Instance::stop`] is like a crash: nothing acknowledged is lost, but
/// processes that workers started may live on until the next start on the same directory.
pub(crate) struct Instance {
    cluster: Cluster,
    engine: Tasks,
    doors: Tasks,
    readiness: pathline_server::Readiness,
    data_dir: PathBuf,
    listen: SocketAddr,
    kube_listen: SocketAddr,
    kubeconfig: PathBuf,
}

/// Tasks that run until they are told to stop, and what they were told with.
#[derive(Default)]
struct Tasks {
    shutdown: CancellationToken,
    running: JoinSet<anyhow::Result<()>>,
}

impl Instance {
    /// Starts everything; returns when the kinds are installed and the kubeconfig is written.
    pub(crate) async fn start(options: &Options) -> Result<Self, Failure> {
        let data_dir = prepare(&options.data_dir)?;
        // First of all, because it also makes sure that nobody else uses the directory.
        let cluster = Cluster::open(pathline_cluster::Options::new(&data_dir)).await?;
        let door = pathline_server::listen(options.listen.as_str(), "--listen").await?;
        let kube_door =
            pathline_server::listen(options.kube_listen.as_str(), "--kube-listen").await?;
        let listen = pathline_server::reachable(door.local_addr()?);
        let kube_listen = pathline_server::reachable(kube_door.local_addr()?);

        let state = Doors::new(env!("CARGO_PKG_VERSION"));
        let readiness = state.readiness().clone();
        let registry = state.metrics().clone();
        let mut doors = Tasks::default();
        serve_doors(&mut doors, state, door);
        serve_cluster(&mut doors, &cluster, kube_door);
        readiness.mark_ready(Part::Cluster);

        pathline_engine::crds::install(&cluster.client())
            .await
            .context("cannot install the kinds of Pathline")?;
        readiness.mark_ready(Part::Crds);
        let kubeconfig = kubeconfig::write(&data_dir, &cluster.kubeconfig(kube_listen))
            .context("cannot write the kubeconfig")?;

        let metrics = pathline_engine::Metrics::default();
        registry.register(|registry| metrics.register(registry));
        let mut engine = Tasks::default();
        let anonymous = Client::new(cluster.service(), "default");
        engine.run(Engine::run(
            Connection::new(cluster.client(), anonymous),
            pathline_engine::Options {
                workers: true,
                metrics,
                ..pathline_engine::Options::new(&data_dir)
            },
            engine.shutdown.clone(),
        ));
        readiness.mark_ready(Part::Engine);

        Ok(Self {
            cluster,
            engine,
            doors,
            readiness,
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

    /// Waits until a part ends although nobody asked it to, and says why.
    pub(crate) async fn broken(&mut self) -> Failure {
        let (part, why) = tokio::select! {
            why = self.engine.ended() => (Part::Engine, why),
            why = self.doors.ended() => (Part::Cluster, why),
        };
        self.readiness.mark_down(part);
        Failure::from(why)
    }

    /// Stops in order: first what writes to the cluster, then the ways in, then the cluster.
    pub(crate) async fn stop(self) {
        self.readiness.mark_down(Part::Engine);
        tracing::debug!("stopping the engine");
        self.engine.stop().await;
        tracing::debug!("closing the doors");
        self.doors.stop().await;
        tracing::debug!("closing the cluster");
        self.cluster.close().await;
    }
}

impl Tasks {
    fn run<E>(&mut self, task: impl Future<Output = Result<(), E>> + Send + 'static)
    where
        E: Into<anyhow::Error>,
    {
        self.running.spawn(async { task.await.map_err(Into::into) });
    }

    /// Waits for the first task to end; none should, while nobody has asked.
    async fn ended(&mut self) -> anyhow::Error {
        match self.running.join_next().await {
            Some(Ok(Err(error))) => error,
            Some(Err(panicked)) => anyhow::Error::new(panicked).context("a part of Pathline broke"),
            Some(Ok(Ok(()))) | None => anyhow::Error::msg("a part of Pathline ended unasked"),
        }
    }

    async fn stop(mut self) {
        self.shutdown.cancel();
        while let Some(ended) = self.running.join_next().await {
            match ended {
                Ok(Ok(())) => {}
                Ok(Err(error)) => tracing::warn!("while stopping: {error:#}"),
                Err(panicked) => tracing::error!("while stopping: {panicked}"),
            }
        }
    }
}

/// Makes the data directory, for this user only, and returns its absolute path: artifacts are named
/// by it in the cluster.
fn prepare(data_dir: &Path) -> anyhow::Result<PathBuf> {
    std::fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(data_dir)
        .and_then(|()| data_dir.canonicalize())
        .with_context(|| format!("cannot use {} as the data directory", data_dir.display()))
}

fn serve_doors(doors: &mut Tasks, state: Doors, listener: TcpListener) {
    let (router, limits) = (
        pathline_server::app(state),
        pathline_server::Limits::default(),
    );
    let serving = pathline_server::serve(listener, router, limits, doors.shutdown.clone());
    doors.run(async move {
        serving.await;
        anyhow::Ok(())
    });
}

fn serve_cluster(doors: &mut Tasks, cluster: &Cluster, listener: TcpListener) {
    let (cluster, shutdown) = (cluster.clone(), doors.shutdown.clone());
    doors.run(async move { cluster.serve(listener, shutdown).await });
}
