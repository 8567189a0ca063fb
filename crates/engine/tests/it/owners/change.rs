//! Changes of templates and objects.

use kube::api::{Patch, PatchParams, PostParams};
use serde_json::json;

use super::config_map;
use crate::world::World;

pub(crate) async fn a_new_template_reaches_the_objects(world: &mut World) {
    world.apply_small_chain().await;
    world.apply_small_workload().await;
    world.fetched("r1").await;
    world.wait_shown("r1").await;
    let body = config_map("shown", json!({"now": "it is $(source.revision)$"}));
    world
        .apply_spec("ClusterTemplate", "show", json!({"template": body}))
        .await;
    let shown = world
        .wait_for("ConfigMap", "shown", "with the new key", |shown| {
            shown["data"]["now"] == "it is r1"
        })
        .await;
    assert_eq!(
        shown["data"],
        json!({"now": "it is r1"}),
        "what is no longer stamped goes"
    );
}

pub(crate) async fn what_others_write_survives_and_what_they_break_is_mended(world: &mut World) {
    world.apply_small_chain().await;
    world.apply_small_workload().await;
    world.fetched("r1").await;
    world.wait_shown("r1").await;
    let change = json!({"metadata": {"annotations": {"note": "mine"}}, "data": {"revision": "broken", "own": "kept"}});
    let params = PatchParams {
        field_manager: Some("somebody".to_owned()),
        ..PatchParams::default()
    };
    world
        .api("ConfigMap")
        .patch("shown", &params, &Patch::Merge(change))
        .await
        .unwrap();
    let mended = world.wait_shown("r1").await;
    assert_eq!(mended["data"], json!({"revision": "r1", "own": "kept"}));
    assert_eq!(mended["metadata"]["annotations"]["note"], "mine");

    world.delete("ConfigMap", "shown").await;
    let stamped_anew = world.wait_shown("r1").await;
    assert_ne!(stamped_anew["metadata"]["uid"], mended["metadata"]["uid"]);
}

pub(crate) async fn issue_589_a_takeover_of_fields_of_others_is_told(world: &mut World) {
    world.apply_small_chain().await;
    world.apply_small_workload().await;
    world.fetched("r1").await;
    world.wait_shown("r1").await;
    world
        .wait_event("StampedObjectApplied", "Created object [configmaps/shown]")
        .await;
    world
        .wait_event("ResourceOutputChanged", "[fetch] found a new output")
        .await;
    world
        .wait_event("ResourceHealthyStatusChanged", "changed to [True]")
        .await;
    let change = json!({"data": {"revision": "theirs"}});
    let params = PatchParams {
        field_manager: Some("somebody".to_owned()),
        ..PatchParams::default()
    };
    let api = world.api("ConfigMap");
    api.patch("shown", &params, &Patch::Merge(change))
        .await
        .unwrap();
    let told = world
        .wait_event("FieldsTakenOver", "configmaps/shown")
        .await;
    assert!(
        told.contains("somebody") && told.contains(".data.revision"),
        "{told}"
    );
    world.wait_shown("r1").await;
}

pub(crate) async fn issue_1048_a_null_param_is_honoured(world: &mut World) {
    let body = super::test_object(
        "nulled",
        json!({"value": "$(params.value)$", "kept": "$(params.kept)$"}),
    );
    let params =
        json!([{"name": "value", "default": "of the template"}, {"name": "kept", "default": 1}]);
    let template = json!({"template": body, "params": params});
    world
        .apply_spec("ClusterTemplate", "nulled", template)
        .await;
    let resources =
        json!([{"name": "nulled", "templateRef": {"kind": "ClusterTemplate", "name": "nulled"}}]);
    world.apply_chain("nulled", resources).await;
    let spec = json!({"params": [{"name": "value", "value": null}]});
    // An apply would take the null for a field that is not set.
    let workload = json!({
        "apiVersion": "carto.run/v1alpha1",
        "kind": "Workload",
        "metadata": {"name": "app", "labels": {"app": world.namespace}},
        "spec": spec,
    });
    let workload = serde_json::from_value(workload).unwrap();
    let params = PostParams::default();
    world
        .api("Workload")
        .create(&params, &workload)
        .await
        .unwrap();
    let stamped = world
        .wait_for("Test", "nulled", "being stamped", |_| true)
        .await;
    assert!(stamped["spec"]["value"].is_null(), "{stamped}");
    assert_eq!(stamped["spec"]["kept"], 1);
}

pub(crate) async fn nothing_is_written_when_nothing_changed(world: &mut World) {
    world.apply_small_chain().await;
    world.apply_small_workload().await;
    world.fetched("r1").await;
    world.wait_shown("r1").await;
    world.wait_ready("Workload", "app").await;
    world.wait_ready("ClusterSupplyChain", "small").await;
    let before = versions(world).await;

    // Both wake the owner, and neither means anything to it.
    world.set_status("fetch", json!({"unrelated": true})).await;
    let chain = json!({"metadata": {"annotations": {"touched": "yes"}}});
    let params = PatchParams::default();
    world
        .api("ClusterSupplyChain")
        .patch("small", &params, &Patch::Merge(chain))
        .await
        .unwrap();

    // A second owner, applied after, shows that the wake-ups before it have been dealt with.
    let second = config_map("second", json!({"of": "$(workload.metadata.name)$"}));
    world
        .apply_spec("ClusterTemplate", "second", json!({"template": second}))
        .await;
    let resources =
        json!([{"name": "second", "templateRef": {"kind": "ClusterTemplate", "name": "second"}}]);
    let selector = json!({"second": world.namespace});
    world
        .apply_spec(
            "ClusterSupplyChain",
            "second",
            json!({"selector": selector, "resources": resources}),
        )
        .await;
    let second = json!({"metadata": {"labels": {"second": world.namespace}}, "spec": {}});
    world.apply("Workload", "second", second).await;
    world.wait_ready("Workload", "second").await;
    world.stop_engine().await;
    assert_eq!(versions(world).await, before);
    world.start_engine();
}

/// Returns the resourceVersions of the owner and of what it stamped last.
async fn versions(world: &World) -> [serde_json::Value; 2] {
    let owner = world.get("Workload", "app").await.unwrap();
    let shown = world.get("ConfigMap", "shown").await.unwrap();
    [owner, shown].map(|object| object["metadata"]["resourceVersion"].clone())
}
