//! What is no longer stamped is removed, and nothing else is.

use serde_json::json;

use super::config_map;
use crate::world::{World, conditions_of, resource};

pub(crate) async fn a_resource_that_leaves_the_blueprint_takes_its_object_with_it(
    world: &mut World,
) {
    world.apply_small_chain().await;
    world.apply_small_workload().await;
    world.fetched("r1").await;
    world.wait_shown("r1").await;
    world.wait_ready("Workload", "app").await;
    let fetch = json!([{"name": "fetch", "templateRef": {"kind": "ClusterSourceTemplate", "name": "fetch"}}]);
    world.apply_chain("small", fetch).await;
    world.wait_gone("ConfigMap", "shown").await;
    let owner = world
        .wait_for("Workload", "app", "with one resource", |owner| {
            owner["status"]["resources"]
                .as_array()
                .is_some_and(|resources| resources.len() == 1)
        })
        .await;
    assert_eq!(
        conditions_of(&owner["status"])[3],
        ["Ready", "True", "Ready"]
    );
    assert!(world.get("Test", "fetch").await.is_some());
}

pub(crate) async fn an_object_that_changes_its_name_is_replaced(world: &mut World) {
    world.apply_small_chain().await;
    world.apply_small_workload().await;
    world.fetched("r1").await;
    world.wait_shown("r1").await;
    world.wait_ready("Workload", "app").await;
    let renamed = config_map("renamed", json!({"revision": "$(source.revision)$"}));
    world
        .apply_spec("ClusterTemplate", "show", json!({"template": renamed}))
        .await;
    world
        .wait_for("ConfigMap", "renamed", "being stamped", |_| true)
        .await;
    world.wait_gone("ConfigMap", "shown").await;
}

pub(crate) async fn a_waiting_resource_keeps_its_object(world: &mut World) {
    world.apply_small_chain().await;
    world.apply_small_workload().await;
    world.fetched("r1").await;
    let before = world.wait_shown("r1").await;
    world.wait_ready("Workload", "app").await;
    world.set_status("fetch", json!({"revision": null})).await;
    let missing = ["ResourcesSubmitted", "Unknown", "MissingValueAtPath"];
    let owner = world.wait_condition("Workload", "app", missing).await;
    assert_eq!(resource(&owner, "show")["stampedRef"]["name"], "shown");
    let after = world.get("ConfigMap", "shown").await.unwrap();
    assert_eq!(
        after["metadata"]["resourceVersion"],
        before["metadata"]["resourceVersion"]
    );
    world.fetched("r2").await;
    world.wait_shown("r2").await;
}

pub(crate) async fn what_a_deleted_owner_stamped_goes_with_it(world: &mut World) {
    world.apply_small_chain().await;
    world.apply_small_workload().await;
    world.fetched("r1").await;
    world.wait_shown("r1").await;
    world.delete("Workload", "app").await;
    world.wait_gone("ConfigMap", "shown").await;
    world.wait_gone("Test", "fetch").await;
}
