//! What cannot be done is said, clearly and in the right place.

use serde_json::{Value, json};

use super::config_map;
use crate::world::{World, conditions_of, message, resource};

pub(crate) async fn owners_without_a_blueprint_say_why(world: &mut World) {
    world.apply_spec("Workload", "bare", json!({})).await;
    let bare = ["SupplyChainReady", "False", "WorkloadLabelsMissing"];
    let owner = world.wait_condition("Workload", "bare", bare).await;
    assert_eq!(
        message(&owner["status"], "Ready"),
        "workload has no labels to match to supply chain"
    );

    world.apply_small_chain().await;
    world.apply_chain("twin", json!([])).await;
    world.apply_small_workload().await;
    let several = ["SupplyChainReady", "False", "MultipleSupplyChainMatches"];
    let owner = world.wait_condition("Workload", "app", several).await;
    assert_eq!(conditions_of(&owner["status"]).len(), 2);

    world.apply_spec("Deliverable", "bare", json!({})).await;
    let bare = ["DeliveryReady", "False", "DeliverableLabelsMissing"];
    world.wait_condition("Deliverable", "bare", bare).await;
}

pub(crate) async fn blueprints_that_cannot_work_say_why(world: &mut World) {
    world.apply_small_chain().await;
    let step = |name: &str, from: &str| {
        json!({
            "name": name,
            "templateRef": {"kind": "ClusterSourceTemplate", "name": "fetch"},
            "sources": [{"name": "in", "resource": from}],
        })
    };
    world
        .apply_chain("small", json!([step("a", "b"), step("b", "a")]))
        .await;
    world.apply_small_workload().await;
    let owner = world
        .wait_condition(
            "Workload",
            "app",
            ["SupplyChainReady", "False", "ResourceCycle"],
        )
        .await;
    assert_eq!(
        message(&owner["status"], "Ready"),
        "resources wait for each other: [a -> b -> a]"
    );
    world
        .wait_condition(
            "ClusterSupplyChain",
            "small",
            ["Ready", "False", "ResourceCycle"],
        )
        .await;
    world
        .apply_chain("small", json!([step("a", "nobody")]))
        .await;
    let owner = world
        .wait_condition("Workload", "app", ["Ready", "False", "UnknownResource"])
        .await;
    assert_eq!(
        message(&owner["status"], "Ready"),
        "invalid sources for resource [a]: [in] is provided by unknown resource [nobody]"
    );
}

pub(crate) async fn templates_that_cannot_be_stamped_say_why(world: &mut World) {
    let good = config_map("good", json!({"a": "b"}));
    let cases = [
        ("good", json!({"template": good}), None),
        (
            "missing",
            json!({"template": config_map("missing", json!({"a": "$(params.absent)$"}))}),
            Some(
                "failed to recursively evaluate template: failed to interpolate template at path [data.a]: \
                 evaluate tag $(params.absent)$: jsonpath returned empty list: params.absent",
            ),
        ),
        (
            "elsewhere",
            json!({"template": {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x", "namespace": "other"}}}),
            Some("cannot set namespace in resource template"),
        ),
    ];
    let mut resources = Vec::new();
    for (name, spec, _) in &cases {
        world
            .apply_spec("ClusterTemplate", name, spec.clone())
            .await;
        resources
            .push(json!({"name": name, "templateRef": {"kind": "ClusterTemplate", "name": name}}));
    }
    world.apply_chain("mixed", json!(resources)).await;
    world.apply_workload("app", json!({})).await;
    let failed = ["ResourcesSubmitted", "False", "TemplateStampFailure"];
    let owner = world.wait_condition("Workload", "app", failed).await;
    for (name, _, reason) in cases {
        let Some(reason) = reason else {
            assert_eq!(
                conditions_of(resource(&owner, name))[2],
                ["Ready", "True", "Ready"]
            );
            continue;
        };
        let expected = format!(
            "unable to stamp object for resource [{name}] for template [ClusterTemplate/{name}] \
             in supply chain [mixed]: {reason}"
        );
        assert_eq!(
            message(resource(&owner, name), "ResourceSubmitted"),
            expected
        );
    }
    assert!(
        world.get("ConfigMap", "good").await.is_some(),
        "one broken template holds nobody else up"
    );
}

pub(crate) async fn an_object_of_another_owner_is_not_taken(world: &mut World) {
    let same = json!({"template": config_map("same", json!({"of": "$(workload.metadata.name)$"}))});
    world.apply_spec("ClusterTemplate", "same", same).await;
    let resources =
        json!([{"name": "same", "templateRef": {"kind": "ClusterTemplate", "name": "same"}}]);
    world.apply_chain("same", resources).await;
    world.apply_workload("first", json!({})).await;
    world.wait_ready("Workload", "first").await;
    let is_seen = |same: &Value| same["data"]["of"] == "first";
    world
        .wait_for("ConfigMap", "same", "of the first", is_seen)
        .await;
    world.apply_workload("second", json!({})).await;
    let rejected = ["ResourcesSubmitted", "False", "TemplateRejectedByAPIServer"];
    world.wait_condition("Workload", "second", rejected).await;
    assert!(is_seen(&world.get("ConfigMap", "same").await.unwrap()));
}
