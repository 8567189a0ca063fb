//! The flow of values from resource to resource.

use serde_json::json;

use super::{config_map, test_object};
use crate::world::{World, conditions_of, message, resource};

pub(crate) async fn issue_860_values_flow_through_a_chain_that_is_declared_backwards(
    world: &mut World,
) {
    let spec = |body, path: &str, value: &str| json!({"template": body, path: value});
    world
        .apply_spec(
            "ClusterSourceTemplate",
            "fetch",
            json!({
                "params": [{"name": "depth", "default": 1}],
                "template": test_object("fetch", json!({
                    "url": "$(workload.spec.source.git.url)$",
                    "depth": "$(params.depth)$",
                })),
                "urlPath": ".status.url",
                "revisionPath": ".status.revision",
            }),
        )
        .await;
    let build = test_object(
        "build",
        json!({"from": "$(sources.code.url)$#$(source.revision)$"}),
    );
    world
        .apply_spec(
            "ClusterImageTemplate",
            "build",
            spec(build, "imagePath", "status.image"),
        )
        .await;
    let configure = config_map("configure", json!({"image": "$(image)$"}));
    world
        .apply_spec(
            "ClusterConfigTemplate",
            "configure",
            spec(configure, "configPath", "data"),
        )
        .await;
    let publish = config_map(
        "publish",
        json!({"config": "$(config.image)$ by $(workload.metadata.name)$"}),
    );
    world
        .apply_spec("ClusterTemplate", "publish", json!({"template": publish}))
        .await;
    world.apply_chain("backwards", json!([
        {
            "name": "publish",
            "templateRef": {"kind": "ClusterTemplate", "name": "publish"},
            "configs": [{"name": "c", "resource": "configure"}],
        },
        {
            "name": "configure",
            "templateRef": {"kind": "ClusterConfigTemplate", "name": "configure"},
            "images": [{"name": "i", "resource": "build"}],
        },
        {
            "name": "build",
            "templateRef": {"kind": "ClusterImageTemplate", "name": "build"},
            "sources": [{"name": "code", "resource": "fetch"}],
        },
        {"name": "fetch", "templateRef": {"kind": "ClusterSourceTemplate", "name": "fetch"}},
    ]))
    .await;
    world
        .apply_workload(
            "app",
            json!({
                "source": {"git": {"url": "https://host/app"}},
                "params": [{"name": "depth", "value": 5}],
            }),
        )
        .await;

    world
        .set_status("fetch", json!({"url": "file:///a", "revision": "r1"}))
        .await;
    world.set_status("build", json!({"image": "image:1"})).await;
    let owner = world.wait_ready("Workload", "app").await;

    let fetch = world.get("Test", "fetch").await.unwrap();
    assert_eq!(
        fetch["spec"],
        json!({"url": "https://host/app", "depth": 5})
    );
    let build = world.get("Test", "build").await.unwrap();
    assert_eq!(build["spec"]["from"], "file:///a#r1");
    let publish = world.get("ConfigMap", "publish").await.unwrap();
    assert_eq!(publish["data"]["config"], "image:1 by app");
    let reference = &publish["metadata"]["ownerReferences"][0];
    assert_eq!(reference["uid"], owner["metadata"]["uid"]);
    assert_eq!(
        (&reference["kind"], &reference["controller"]),
        (&json!("Workload"), &json!(true))
    );
    for (label, value) in [
        ("workload-name", "app"),
        ("workload-namespace", &world.namespace),
        ("supply-chain-name", "backwards"),
        ("resource-name", "publish"),
        ("template-kind", "ClusterTemplate"),
        ("cluster-template-name", "publish"),
        ("template-lifecycle", "mutable"),
    ] {
        assert_eq!(
            publish["metadata"]["labels"][format!("carto.run/{label}")],
            value,
            "{label}"
        );
    }

    let status = &owner["status"];
    assert_eq!(
        status["observedGeneration"],
        owner["metadata"]["generation"]
    );
    assert_eq!(
        status["supplyChainRef"],
        json!({"kind": "ClusterSupplyChain", "name": "backwards"})
    );
    assert_eq!(
        conditions_of(status),
        [
            ["SupplyChainReady", "True", "Ready"],
            ["ResourcesSubmitted", "True", "ResourceSubmissionComplete"],
            ["ResourcesHealthy", "True", "HealthyConditionRule"],
            ["Ready", "True", "Ready"],
        ]
    );
    let names: Vec<&str> = status["resources"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|r| r["name"].as_str())
        .collect();
    assert_eq!(
        names,
        ["publish", "configure", "build", "fetch"],
        "declared order"
    );
    let build = resource(&owner, "build");
    assert_eq!(build["inputs"], json!([{"name": "fetch"}]));
    assert_eq!(build["outputs"][0]["preview"], "image:1\n");
    assert_eq!(
        build["stampedRef"],
        json!({
            "apiVersion": "test.pathline.dev/v1",
            "kind": "Test",
            "namespace": world.namespace,
            "name": "build",
            "resource": "tests.test.pathline.dev",
        })
    );
    assert_eq!(
        build["templateRef"],
        json!({
            "apiVersion": "carto.run/v1alpha1",
            "kind": "ClusterImageTemplate",
            "name": "build",
        })
    );
    let chain = world.wait_ready("ClusterSupplyChain", "backwards").await;
    assert_eq!(
        conditions_of(&chain["status"])[0],
        ["TemplatesReady", "True", "Ready"]
    );
}

