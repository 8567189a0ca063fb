//! The servers that a storm goes over: both can be stopped and started.

use std::path::{Path, PathBuf};

use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};
use parking_lot::Mutex;
use pathline_cluster::Cluster;
use pathline_engine::Connection;
use pathline_testkit::kube::{Binaries, RealCluster};
use pathline_testkit::skip;

/// An API server with what it has stored.
pub(crate) enum Server {
    Embedded {
        data_dir: PathBuf,
        cluster: Mutex<Option<Cluster>>,
    },
    Real {
        cluster: Box<RealCluster>,
        config: Box<Config>,
    },
}

impl Server {
    /// Opens an embedded cluster.
    pub(crate) async fn embedded(data_dir: &Path) -> Self {
        let server = Self::Embedded {
            data_dir: data_dir.to_owned(),
            cluster: Mutex::default(),
        };
        server.start().await;
        server
    }

    /// Starts a kube-apiserver of our own; skips and returns nothing where there is none.
    pub(crate) async fn real(suite: &str) -> Option<Self> {
        let binaries = match Binaries::find() {
            Ok(binaries) => binaries,
            Err(missing) => {
                skip(suite, &missing.to_string());
                return None;
            }
        };
        let options = pathline_testkit::kube::Options {
            allow_everything: true,
            ..Default::default()
        };
        let cluster = RealCluster::start(&binaries, options).await;
        let cluster = cluster.expect("the control plane starts");
        if !cluster.can_stop() {
            skip(
                suite,
                "PATHLINE_TEST_KUBECONFIG names a server that is not ours to stop",
            );
            return None;
        }
        let kubeconfig = Kubeconfig::read_from(cluster.kubeconfig()).expect("it was written");
        let context = KubeConfigOptions::default();
        let config = Config::from_custom_kubeconfig(kubeconfig, &context).await;
        let config = Box::new(config.expect("it is valid"));
        Some(Self::Real {
            cluster: Box::new(cluster),
            config,
        })
    }

    /// Starts it again where it was.
    pub(crate) async fn start(&self) {
        match self {
            Self::Embedded { data_dir, cluster } => {
                let opened = Cluster::open(pathline_cluster::Options::new(data_dir)).await;
                *cluster.lock() = Some(opened.expect("the cluster opens again"));
            }
            Self::Real { cluster, .. } => {
                let started = cluster.start_api_server().await;
                started.expect("the API server starts again");
            }
        }
    }

    /// Stops it: the embedded one in order, the real one by a kill.
    pub(crate) async fn stop(&self) {
        match self {
            Self::Embedded { cluster, .. } => {
                let cluster = cluster.lock().take();
                cluster.expect("the cluster runs").close().await;
            }
            Self::Real { cluster, .. } => {
                cluster.stop_api_server().expect("the API server runs");
            }
        }
    }

    /// Says whether stopping and starting takes milliseconds.
    pub(crate) fn is_quick(&self) -> bool {
        matches!(self, Self::Embedded { .. })
    }

    /// Returns a way to the server, which belongs to the runtime this is called on. The embedded one
    /// has none while it is stopped, and a new one after each start.
    pub(crate) fn connection(&self) -> Option<Connection> {
        match self {
            Self::Embedded { cluster, .. } => cluster.lock().as_ref().map(|cluster| {
                let anonymous = Client::new(cluster.service(), "default");
                Connection::new(cluster.client(), anonymous)
            }),
            Self::Real { config, .. } => {
                let connection = Connection::to((**config).clone());
                Some(connection.expect("the configuration was good before"))
            }
        }
    }
}
