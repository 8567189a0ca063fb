//! Deliverables: what is deployed is handed on once it is.

use serde_json::{Value, json};

use super::{config_map, test_object};
use crate::world::{World, conditions_of, message, resource};

/// Makes a delivery: a source, its deployment by this rule, and a ConfigMap that shows what is deployed.
async fn apply_delivery(world: &World, rule: Value) {
    let source = json!({
        "template": test_object("manifests", json!({"url": "$(deliverable.spec.source.git.url)$"})),
        "urlPath": "status.url",
        "revisionPath": "status.revision",
    });
    let mut deploy = rule;
    deploy["template"] = test_object("deploy", json!({"revision": "$(deployment.revision)$"}));
    let show =
        json!({"template": config_map("deployed", json!({"revision": "$(source.revision)$"}))});
    world
        .apply_spec("ClusterSourceTemplate", "manifests", source)
        .await;
    world
        .apply_spec("ClusterDeploymentTemplate", "deploy", deploy)
        .await;
    world.apply_spec("ClusterTemplate", "deployed", show).await;
    let resources = json!([
        {"name": "manifests", "templateRef": {"kind": "ClusterSourceTemplate", "name": "manifests"}},
        {
            "name": "deploy",
            "templateRef": {"kind": "ClusterDeploymentTemplate", "name": "deploy"},
            "deployment": {"resource": "manifests"},
        },
        {
            "name": "show",
            "templateRef": {"kind": "ClusterTemplate", "name": "deployed"},
            "sources": [{"name": "deployed", "resource": "deploy"}],
        },
    ]);
    let selector = json!({"app": world.namespace});
    world
        .apply_spec(
            "ClusterDelivery",
            "delivery",
            json!({"selector": selector, "resources": resources}),
        )
        .await;
    let labels = json!({"app": world.namespace});
    let spec = json!({"source": {"git": {"url": "https://host/manifests"}}});
    world
        .apply(
            "Deliverable",
            "app",
            json!({"metadata": {"labels": labels}, "spec": spec}),
        )
        .await;
}

pub(crate) async fn a_deployment_is_handed_on_once_it_is_observed(world: &mut World) {
    let matches = json!([{"input": "spec.revision", "output": "status.running"}]);
    apply_delivery(world, json!({"observedMatches": matches})).await;
    world
        .set_status("manifests", json!({"url": "u", "revision": "r1"}))
        .await;
    world.set_status("deploy", json!({"running": "r0"})).await;
    let owner = world
        .wait_for("Deliverable", "app", "that is not deployed", |owner| {
            conditions_of(&owner["status"]).contains(&[
                "ResourcesSubmitted",
                "Unknown",
                "ConditionNotMet",
            ]) && message(&owner["status"], "Ready").contains("r0")
        })
        .await;
    assert_eq!(
        message(&owner["status"], "ResourcesSubmitted"),
        "resource [deploy] condition not met: input [spec.revision] and output [status.running] \
         do not match: r1 != r0"
    );
    assert_eq!(
        conditions_of(&owner["status"])[0],
        ["DeliveryReady", "True", "Ready"]
    );
    assert_eq!(
        resource(&owner, "deploy")["inputs"],
        json!([{"name": "manifests"}])
    );
    assert_eq!(world.get("ConfigMap", "deployed").await, None);

    world.set_status("deploy", json!({"running": "r1"})).await;
    let is_r1 = |deployed: &Value| deployed["data"]["revision"] == "r1";
    world
        .wait_for("ConfigMap", "deployed", "with revision r1", is_r1)
        .await;
    let owner = world.wait_ready("Deliverable", "app").await;
    assert_eq!(
        owner["status"]["deliveryRef"],
        json!({"kind": "ClusterDelivery", "name": "delivery"})
    );
    assert_eq!(resource(&owner, "deploy")["outputs"][1]["preview"], "r1\n");
}

pub(crate) async fn completion_and_failure_are_observed(world: &mut World) {
    let completion = json!({
        "succeeded": {"key": "status.phase", "value": "Done"},
        "failed": {"key": "status.phase", "value": "Broken"},
    });
    apply_delivery(world, json!({"observedCompletion": completion})).await;
    world
        .set_status("manifests", json!({"url": "u", "revision": "r1"}))
        .await;
    world
        .set_status(
            "deploy",
            json!({"observedGeneration": 1, "phase": "Broken"}),
        )
        .await;
    let failed = ["ResourcesSubmitted", "False", "FailedConditionMet"];
    let owner = world.wait_condition("Deliverable", "app", failed).await;
    assert_eq!(
        message(&owner["status"], "Ready"),
        "resource [deploy] failed condition met: deployment failure condition [status.phase] was: Broken"
    );
    world.set_status("deploy", json!({"phase": "Done"})).await;
    world.wait_ready("Deliverable", "app").await;
}