pub(crate) async fn a_new_value_flows_to_the_end(world: &mut World) {
    world.apply_small_chain().await;
    world.apply_small_workload().await;
    world.fetched("r1").await;
    world.wait_shown("r1").await;
    let before = world.wait_ready("Workload", "app").await;
    world.fetched("r2").await;
    world.wait_shown("r2").await;
    let after = world
        .wait_for("Workload", "app", "reporting r2", |owner| {
            resource(owner, "fetch")["outputs"][1]["preview"] == "r2\n"
        })
        .await;
    let url = |owner: &serde_json::Value| resource(owner, "fetch")["outputs"][0].clone();
    assert_eq!(
        url(&before),
        url(&after),
        "what did not change keeps its time"
    );
}

pub(crate) async fn issue_907_a_resource_waits_until_its_input_exists(world: &mut World) {
    world.apply_small_chain().await;
    world.apply_small_workload().await;
    let waiting = ["ResourcesSubmitted", "Unknown", "MissingValueAtPath"];
    let owner = world.wait_condition("Workload", "app", waiting).await;
    let expected = format!(
        "waiting to read value [.status.url] from object [tests.test.pathline.dev/fetch] in namespace [{}]",
        world.namespace
    );
    assert_eq!(message(&owner["status"], "ResourcesSubmitted"), expected);
    let show = resource(&owner, "show");
    assert_eq!(
        conditions_of(show),
        [
            ["ResourceSubmitted", "Unknown", "WaitingForInputs"],
            ["Healthy", "Unknown", "NoResource"],
            ["Ready", "Unknown", "WaitingForInputs"],
        ]
    );
    assert_eq!(
        message(show, "ResourceSubmitted"),
        "waiting for input [code] from resource [fetch]"
    );
    assert_eq!(
        world.get("ConfigMap", "shown").await,
        None,
        "nothing is stamped half empty"
    );

    world.fetched("r1").await;
    world.wait_shown("r1").await;
    world.wait_ready("Workload", "app").await;
}

pub(crate) async fn options_follow_the_labels_and_pass_through_follows_its_input(
    world: &mut World,
) {
    world.apply_small_chain().await;
    let stamped = test_object("tested", json!({"revision": "$(source.revision)$"}));
    let tested =
        json!({"template": stamped, "urlPath": "spec.revision", "revisionPath": "spec.revision"});
    world
        .apply_spec("ClusterSourceTemplate", "tested", tested)
        .await;
    let test_options = json!([
        {"name": "tested", "selector": {"matchLabels": {"has-tests": "yes"}}},
        {"passThrough": "code", "selector": {"matchExpressions": [{"key": "has-tests", "operator": "DoesNotExist"}]}},
    ]);
    world.apply_chain("small", json!([
        {"name": "fetch", "templateRef": {"kind": "ClusterSourceTemplate", "name": "fetch"}},
        {
            "name": "test",
            "templateRef": {"kind": "ClusterSourceTemplate", "options": test_options},
            "sources": [{"name": "code", "resource": "fetch"}],
        },
        {
            "name": "show",
            "templateRef": {"kind": "ClusterTemplate", "name": "show"},
            "sources": [{"name": "code", "resource": "test"}],
        },
    ]))
    .await;
    world.apply_small_workload().await;
    world.fetched("r1").await;
    world.wait_shown("r1").await;
    let owner = world.wait_ready("Workload", "app").await;
    let test = resource(&owner, "test");
    assert_eq!(
        conditions_of(test),
        [
            ["ResourceSubmitted", "True", "PassThrough"],
            ["Ready", "True", "Ready"],
        ]
    );
    assert_eq!(test["outputs"][1]["preview"], "r1\n");

    let labels = json!({"app": world.namespace, "has-tests": "yes"});
    let spec = json!({"source": {"git": {"url": "https://host/app"}}});
    world
        .apply(
            "Workload",
            "app",
            json!({"metadata": {"labels": labels}, "spec": spec}),
        )
        .await;
    world
        .wait_for("Test", "tested", "being stamped", |_| true)
        .await;
    let owner = world
        .wait_for("Workload", "app", "with a tested source", |owner| {
            resource(owner, "test")["stampedRef"]["name"] == "tested"
        })
        .await;
    assert_eq!(resource(&owner, "test")["templateRef"]["name"], "tested");

    // Back to pass-through: the value still follows its input, and the object goes.
    world.apply_small_workload().await;
    world.wait_gone("Test", "tested").await;
    world.fetched("r2").await;
    world
        .wait_for("Workload", "app", "passing r2 through", |owner| {
            let test = resource(owner, "test");
            test["outputs"][1]["preview"] == "r2\n" && test.get("stampedRef").is_none()
        })
        .await;
}
