//! Parts: the ConfigMaps and Secrets that owners of releases name.

use std::collections::HashSet;

use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::api::{Api, ListParams};
use kube::core::NamespaceResourceScope;
use kube::{Client, Resource, ResourceExt};
use pathline_release::objects::{Part, RELEASE_OBJECTS};
use serde::de::DeserializeOwned;

use crate::runtime::calls::{self, call};

/// Returns the parts that are there, each with its namespace: those of one, or of all, that labels select. Nothing if the
/// cluster does not say.
pub async fn present_parts(
    client: &Client,
    namespace: Option<&str>,
    labels: &str,
) -> Option<HashSet<(String, Part)>> {
    let config_maps = list::<ConfigMap>(client, namespace, labels, false).await;
    let secrets = list::<Secret>(client, namespace, labels, true).await;
    let mut all = config_maps.ok()?;
    all.extend(secrets.ok()?);
    Some(all.into_iter().collect())
}

async fn list<K>(
    client: &Client,
    namespace: Option<&str>,
    labels: &str,
    is_secret: bool,
) -> Result<Vec<(String, Part)>, calls::Error>
where
    K: Resource<Scope = NamespaceResourceScope, DynamicType = ()>
        + Clone
        + DeserializeOwned
        + std::fmt::Debug,
{
    let api: Api<K> = match namespace {
        Some(namespace) => Api::namespaced(client.clone(), namespace),
        None => Api::all(client.clone()),
    };
    let wanted = ListParams::default().labels(&format!("{labels},{RELEASE_OBJECTS}=true"));
    // Of Secrets no more than names.
    let found = call(api.list_metadata(&wanted)).await?;
    let part = |it: &kube::core::PartialObjectMeta<K>| {
        let (namespace, name) = (it.namespace().unwrap_or_default(), it.name_any());
        (namespace, Part { is_secret, name })
    };
    Ok(found.items.iter().map(part).collect())
}
