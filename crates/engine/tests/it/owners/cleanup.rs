//! Objects that are no longer stamped are removed, and nothing else is.

use kube::api::PostParams;
use serde_json::{Value, json};

use super::config_map;
use crate::world::{World, conditions_of, resource};

pub(crate) async fn issue_54_what_a_deleted_template_stamped_goes_with_it(world: &mut World) {
    world.apply_small_chain().await;
    world.apply_small_workload().await;
    world.fetched("r1").await;
    world.wait_shown("r1").await;
    world.wait_ready("Workload", "app").await;
    world.delete("ClusterTemplate", "show").await;
    world.wait_gone("ConfigMap", "shown").await;
    let missing = ["Ready", "False", "TemplatesNotFound"];
    let owner = world.wait_condition("Workload", "app", missing).await;
    assert_eq!(resource(&owner, "fetch")["stampedRef"]["name"], "fetch");
    assert!(
        world.get("Test", "fetch").await.is_some(),
        "its template is there"
    );

    world.apply_small_chain().await;
    world.wait_shown("r1").await;
    world.wait_ready("Workload", "app").await;
}

pub(crate) async fn issue_56_what_a_deleted_chain_stamped_goes_with_it(world: &mut World) {
    world.apply_small_chain().await;
    world.apply_small_workload().await;
    world.fetched("r1").await;
    world.wait_shown("r1").await;
    let mine = config_map("mine", json!({"a": "b"}));
    world.apply("ConfigMap", "mine", mine).await;
    world.delete("ClusterSupplyChain", "small").await;
    world.wait_gone("ConfigMap", "shown").await;
    world.wait_gone("Test", "fetch").await;
    world
        .wait_for("Workload", "app", "without resources", |owner| {
            owner["status"].get("resources").is_none()
        })
        .await;
    assert!(world.get("ConfigMap", "mine").await.is_some());
}

pub(crate) async fn what_was_stamped_but_never_reported_is_found(world: &mut World) {
    let fetch = json!([{"name": "fetch", "templateRef": {"kind": "ClusterSourceTemplate", "name": "fetch"}}]);
    world.apply_small_chain().await;
    world.apply_chain("small", fetch).await;
    world.apply_small_workload().await;
    world.fetched("r1").await;
    let owner = world.wait_ready("Workload", "app").await;
    world.stop_engine().await;

    // As if it had been killed between the two: nothing stamps ConfigMaps, no status speaks of one.
    let labels = json!({"carto.run/resource-name": "show"});
    let mut left = config_map("left", json!({}));
    left["metadata"]["labels"] = labels.clone();
    left["metadata"]["ownerReferences"] = json!([controller(&owner)]);
    let mut of_others = config_map("of-others", json!({}));
    of_others["metadata"]["labels"] = labels;
    for object in [left, of_others] {
        let object = serde_json::from_value(object).unwrap();
        let params = PostParams::default();
        world
            .api("ConfigMap")
            .create(&params, &object)
            .await
            .unwrap();
    }
    world.start_engine();
    world.wait_gone("ConfigMap", "left").await;
    assert!(
        world.get("ConfigMap", "of-others").await.is_some(),
        "what the owner does not control is not its to remove"
    );
}

fn controller(owner: &Value) -> Value {
    json!({
        "apiVersion": owner["apiVersion"],
        "kind": owner["kind"],
        "name": owner["metadata"]["name"],
        "uid": owner["metadata"]["uid"],
        "controller": true,
    })
}

pub(crate) async fn issue_59_a_resource_that_leaves_the_blueprint_takes_its_object_with_it(
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
