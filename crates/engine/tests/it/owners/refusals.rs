//! Errors about what cannot be done, clear and in the right status.

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

pub(crate) async fn issue_860_cycles_and_unknown_resources_are_refused(world: &mut World) {
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

pub(crate) async fn issue_733_an_object_of_another_owner_is_never_written(world: &mut World) {
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
    let owner = world.wait_condition("Workload", "second", rejected).await;
    let text = message(resource(&owner, "same"), "ResourceSubmitted");
    let both = "the object is controlled by Workload [first], not by Workload [second]";
    assert!(text.contains(both), "{text}");
    assert!(is_seen(&world.get("ConfigMap", "same").await.unwrap()));
}

pub(crate) async fn bad_objects_give_a_condition_and_disturb_nobody_else(world: &mut World) {
    let big = "x".repeat(700_000);
    let spec = json!({"params": [{"name": "big", "value": big}]});
    let data = |value: &str| config_map("bad", json!({"a": value}));
    let mut nameless = config_map("Not A Name", json!({}));
    nameless["metadata"]["labels"] = json!({"a": "b"});
    let cases = [
        ("invalid", nameless, "TemplateRejectedByAPIServer"),
        (
            "huge",
            data(&"$(params.big)$".repeat(50)),
            "TemplateStampFailure",
        ),
        (
            "cluster",
            json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "x"}}),
            "TemplateRejectedByAPIServer",
        ),
        (
            "good",
            config_map("good", json!({"a": "b"})),
            "ResourceSubmissionComplete",
        ),
    ];
    let mut resources = Vec::new();
    for (name, body, _) in &cases {
        let template = json!({"template": body});
        world.apply_spec("ClusterTemplate", name, template).await;
        resources
            .push(json!({"name": name, "templateRef": {"kind": "ClusterTemplate", "name": name}}));
    }
    world.apply_chain("bad", json!(resources)).await;
    world.apply_workload("app", spec).await;
    let rejected = ["ResourcesSubmitted", "False", "TemplateRejectedByAPIServer"];
    let owner = world.wait_condition("Workload", "app", rejected).await;
    for (name, _, reason) in cases {
        assert_eq!(
            conditions_of(resource(&owner, name))[0][2],
            reason,
            "{name}"
        );
    }
    assert!(world.get("ConfigMap", "good").await.is_some());
    assert_eq!(world.get("ConfigMap", "bad").await, None);
}
