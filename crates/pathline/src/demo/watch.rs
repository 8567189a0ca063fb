//! Sees every object on the path, as it changes.

use anyhow::Context;
use futures::stream::{BoxStream, StreamExt, select_all};
use kube::api::{Api, ApiResource, DynamicObject, GroupVersionKind, Patch, PatchParams, TypeMeta};
use kube::runtime::WatchStreamExt;
use kube::runtime::watcher::{self, watcher};
use kube::{Client, ResourceExt};
use serde_json::Value;

/// The namespace the example lives in.
pub(super) const NAMESPACE: &str = "default";

/// The name under which the demo applies the example.
const FIELD_MANAGER: &str = "pathline-demo";

const KINDS: [(&str, &str, &str); 6] = [
    ("carto.run", "v1alpha1", "Workload"),
    ("carto.run", "v1alpha1", "Deliverable"),
    ("source.toolkit.fluxcd.io", "v1", "GitRepository"),
    ("pathline.dev", "v1alpha1", "Task"),
    ("pathline.dev", "v1alpha1", "GitCommit"),
    ("pathline.dev", "v1alpha1", "Process"),
];

/// Every object of the kinds above: first all there are, then each again when it changes.
pub(super) type Sights = BoxStream<'static, Value>;

/// Starts to watch. A watch that breaks is taken up again by itself.
pub(super) fn sights(client: &Client) -> Sights {
    select_all(KINDS.map(|(group, version, kind)| {
        let resource = ApiResource::from_gvk(&GroupVersionKind::gvk(group, version, kind));
        let api = Api::<DynamicObject>::namespaced_with(client.clone(), NAMESPACE, &resource);
        watcher(api, watcher::Config::default())
            .default_backoff()
            .applied_objects()
            .filter_map(move |seen| {
                let seen = seen.inspect_err(|error| tracing::warn!("watching {kind}: {error}"));
                std::future::ready(seen.ok().and_then(|object| to_value(object, &resource)))
            })
            .boxed()
    }))
    .boxed()
}

/// Applies an object as its user would.
pub(super) async fn apply(client: &Client, object: &DynamicObject) -> anyhow::Result<()> {
    let types = object.types.as_ref().context("an object without a kind")?;
    let gvk = GroupVersionKind::try_from(types)?;
    let resource = ApiResource::from_gvk(&gvk);
    let api = match object.namespace() {
        Some(namespace) => Api::namespaced_with(client.clone(), &namespace, &resource),
        None => Api::<DynamicObject>::all_with(client.clone(), &resource),
    };
    let params = PatchParams::apply(FIELD_MANAGER).force();
    api.patch(&object.name_any(), &params, &Patch::Apply(object))
        .await
        .with_context(|| format!("cannot apply {}/{}", gvk.kind, object.name_any()))?;
    Ok(())
}

/// Lists leave the kind of their items out; we need it.
fn to_value(mut object: DynamicObject, resource: &ApiResource) -> Option<Value> {
    object.types = Some(TypeMeta {
        api_version: resource.api_version.clone(),
        kind: resource.kind.clone(),
    });
    serde_json::to_value(object).ok()
}
