//! Runnables, alone and in supply chains.

use serde_json::{Value, json};

use super::{config_map, test_object};
use crate::world::{World, message};

pub(crate) async fn a_runnable_runs_anew_for_new_inputs(world: &mut World) {
    world
        .apply_run_template(json!({"image": "status.image"}))
        .await;
    world.apply_runnable("1").await;
    let first = world.wait_run("1").await;
    let going = ["StampedObjectCondition", "Unknown", "Unknown"];
    world.wait_condition("Runnable", "build", going).await;
    world.finish(&first, "True", "image:1").await;
    let runnable = world.wait_ready("Runnable", "build").await;
    assert_eq!(runnable["status"]["outputs"], json!({"image": "image:1"}));

    world.apply_runnable("2").await;
    let second = world.wait_run("2").await;
    world.finish(&second, "False", "image:2").await;
    let failed = ["StampedObjectCondition", "False", "SucceededCondition"];
    let runnable = world.wait_condition("Runnable", "build", failed).await;
    assert_eq!(runnable["status"]["outputs"], json!({"image": "image:1"}));

    world.apply_runnable("1").await;
    let runnable = world.wait_ready("Runnable", "build").await;
    assert_eq!(runnable["status"]["outputs"], json!({"image": "image:1"}));
    assert_eq!(
        world.names("Test", "run-").await.len(),
        2,
        "the old run is found again"
    );
}

pub(crate) async fn a_run_template_that_changes_wakes_its_runnables(world: &mut World) {
    world.apply_runnable("1").await;
    let missing = ["RunTemplateReady", "False", "RunTemplateNotFound"];
    world.wait_condition("Runnable", "build", missing).await;
    world
        .apply_run_template(json!({"image": "status.nowhere"}))
        .await;
    let run = world.wait_run("1").await;
    world.finish(&run, "True", "image:1").await;
    let unmet = ["RunTemplateReady", "False", "OutputPathNotSatisfied"];
    let runnable = world.wait_condition("Runnable", "build", unmet).await;
    let expected = format!(
        "waiting to read value from resource [tests.test.pathline.dev/{run}] in namespace [{}]: \
         failed to evaluate path [status.nowhere]: jsonpath returned empty list: status.nowhere",
        world.namespace
    );
    assert_eq!(message(&runnable["status"], "RunTemplateReady"), expected);
    world
        .apply_run_template(json!({"image": "status.image"}))
        .await;
    let runnable = world.wait_ready("Runnable", "build").await;
    assert_eq!(runnable["status"]["outputs"], json!({"image": "image:1"}));
}

pub(crate) async fn what_a_runnable_selects_is_watched(world: &mut World) {
    let mut body = test_object("", json!({"seen": "$(selected.data.value)$"}));
    body["metadata"] = json!({"generateName": "run-"});
    world
        .apply_spec("ClusterRunTemplate", "read", json!({"template": body}))
        .await;
    let labels = json!({"pick": "me"});
    let selector = json!({
        "resource": {"apiVersion": "v1", "kind": "ConfigMap"},
        "matchingLabels": labels,
    });
    let spec = json!({"runTemplateRef": {"name": "read"}, "selector": selector});
    world.apply_spec("Runnable", "reads", spec).await;
    let failed = ["RunTemplateReady", "False", "TemplateStampFailure"];
    let runnable = world.wait_condition("Runnable", "reads", failed).await;
    assert_eq!(
        message(&runnable["status"], "RunTemplateReady"),
        "unable to resolve selector [(apiVersion:v1 kind:ConfigMap labels:map[pick:me])]: \
         [selector did not match any objects]"
    );
    let picked = |value: &str| {
        let mut object = config_map("picked", json!({"value": value}));
        object["metadata"]["labels"] = labels.clone();
        object
    };
    world.apply("ConfigMap", "picked", picked("a")).await;
    world.wait_seen("a").await;
    world.apply("ConfigMap", "picked", picked("b")).await;
    world.wait_seen("b").await;
}

pub(crate) async fn a_supply_chain_looks_through_a_runnable(world: &mut World) {
    world
        .apply_run_template(json!({"image": "status.image"}))
        .await;
    let body = json!({
        "apiVersion": "carto.run/v1alpha1",
        "kind": "Runnable",
        "metadata": {"name": "build"},
        "spec": {
            "runTemplateRef": {"name": "pipeline"},
            "inputs": {"revision": "$(params.revision)$"},
        },
    });
    let build = json!({"template": body, "imagePath": "status.outputs.image"});
    world
        .apply_spec("ClusterImageTemplate", "build", build)
        .await;
    let show = json!({"template": config_map("shown", json!({"image": "$(image)$"}))});
    world.apply_spec("ClusterTemplate", "show", show).await;
    world
        .apply_chain(
            "chain",
            json!([
                {"name": "build", "templateRef": {"kind": "ClusterImageTemplate", "name": "build"}},
                {
                    "name": "show",
                    "templateRef": {"kind": "ClusterTemplate", "name": "show"},
                    "images": [{"name": "image", "resource": "build"}],
                },
            ]),
        )
        .await;
    for revision in ["1", "2"] {
        let params = json!([{"name": "revision", "value": revision}]);
        world.apply_workload("app", json!({"params": params})).await;
        let run = world.wait_run(revision).await;
        let image = format!("image:{revision}");
        world.finish(&run, "True", &image).await;
        world
            .wait_for("ConfigMap", "shown", &image, |shown| {
                shown["data"]["image"] == image.as_str()
            })
            .await;
    }
    assert_eq!(world.names("Test", "run-").await.len(), 2);
    world.wait_ready("Workload", "app").await;
}

impl World {
    async fn apply_run_template(&self, outputs: Value) {
        let mut body = test_object("", json!({"revision": "$(runnable.spec.inputs.revision)$"}));
        body["metadata"] = json!({"generateName": "run-"});
        let spec = json!({"template": body, "outputs": outputs});
        self.apply_spec("ClusterRunTemplate", "pipeline", spec)
            .await;
    }

    async fn apply_runnable(&self, revision: &str) {
        let spec =
            json!({"runTemplateRef": {"name": "pipeline"}, "inputs": {"revision": revision}});
        self.apply_spec("Runnable", "build", spec).await;
    }

    /// Waits for the run of a revision, and returns its name.
    async fn wait_run(&self, revision: &str) -> String {
        self.wait_any("Test", "with the revision", |run| {
            run["spec"]["revision"] == revision
        })
        .await
    }

    async fn wait_seen(&self, value: &str) {
        self.wait_any("Test", "with what was selected", |run| {
            run["spec"]["seen"] == value
        })
        .await;
    }
}
