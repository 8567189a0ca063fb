//! The workers of the embedded cluster: what runs tasks, processes, checkouts and commits.

use std::path::PathBuf;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::Client;
use tokio_util::sync::CancellationToken;

/// Says why the workers stopped before they were told to.
#[derive(Debug, thiserror::Error)]
pub enum Error {}

/// Returns the kinds the workers serve.
pub fn crds() -> Vec<CustomResourceDefinition> {
    Vec::new()
}

/// Runs every worker until `shutdown` is cancelled; their files are kept below `data_dir`.
pub async fn run(
    client: Client,
    data_dir: PathBuf,
    shutdown: CancellationToken,
) -> Result<(), Error> {
    let _ = (client, data_dir);
    shutdown.cancelled().await;
    Ok(())
}
