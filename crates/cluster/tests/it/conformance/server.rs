//! The two servers, each started once for the whole test process.

use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use anyhow::{Context, Result};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};
use pathline_cluster::{Cluster, Options};
use pathline_testkit::Leash;
use pathline_testkit::kube::{Options as RealOptions, RealCluster};
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

use super::widget;

/// The address of a server, and the rights there.
#[derive(Debug, Clone)]
pub(crate) struct Access {
    pub(crate) kubeconfig: PathBuf,
    /// The directory where kubectl may keep what it discovers about this server.
    pub(crate) cache: PathBuf,
}

impl Access {
    pub(crate) async fn client(&self) -> Result<Client> {
        let kubeconfig = Kubeconfig::read_from(&self.kubeconfig)?;
        let mut config =
            Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await?;
        // A refusal is what a test wants to see, not to have repeated.
        config.default_retry = false;
        Ok(Client::try_from(config)?)
    }
}

/// Returns the real server, or says that the suite is skipped.
pub(crate) async fn real() -> Option<Access> {
    let options = RealOptions {
        definitions: vec![widget::definition()],
        ..RealOptions::default()
    };
    let cluster = RealCluster::shared("conformance of a real kube-apiserver", options).await?;
    let kubeconfig = cluster.kubeconfig().to_path_buf();
    Some(Access {
        kubeconfig,
        cache: cluster.kubectl_cache().to_path_buf(),
    })
}

/// Returns the embedded server.
pub(crate) async fn embedded() -> Access {
    static STARTED: tokio::sync::OnceCell<Access> = tokio::sync::OnceCell::const_new();
    STARTED
        .get_or_init(|| async { start_embedded().await.expect("the embedded cluster starts") })
        .await
        .clone()
}

async fn start_embedded() -> Result<Access> {
    static LEASH: OnceLock<Leash> = OnceLock::new();
    let leash = Leash::new("pathline-conformance-")?;
    let directory = LEASH.get_or_init(|| leash).directory().to_path_buf();
    let (report, address) = oneshot::channel();
    let data = directory.join("data");
    // Each test has a runtime that ends with it; the server has to live in one of its own.
    std::thread::Builder::new()
        .name("embedded cluster".to_owned())
        .spawn(move || {
            tokio::runtime::Runtime::new()
                .expect("a runtime for the server")
                .block_on(serve(&data, report))
                .expect("the embedded cluster serves");
        })?;
    let kubeconfig = directory.join("kubeconfig");
    std::fs::write(
        &kubeconfig,
        address.await.context("the embedded cluster did not open")?,
    )?;
    let access = Access {
        kubeconfig,
        cache: directory.join("kubectl-cache"),
    };
    widget::install(&access.client().await?).await?;
    Ok(access)
}

async fn serve(data: &Path, report: oneshot::Sender<String>) -> Result<()> {
    // Small enough for a test to outlive it, large enough for all the others.
    let options = Options {
        history_events: 1000,
        ..Options::new(data)
    };
    let cluster = Cluster::open(options).await?;
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    let kubeconfig = cluster.kubeconfig(listener.local_addr()?);
    report
        .send(kubeconfig)
        .ok()
        .context("nobody waits for the embedded cluster")?;
    cluster.serve(listener, CancellationToken::new()).await?;
    Ok(())
}
