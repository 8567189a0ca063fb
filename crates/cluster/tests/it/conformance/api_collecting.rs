//! Garbage collection by owner references.

use anyhow::{Context, Result};
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::api::{DeleteParams, PostParams};
use kube::runtime::wait::{await_condition, conditions::is_deleted};
use kube::{Api, Resource, ResourceExt};
use serde_json::json;

use super::expect::soon;
use super::target::Target;
use super::widget::{Widget, mk_widget};

conformance!(api:
    objects_owned_by_a_custom_resource_go_with_it,
    object_with_two_owners_stays_for_the_second,
    foreground_deletion_waits_for_dependents,
    object_whose_owner_never_existed_goes,
);

fn owned_by(name: &str, owners: &[serde_json::Value]) -> ConfigMap {
    serde_json::from_value(json!({"metadata": {"name": name, "ownerReferences": owners}}))
        .expect("a config map")
}

fn reference<K: Resource<DynamicType = ()>>(owner: &K) -> serde_json::Value {
    json!({
        "apiVersion": K::api_version(&()), "kind": K::kind(&()), "name": owner.name_any(),
        "uid": owner.uid(), "blockOwnerDeletion": true,
    })
}

async fn gone<K>(api: &Api<K>, object: &K) -> Result<()>
where
    K: Resource<DynamicType = ()>
        + Clone
        + std::fmt::Debug
        + serde::de::DeserializeOwned
        + Send
        + 'static,
{
    let uid = object.uid().context("a uid")?;
    soon(
        "the collection",
        await_condition(api.clone(), &object.name_any(), is_deleted(&uid)),
    )
    .await??;
    Ok(())
}

async fn objects_owned_by_a_custom_resource_go_with_it(t: &Target) -> Result<()> {
    let (widgets, maps) = (t.widgets(), t.api::<ConfigMap>());
    let owner: Widget = widgets
        .create(&PostParams::default(), &mk_widget("owner"))
        .await?;
    let child = maps
        .create(
            &PostParams::default(),
            &owned_by("child", &[reference(&owner)]),
        )
        .await?;
    let grandchild = maps
        .create(
            &PostParams::default(),
            &owned_by("grandchild", &[reference(&child)]),
        )
        .await?;
    widgets.delete("owner", &DeleteParams::background()).await?;
    gone(&maps, &child).await?;
    gone(&maps, &grandchild).await
}

async fn object_with_two_owners_stays_for_the_second(t: &Target) -> Result<()> {
    let (secrets, maps) = (t.api::<Secret>(), t.api::<ConfigMap>());
    let mut owners = Vec::new();
    for name in ["first", "second"] {
        let secret: Secret = serde_json::from_value(json!({"metadata": {"name": name}}))?;
        owners.push(secrets.create(&PostParams::default(), &secret).await?);
    }
    let references: Vec<_> = owners.iter().map(reference).collect();
    let shared = maps
        .create(&PostParams::default(), &owned_by("shared", &references))
        .await?;
    secrets.delete("first", &DeleteParams::background()).await?;
    let one_owner =
        |map: Option<&ConfigMap>| map.is_some_and(|map| map.owner_references().len() == 1);
    let left = soon(
        "the loss of a reference",
        await_condition(maps.clone(), "shared", one_owner),
    )
    .await??;
    assert_eq!(
        left.context("it exists")?.owner_references()[0].name,
        "second"
    );
    secrets
        .delete("second", &DeleteParams::background())
        .await?;
    gone(&maps, &shared).await
}

async fn foreground_deletion_waits_for_dependents(t: &Target) -> Result<()> {
    let maps: Api<ConfigMap> = t.api();
    let owner = maps
        .create(&PostParams::default(), &owned_by("owner", &[]))
        .await?;
    let mut child = owned_by("child", &[reference(&owner)]);
    child.finalizers_mut().push("example.com/hold".to_owned());
    let child = maps.create(&PostParams::default(), &child).await?;
    maps.delete("owner", &DeleteParams::foreground()).await?;
    let marked = maps.get("owner").await?;
    assert_eq!(marked.finalizers(), ["foregroundDeletion"], "it waits");
    let deleting =
        |map: Option<&ConfigMap>| map.is_some_and(|map| map.metadata.deletion_timestamp.is_some());
    soon(
        "the deletion of the child",
        await_condition(maps.clone(), "child", deleting),
    )
    .await??;
    let mut released = maps.get("child").await?;
    released.finalizers_mut().clear();
    maps.replace("child", &PostParams::default(), &released)
        .await?;
    gone(&maps, &child).await?;
    gone(&maps, &owner).await
}

async fn object_whose_owner_never_existed_goes(t: &Target) -> Result<()> {
    let maps: Api<ConfigMap> = t.api();
    let absent = json!({
        "apiVersion": "v1", "kind": "ConfigMap", "name": "nobody",
        "uid": "00000000-0000-4000-8000-000000000000",
    });
    let orphan = maps
        .create(&PostParams::default(), &owned_by("orphan", &[absent]))
        .await?;
    gone(&maps, &orphan).await
}
