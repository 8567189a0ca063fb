//! A server with a ledger, an embedded cluster and one workload.

use std::net::SocketAddr;

use anyhow::{Context, Result};
use jiff::Timestamp;
use kube::api::PostParams;
use kube::{Api, ResourceExt};
use pathline_cluster::Cluster;
use pathline_kinds::carto::Workload;
use pathline_ledger::{Ledger, Location, Permissions};
use pathline_lineage::Artifact;
use pathline_server::{AppState, Limits, Secret, app, serve};
use serde_json::json;
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::story;

/// The server that is asked, and how to get in.
pub(crate) struct House {
    pub(crate) address: SocketAddr,
    pub(crate) token: String,
    ledger: Ledger,
    uid: String,
    cluster: Cluster,
    closing: CancellationToken,
    serving: JoinHandle<()>,
    _directory: TempDir,
}

impl House {
    pub(crate) async fn open() -> Result<Self> {
        let directory = tempfile::tempdir()?;
        let file = directory.path().join("ledger.db");
        let ledger = Ledger::open(&Location::File(file)).await?;
        let cluster = Cluster::open(pathline_cluster::Options::new(directory.path())).await?;
        pathline_engine::crds::install(&cluster.client()).await?;
        let uid = make_workload(&cluster).await?;
        story::record(&ledger, &uid).await;
        let secret = Secret::random()?;
        let (hash, now) = (secret.hash(), Timestamp::now());
        ledger
            .access()
            .create_token("bench", Permissions::READ, &hash, None, now)
            .await?;
        let closing = CancellationToken::new();
        let state = AppState::new("bench")
            .with_ledger(ledger.clone())
            .with_cluster(cluster.client())
            .closing_with(closing.clone());
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        let serving = serve(listener, app(state), Limits::default(), closing.clone());
        Ok(Self {
            address,
            token: secret.reveal().to_owned(),
            ledger,
            uid,
            cluster,
            closing,
            serving: tokio::spawn(serving),
            _directory: directory,
        })
    }

    /// Lets a revision arrive.
    pub(crate) async fn record(&self, revision: &str) {
        let source = Artifact::source("https://git.example/web", Some(revision));
        story::record_from(&self.ledger, &self.uid, &source, "").await;
    }

    pub(crate) async fn close(self) {
        self.closing.cancel();
        let _ = self.serving.await;
        self.cluster.close().await;
        self.ledger.close().await;
    }
}

async fn make_workload(cluster: &Cluster) -> Result<String> {
    let namespace = json!({"metadata": {"name": "dev"}});
    let namespace: k8s_openapi::api::core::v1::Namespace = serde_json::from_value(namespace)?;
    let (client, post) = (cluster.client(), PostParams::default());
    Api::all(client.clone()).create(&post, &namespace).await?;
    let workload: Workload = serde_json::from_value(json!({
        "apiVersion": "carto.run/v1alpha1", "kind": "Workload",
        "metadata": {"name": "web", "namespace": "dev"}, "spec": {},
    }))?;
    let api = Api::<Workload>::namespaced(client, "dev");
    api.create(&post, &workload).await?.uid().context("a uid")
}

/// Returns how many bytes of memory this process holds.
pub(crate) fn resident() -> Result<f64> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kilobytes = line.and_then(|line| line.split_whitespace().next());
    Ok(kilobytes.context("a number of kB")?.parse::<f64>()? * 1024.0)
}
