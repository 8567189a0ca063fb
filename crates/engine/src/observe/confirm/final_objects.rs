//! The objects at the end of a path, read where the status of the owner says that they are.

use futures::future::join_all;
use kube::Client;
use kube::api::{Api, ApiResource, DynamicObject, GroupVersionKind};
use pathline_kinds::carto::{OwnerStatus, StampedReference};
use pathline_kinds::split_api_version;
use pathline_lineage::wait::confirmation::{FinalObject, ObjectMetadata};
use serde_json::Value;

use crate::runtime::calls::call;

/// Says which final objects are not as they were observed. What can't be read is not known to differ.
pub(super) async fn differences(
    client: &Client,
    owner: &DynamicObject,
    observed: &[FinalObject<'_>],
) -> Vec<String> {
    let status = OwnerStatus::read(owner.data.get("status").unwrap_or(&Value::Null));
    let reads = status.resources.into_iter().filter_map(|it| {
        let observed = observed.iter().find(|object| object.resource == it.name)?;
        let stamped = it.stamped_ref?;
        let (api, name) = locate(client, &stamped)?;
        let kind = stamped.kind.unwrap_or_default();
        Some(async move {
            let found = call(api.get_metadata_opt(&name)).await.ok()?;
            let now = found.as_ref().map(|it| ObjectMetadata {
                uid: it.metadata.uid.as_deref(),
                generation: it.metadata.generation,
                is_terminating: it.metadata.deletion_timestamp.is_some(),
            });
            observed.difference(&format!("{kind}/{name}"), now)
        })
    });
    join_all(reads).await.into_iter().flatten().collect()
}

/// Returns how a stamped object is asked for; its resource is noted as `plural.group`.
fn locate(client: &Client, stamped: &StampedReference) -> Option<(Api<DynamicObject>, String)> {
    let api_version = stamped.api_version.as_deref()?;
    let (group, version) = split_api_version(api_version);
    let gvk = GroupVersionKind::gvk(group, version, stamped.kind.as_deref()?);
    let plural = stamped.resource.as_deref()?.split('.').next()?;
    let resource = ApiResource {
        plural: plural.to_owned(),
        ..ApiResource::from_gvk(&gvk)
    };
    let client = client.clone();
    let api = match stamped.namespace.as_deref().filter(|it| !it.is_empty()) {
        Some(namespace) => Api::namespaced_with(client, namespace, &resource),
        None => Api::all_with(client, &resource),
    };
    Some((api, stamped.name.clone()?))
}
