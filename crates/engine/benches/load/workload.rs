//! Owners, what they are made of, and waiting for them.

use std::collections::HashSet;

use anyhow::{Context, Result};
use futures::{StreamExt, TryStreamExt, stream};
use kube::api::{
    ApiResource, DeleteParams, DynamicObject, ListParams, Patch, PatchParams, PostParams,
};
use kube::core::GroupVersionKind;
use kube::runtime::{WatchStreamExt, watcher};
use kube::{Api, ResourceExt};
use serde_json::{Value, json};

use crate::ground::{Ground, NAMESPACE};

/// The number of requests that are on their way at once.
const AT_ONCE: usize = 16;

/// The number of owners, and of the resources that each has.
#[derive(Clone, Copy)]
pub(crate) struct Load {
    pub(crate) owners: usize,
    pub(crate) steps: usize,
}

impl Load {
    /// Reads `OWNERSxSTEPS`.
    pub(crate) fn read(text: &str) -> Option<Self> {
        let (owners, steps) = text.split_once('x')?;
        Some(Self {
            owners: owners.parse().ok()?,
            steps: steps.parse().ok()?,
        })
    }
}

/// Applies a chain in which each step hands its ConfigMap to the next one; the last shows a text.
pub(crate) async fn apply_chain(ground: &Ground, load: Load, text: &str) -> Result<()> {
    let mut resources = Vec::new();
    for step in 0..load.steps {
        let is_last = step + 1 == load.steps;
        let previous = (step > 0).then(|| format!("step-{}", step - 1));
        let mut data = json!({"owner": "$(workload.metadata.name)$"});
        if previous.is_some() {
            data["before"] = json!("$(config)$");
        }
        if is_last {
            data["text"] = json!(text);
        }
        let body = json!({
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": format!("$(workload.metadata.name)$-{step}")},
            "data": data,
        });
        let spec = json!({"template": body, "configPath": "data.owner"});
        apply(
            ground,
            "ClusterConfigTemplate",
            &format!("step-{step}"),
            spec,
        )
        .await?;
        let mut resource = json!({
            "name": format!("step-{step}"),
            "templateRef": {"kind": "ClusterConfigTemplate", "name": format!("step-{step}")},
        });
        if let Some(previous) = previous {
            resource["configs"] = json!([{"name": "before", "resource": previous}]);
        }
        resources.push(resource);
    }
    let spec = json!({"selector": {"load": "yes"}, "resources": resources});
    apply(ground, "ClusterSupplyChain", "load", spec).await
}

/// Creates all owners.
pub(crate) async fn create_owners(ground: &Ground, load: Load) -> Result<()> {
    let api = api(ground, "Workload");
    let create = |index: usize| {
        let api = api.clone();
        async move {
            let object: DynamicObject = serde_json::from_value(json!({
                "apiVersion": "carto.run/v1alpha1",
                "kind": "Workload",
                "metadata": {"name": format!("w{index}"), "labels": {"load": "yes"}},
                "spec": {},
            }))?;
            api.create(&PostParams::default(), &object).await?;
            anyhow::Ok(())
        }
    };
    let all = stream::iter((0..load.owners).map(create));
    all.buffer_unordered(AT_ONCE).try_collect().await
}

/// Deletes all owners, and waits until what they stamped is gone too.
pub(crate) async fn delete_owners(ground: &Ground) -> Result<()> {
    let (owners, stamped) = (api(ground, "Workload"), api(ground, "ConfigMap"));
    owners
        .delete_collection(&DeleteParams::background(), &ListParams::default())
        .await?;
    let stamped_ones = ListParams::default().labels("carto.run/resource-name");
    while !stamped.list(&stamped_ones).await?.items.is_empty() {
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }
    Ok(())
}

/// Waits until all owners are Ready.
pub(crate) async fn wait_ready(ground: &Ground, load: Load) -> Result<()> {
    wait(ground, "Workload", load.owners, |owner| {
        let conditions = owner["status"]["conditions"].as_array();
        conditions
            .into_iter()
            .flatten()
            .any(|condition| condition["type"] == "Ready" && condition["status"] == "True")
    })
    .await
}

/// Waits until the last object of every owner shows this text.
pub(crate) async fn wait_text(ground: &Ground, load: Load, text: &str) -> Result<()> {
    wait(ground, "ConfigMap", load.owners, |stamped| {
        stamped["data"]["text"] == text
    })
    .await
}

async fn wait(
    ground: &Ground,
    kind: &str,
    count: usize,
    is_wanted: impl Fn(&Value) -> bool,
) -> Result<()> {
    let events = watcher(api(ground, kind), watcher::Config::default()).default_backoff();
    let mut objects = std::pin::pin!(events.applied_objects());
    let mut wanted = HashSet::new();
    while wanted.len() < count {
        let object = objects.next().await.context("a watch does not end")??;
        if is_wanted(&serde_json::to_value(&object)?) {
            wanted.insert(object.name_any());
        }
    }
    Ok(())
}

async fn apply(ground: &Ground, kind: &str, name: &str, spec: Value) -> Result<()> {
    let object = json!({
        "apiVersion": "carto.run/v1alpha1",
        "kind": kind,
        "metadata": {"name": name},
        "spec": spec,
    });
    let params = PatchParams::apply("load").force();
    api(ground, kind)
        .patch(name, &params, &Patch::Apply(&object))
        .await?;
    Ok(())
}

fn api(ground: &Ground, kind: &str) -> Api<DynamicObject> {
    let client = ground.connection.client().clone();
    let (group, version) = match kind {
        "ConfigMap" => ("", "v1"),
        _ => ("carto.run", "v1alpha1"),
    };
    let gvk = GroupVersionKind::gvk(group, version, kind);
    let resource = ApiResource::from_gvk_with_plural(&gvk, &format!("{}s", kind.to_lowercase()));
    if kind.starts_with("Cluster") {
        Api::all_with(client, &resource)
    } else {
        Api::namespaced_with(client, NAMESPACE, &resource)
    }
}
