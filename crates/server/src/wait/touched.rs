//! Whether the objects at the end of a path are as they were at the last look.

use futures::future::join_all;
use kube::Client;
use kube::api::{Api, ApiResource, DynamicObject, GroupVersionKind};
use pathline_blueprint::model::{ResourceStatus, StampedReference};
use pathline_lineage::Track;
use serde::Deserialize;
use serde_json::Value;

use crate::owners;

/// Says which final objects somebody has changed, replaced or deleted since the last look at them. What
/// can't be read is not known to be touched.
pub(super) async fn find(client: &Client, owner: &DynamicObject, track: &Track) -> Vec<String> {
    let status = owner.data.get("status").and_then(|it| it.get("resources"));
    let resources = Vec::<ResourceStatus>::deserialize(status.unwrap_or(&Value::Null));
    let finals = resources.unwrap_or_default().into_iter().filter(|it| {
        let mut finals = track.state.chain().finals();
        finals.any(|resource| resource.name == it.name)
    });
    let looks = finals.filter_map(|it| {
        let (uid, generation) = track.state.looked_at(&it.name)?;
        let stamped = it.stamped_ref?;
        let (api, name) = locate(client, &stamped)?;
        let kind = stamped.kind.unwrap_or_default();
        Some(async move {
            let found = owners::answer(api.get_metadata_opt(&name)).await.ok()?;
            let Some(found) = found else {
                return Some(format!("{kind}/{name} is gone"));
            };
            if found.metadata.deletion_timestamp.is_some() {
                return Some(format!("{kind}/{name} is being deleted"));
            }
            let is_newer = generation.is_some() && found.metadata.generation > generation;
            let is_other = found.metadata.uid.as_deref() != Some(uid);
            (is_newer || is_other).then(|| {
                format!("{kind}/{name} has been changed, and has not been looked at since")
            })
        })
    });
    join_all(looks).await.into_iter().flatten().collect()
}

/// Returns how a stamped object is asked for; its resource is noted as `plural.group`.
fn locate(client: &Client, stamped: &StampedReference) -> Option<(Api<DynamicObject>, String)> {
    let api_version = stamped.api_version.as_deref()?;
    let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
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
