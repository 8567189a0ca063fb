//! Serves a cluster on a free port, for `kubectl` and for a look at the API by hand.
//!
//! ```text
//! cargo run -p pathline-cluster --example serve -- /tmp/cluster
//! kubectl --kubeconfig /tmp/cluster/kubeconfig get namespaces
//! ```

#![expect(clippy::disallowed_methods, reason = "an example ends with its tasks")]

use std::path::PathBuf;

use anyhow::Context;
use pathline_cluster::{Cluster, Options};
use tokio_util::sync::CancellationToken;

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let data_dir = std::env::args().nth(1).context("name a data directory")?;
    let data_dir = PathBuf::from(data_dir);
    let cluster = Cluster::open(Options::new(&data_dir)).await?;
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", 0)).await?;
    let kubeconfig = data_dir.join("kubeconfig");
    tokio::fs::write(&kubeconfig, cluster.kubeconfig(listener.local_addr()?)).await?;
    eprintln!("serving; kubectl --kubeconfig {} ...", kubeconfig.display());
    let shutdown = CancellationToken::new();
    let interrupted = shutdown.clone();
    tokio::spawn(async move {
        if tokio::signal::ctrl_c().await.is_ok() {
            interrupted.cancel();
        }
    });
    cluster.serve(listener, shutdown).await?;
    cluster.close().await;
    Ok(())
}
