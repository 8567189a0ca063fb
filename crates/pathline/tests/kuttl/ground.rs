//! The clusters that tests run on, each with an engine.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};
use pathline_cluster::Cluster;
use pathline_engine::{Connection, Engine, Options, crds};
use pathline_testkit::kube::{Binaries, RealCluster};
use pathline_testkit::kuttl::install_definitions;
use pathline_testkit::skip;
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

/// A cluster on which Pathline runs.
pub(crate) struct Ground {
    connection: Connection,
    pub(crate) kubeconfig: PathBuf,
    shutdown: CancellationToken,
    running: JoinSet<Result<()>>,
    data_dir: TempDir,
    cluster: Kept,
}

/// What must live as long as the ground.
enum Kept {
    Embedded(Cluster),
    Real(RealCluster),
    Nothing,
}

/// Starts an embedded cluster and serves it on loopback.
pub(crate) async fn embedded() -> Result<Option<Ground>> {
    let data_dir = tempfile::tempdir()?;
    let options = pathline_cluster::Options::new(data_dir.path().join("cluster"));
    let cluster = Cluster::open(options).await?;
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let kubeconfig = data_dir.path().join("kubeconfig");
    std::fs::write(&kubeconfig, cluster.kubeconfig(listener.local_addr()?))?;

    let anonymous = Client::new(cluster.service(), "default");
    let shutdown = CancellationToken::new();
    let mut running = JoinSet::new();
    let (served, stop) = (cluster.clone(), shutdown.clone());
    running.spawn(async move { Ok(served.serve(listener, stop).await?) });
    Ok(Some(Ground {
        connection: Connection::new(cluster.client(), anonymous),
        kubeconfig,
        shutdown,
        running,
        data_dir,
        cluster: Kept::Embedded(cluster),
    }))
}

/// Starts a real API server that lets everyone do everything, as the tests expect.
pub(crate) async fn real() -> Result<Option<Ground>> {
    let binaries = match Binaries::find() {
        Ok(binaries) => binaries,
        Err(missing) => {
            skip(
                "acceptance tests on a real API server",
                &missing.to_string(),
            );
            return Ok(None);
        }
    };
    let options = pathline_testkit::kube::Options {
        definitions: crds::all(),
        allow_everything: true,
        ..Default::default()
    };
    let cluster = RealCluster::start(&binaries, options).await?;
    let kubeconfig = cluster.kubeconfig().to_path_buf();
    Ground::on(kubeconfig, Kept::Real(cluster)).await
}

/// Uses a cluster that is there.
pub(crate) async fn given(kubeconfig: &Path) -> Result<Option<Ground>> {
    Ground::on(kubeconfig.to_path_buf(), Kept::Nothing).await
}

impl Ground {
    async fn on(kubeconfig: PathBuf, cluster: Kept) -> Result<Option<Self>> {
        let read = Kubeconfig::read_from(&kubeconfig)?;
        let config = Config::from_custom_kubeconfig(read, &KubeConfigOptions::default()).await?;
        Ok(Some(Self {
            connection: Connection::to(config)?,
            kubeconfig,
            shutdown: CancellationToken::new(),
            running: JoinSet::new(),
            data_dir: tempfile::tempdir()?,
            cluster,
        }))
    }

    /// Returns the administrator's client.
    pub(crate) fn client(&self) -> &Client {
        self.connection.client()
    }

    /// Installs Pathline's kinds and those of a directory, and starts the engine.
    pub(crate) async fn install(&mut self, definitions: &Path) -> Result<()> {
        crds::install(self.client()).await?;
        install_definitions(self.client(), definitions)
            .await
            .context("the kinds of the tests cannot be installed")?;
        let options = Options {
            ytt: pathline_testkit::go_tool("ytt templates", "ytt"),
            ..Options::new(self.data_dir.path().join("engine"))
        };
        let engine = Engine::run(self.connection.clone(), options, self.shutdown.clone());
        self.running.spawn(async { Ok(engine.await?) });
        Ok(())
    }

    /// Stops everything that was started.
    pub(crate) async fn end(mut self) -> Result<()> {
        self.shutdown.cancel();
        while let Some(ended) = self.running.join_next().await {
            ended??;
        }
        match self.cluster {
            Kept::Embedded(cluster) => cluster.close().await,
            Kept::Real(cluster) => drop(cluster),
            Kept::Nothing => {}
        }
        Ok(())
    }
}
