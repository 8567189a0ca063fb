//! Removes ConfigMaps and Secrets of releases that nobody needs any more.

use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::api::{Api, DeleteParams, ListParams};
use kube::core::NamespaceResourceScope;
use kube::{Client, Resource, ResourceExt};
use pathline_release::objects::{RELEASE, RELEASE_OBJECTS, TRACKER, tracker_label};
use serde::de::DeserializeOwned;

use super::deployment::Deployment;
use super::tools::Tools;
use crate::runtime::calls::{self, call};

/// The number of releases whose objects are kept, so that going back to one finds them.
const KEPT_RELEASES: u64 = 10;
/// The most objects that are looked at in one request.
const PAGE_SIZE: u32 = 500;

/// Removes what was written for releases before the last ten, except for the one that is deployed.
pub(super) async fn tidy(tools: &Tools, deployment: &Deployment, deployed: u64) {
    let newest = tools.ledger.releases();
    let newest = newest.newest_number(&deployment.tracker_uid).await;
    let Ok(Some(newest)) = newest else {
        return;
    };
    // Under the account of the environment: the engine itself may not list Secrets.
    let client = match deployment.client(tools).await {
        Ok(client) => client,
        Err(error) => return not_removed(&error),
    };
    let is_old = |release: u64| release + KEPT_RELEASES <= newest && release != deployed;
    for result in [
        remove::<ConfigMap>(&client, deployment, is_old).await,
        remove::<Secret>(&client, deployment, is_old).await,
    ] {
        if let Err(error) = result {
            not_removed(&error);
        }
    }
}

fn not_removed(error: &dyn std::error::Error) {
    tracing::debug!(%error, "old objects of a release are not removed; a later release does that");
}

async fn remove<K>(
    client: &Client,
    deployment: &Deployment,
    is_old: impl Fn(u64) -> bool,
) -> Result<(), calls::Error>
where
    K: Resource<Scope = NamespaceResourceScope, DynamicType = ()>
        + Clone
        + DeserializeOwned
        + std::fmt::Debug,
{
    let api: Api<K> = Api::namespaced(client.clone(), &deployment.environment.namespace);
    let tracker = tracker_label(&deployment.tracker);
    let labels = format!("{TRACKER}={tracker},{RELEASE_OBJECTS}=true");
    let page = ListParams::default().labels(&labels).limit(PAGE_SIZE);
    let found = call(api.list_metadata(&page)).await?;
    for object in found.items {
        let release = object.annotations().get(RELEASE);
        let release = release.and_then(|it| it.parse().ok());
        if !release.is_some_and(&is_old) {
            continue;
        }
        match call(api.delete(&object.name_any(), &DeleteParams::default())).await {
            Err(error) if error.is_absence() => {}
            other => other.map(drop)?,
        }
    }
    Ok(())
}
