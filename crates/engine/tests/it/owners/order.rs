//! The order in which things are applied, installed and started never matters.

use serde_json::json;

use crate::world::{World, conditions_of, install, message, test_kind};

pub(crate) async fn everything_may_be_applied_in_any_order(world: &mut World) {
    world.apply_small_workload().await;
    let missing = ["SupplyChainReady", "False", "SupplyChainNotFound"];
    let owner = world.wait_condition("Workload", "app", missing).await;
    assert_eq!(
        message(&owner["status"], "Ready"),
        format!(
            "no supply chain found where full selector is satisfied by labels: map[app:{}]",
            world.namespace
        )
    );

    world.apply_chain("early", json!([
        {
            "name": "show",
            "templateRef": {"kind": "ClusterTemplate", "name": "show"},
            "sources": [{"name": "code", "resource": "fetch"}],
        },
        {"name": "fetch", "templateRef": {"kind": "ClusterSourceTemplate", "name": "fetch"}},
    ]))
    .await;
    let no_templates = ["SupplyChainReady", "False", "TemplatesNotFound"];
    let owner = world.wait_condition("Workload", "app", no_templates).await;
    let expected = "did not find the template of the resource(s) [show, fetch]";
    assert_eq!(message(&owner["status"], "SupplyChainReady"), expected);
    assert_eq!(conditions_of(&owner["status"]).len(), 2);
    let chain = world
        .wait_condition(
            "ClusterSupplyChain",
            "early",
            ["Ready", "False", "TemplatesNotFound"],
        )
        .await;
    assert_eq!(message(&chain["status"], "TemplatesReady"), expected);

    world.delete("ClusterSupplyChain", "early").await;
    world.apply_small_chain().await;
    world.fetched("r1").await;
    world.wait_shown("r1").await;
    world.wait_ready("Workload", "app").await;
    world.wait_ready("ClusterSupplyChain", "small").await;
}

pub(crate) async fn a_kind_that_is_installed_later_is_stamped_then(world: &mut World) {
    let late = json!({
        "apiVersion": "test.pathline.dev/v1",
        "kind": "Late",
        "metadata": {"name": "late"},
        "spec": {"a": 1},
    });
    world
        .apply_spec("ClusterTemplate", "late", json!({"template": late}))
        .await;
    let resources =
        json!([{"name": "late", "templateRef": {"kind": "ClusterTemplate", "name": "late"}}]);
    world.apply_chain("late", resources).await;
    world.apply_workload("app", json!({})).await;
    let rejected = ["ResourcesSubmitted", "False", "TemplateRejectedByAPIServer"];
    let owner = world.wait_condition("Workload", "app", rejected).await;
    let text = message(&owner["status"], "ResourcesSubmitted");
    let expected = format!(
        "unable to apply object [{}/late] for resource [late] in supply chain [late]: \
         no matches for kind [Late] in version [test.pathline.dev/v1]",
        world.namespace
    );
    assert!(text.starts_with(&expected), "{text}");

    install(&world.client, test_kind("Late", "lates")).await;
    world.wait_ready("Workload", "app").await;
    assert_eq!(world.get("Late", "late").await.unwrap()["spec"]["a"], 1);
}

pub(crate) async fn a_change_while_the_engine_was_stopped_is_not_missed(world: &mut World) {
    world.apply_small_chain().await;
    world.apply_small_workload().await;
    world.fetched("r1").await;
    let shown = world.wait_shown("r1").await;
    world.wait_ready("Workload", "app").await;
    let fetch = world.get("Test", "fetch").await.unwrap();

    world.stop_engine().await;
    world.fetched("r2").await;
    world.start_engine();
    let updated = world.wait_shown("r2").await;
    assert_eq!(
        updated["metadata"]["uid"], shown["metadata"]["uid"],
        "the object is the same"
    );
    let spec_of = |object: &serde_json::Value| object["metadata"]["generation"].clone();
    assert_eq!(
        spec_of(&world.get("Test", "fetch").await.unwrap()),
        spec_of(&fetch)
    );
}
