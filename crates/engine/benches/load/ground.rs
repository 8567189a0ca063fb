//! A cluster with one namespace, and an engine on it.

use anyhow::{Context, Result};
use k8s_openapi::api::core::v1::{Namespace, ServiceAccount};
use k8s_openapi::api::rbac::v1::RoleBinding;
use kube::api::PostParams;
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::runtime::wait::await_condition;
use kube::{Api, Client, Config};
use pathline_cluster::Cluster;
use pathline_engine::{Connection, Engine, Metrics, Options, crds};
use pathline_ledger::{Ledger, Location};
use pathline_testkit::kube::RealCluster;
use serde_json::{Value, json};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

/// The namespace of all owners.
pub(crate) const NAMESPACE: &str = "load";

pub(crate) struct Ground {
    pub(crate) connection: Connection,
    engine: Option<JoinHandle<Result<(), pathline_engine::Error>>>,
    shutdown: CancellationToken,
    embedded: Option<Cluster>,
    data_dir: tempfile::TempDir,
}

impl Ground {
    /// Starts a cluster and makes the namespace.
    pub(crate) async fn start(is_real: bool) -> Result<Self> {
        let data_dir = tempfile::tempdir()?;
        let (connection, embedded) = if is_real {
            (real().await?, None)
        } else {
            let options = pathline_cluster::Options::new(data_dir.path());
            let cluster = Cluster::open(options).await?;
            let anonymous = Client::new(cluster.service(), "default");
            (Connection::new(cluster.client(), anonymous), Some(cluster))
        };
        crds::install(connection.client()).await?;
        make_namespace(connection.client()).await?;
        Ok(Self {
            connection,
            engine: None,
            shutdown: CancellationToken::new(),
            embedded,
            data_dir,
        })
    }

    /// Starts the engine, which counts into `metrics`.
    pub(crate) async fn run_engine(&mut self, metrics: &Metrics) -> Result<()> {
        let ledger = Location::File(self.data_dir.path().join("ledger.db"));
        let ledger = Ledger::open(&ledger).await?;
        let options = Options {
            metrics: metrics.clone(),
            ..Options::new(self.data_dir.path(), ledger)
        };
        let running = Engine::run(self.connection.clone(), options, self.shutdown.clone());
        self.engine = Some(tokio::spawn(running));
        Ok(())
    }

    /// Stops the engine and, if it is the embedded one, the cluster.
    pub(crate) async fn end(self) -> Result<()> {
        self.shutdown.cancel();
        if let Some(engine) = self.engine {
            engine.await??;
        }
        if let Some(cluster) = self.embedded {
            cluster.close().await;
        } else {
            let namespaces: Api<Namespace> = Api::all(self.connection.client().clone());
            namespaces.delete(NAMESPACE, &Default::default()).await?;
            let gone = await_condition(namespaces, NAMESPACE, |found: Option<&Namespace>| {
                found.is_none()
            });
            gone.await?;
        }
        Ok(())
    }
}

async fn real() -> Result<Connection> {
    let options = pathline_testkit::kube::Options {
        definitions: crds::all(),
        ..Default::default()
    };
    let cluster = RealCluster::shared("load on a real API server", options).await;
    let cluster = cluster.context("the kube binaries are missing: run scripts/kube-binaries")?;
    let kubeconfig = Kubeconfig::read_from(cluster.kubeconfig())?;
    let options = KubeConfigOptions::default();
    let config = Config::from_custom_kubeconfig(kubeconfig, &options).await?;
    Ok(Connection::to(config)?)
}

async fn make_namespace(client: &Client) -> Result<()> {
    let namespaces: Api<Namespace> = Api::all(client.clone());
    let namespace = object(json!({"metadata": {"name": NAMESPACE}}))?;
    namespaces
        .create(&PostParams::default(), &namespace)
        .await?;
    let group = "rbac.authorization.k8s.io";
    let binding = object(json!({
        "metadata": {"name": "everything"},
        "roleRef": {"apiGroup": group, "kind": "ClusterRole", "name": "cluster-admin"},
        "subjects": [{"apiGroup": group, "kind": "Group", "name": "system:serviceaccounts"}],
    }))?;
    let bindings: Api<RoleBinding> = Api::namespaced(client.clone(), NAMESPACE);
    bindings.create(&PostParams::default(), &binding).await?;
    let accounts: Api<ServiceAccount> = Api::namespaced(client.clone(), NAMESPACE);
    await_condition(accounts, "default", |found: Option<&ServiceAccount>| {
        found.is_some()
    })
    .await?;
    Ok(())
}

fn object<K: serde::de::DeserializeOwned>(value: Value) -> Result<K> {
    Ok(serde_json::from_value(value)?)
}
