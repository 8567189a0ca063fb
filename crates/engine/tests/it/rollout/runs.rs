//! Paths that end with a run, or with what nothing runs below.

use pathline_testkit::kube::Crash;

use super::*;

pub(crate) async fn job_that_a_final_runnable_runs_is_its_rollout(
    world: &mut World,
    kubelets: &Kubelets,
) {
    world
        .apply_final_runnable(job("$(runnable.spec.inputs.image)$", "OnFailure"))
        .await;
    world.apply_params(&[("image", "job:1")]).await;
    world.wait_live(1).await;

    kubelets.crash("job:2", missing_table());
    world.apply_params(&[("image", "job:2")]).await;
    let reason = world.wait_impossible(2, "param:image=job:2").await;
    assert!(reason.contains("the table is missing"), "{reason}");

    world.apply_params(&[("image", "job:1")]).await;
    world.wait_live(3).await;
}

pub(crate) async fn job_that_gives_up_fails_with_its_own_reason(
    world: &mut World,
    kubelets: &Kubelets,
) {
    let mut body = job("$(params.image)$", "Never");
    body["metadata"] = json!({"name": "$(workload.metadata.name)$"});
    body["spec"]["backoffLimit"] = json!(0);
    world.apply_one_resource(body, &["image"]).await;
    kubelets.crash("migrate:1", missing_table());
    world.apply_params(&[("image", "migrate:1")]).await;
    let reason = world.wait_impossible(1, "param:image=migrate:1").await;
    assert!(reason.contains("BackoffLimitExceeded"), "{reason}");
}

pub(crate) async fn immutable_run_at_the_end_of_a_path_is_its_rollout(
    world: &mut World,
    kubelets: &Kubelets,
) {
    let mut body = job("$(params.image)$", "Never");
    body["spec"]["backoffLimit"] = json!(0);
    world
        .apply_template(json!({
            "template": body, "lifecycle": "immutable",
            "healthRule": {"singleConditionType": "Complete"},
            "params": [{"name": "image", "default": ""}],
        }))
        .await;
    world.apply_params(&[("image", "once:1")]).await;
    world.wait_live(1).await;

    kubelets.hold("once:2");
    world.apply_params(&[("image", "once:2")]).await;
    world.assert_not_live_with("image", "once:2").await;
    world.wait_missing(2, "param:image=once:2", "` runs").await;
    kubelets.release("once:2");
    world.wait_live(2).await;

    kubelets.crash("once:3", missing_table());
    world.apply_params(&[("image", "once:3")]).await;
    let reason = world.wait_impossible(3, "param:image=once:3").await;
    assert!(reason.contains("BackoffLimitExceeded"), "{reason}");

    world.apply_params(&[("image", "once:1")]).await;
    world.wait_live(4).await;
}

/// Returns a Job that is made anew for each run.
fn job(image: &str, restart_policy: &str) -> Value {
    let container = json!({"name": "job", "image": image});
    json!({
        "apiVersion": "batch/v1", "kind": "Job", "metadata": {"generateName": "run-"},
        "spec": {"backoffLimit": 6, "template": {"spec": {"restartPolicy": restart_policy, "containers": [container]}}},
    })
}

fn missing_table() -> Crash {
    Crash {
        restarts: 3,
        exit_code: 9,
        message: "the table is missing".to_owned(),
    }
}

#[tokio::test]
async fn nothing_is_live_where_nothing_is_known_to_run() {
    let world = World::embedded().await;
    let body = json!({
        "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "$(workload.metadata.name)$"},
        "data": {"image": "$(params.image)$"},
    });
    world.apply_one_resource(body, &["image"]).await;
    world.apply_params(&[("image", "app:1")]).await;
    world.assert_arrived_but_unknown("app:1").await;

    let run = json!({
        "apiVersion": "test.pathline.dev/v1", "kind": "Test", "metadata": {"generateName": "run-"},
        "spec": {"image": "$(runnable.spec.inputs.image)$"},
    });
    world.apply_final_runnable(run).await;
    world.apply_params(&[("image", "app:2")]).await;
    let is_new = |run: &Value| run["spec"]["image"] == "app:2";
    let run = world.wait_any("Test", "with the new image", is_new).await;
    let succeeded = json!({"conditions": [{"type": "Succeeded", "status": "True"}]});
    world.set_status(&run, succeeded).await;
    world.assert_arrived_but_unknown("app:2").await;
    world.end().await;
}

impl World {
    /// Makes a supply chain that ends with a Runnable.
    async fn apply_final_runnable(&self, run: Value) {
        self.apply_spec("ClusterRunTemplate", "run", json!({"template": run}))
            .await;
        let runnable = json!({
            "apiVersion": "carto.run/v1alpha1", "kind": "Runnable",
            "metadata": {"name": "$(workload.metadata.name)$"},
            "spec": {"runTemplateRef": {"name": "run"}, "inputs": {"image": "$(params.image)$"}},
        });
        self.apply_one_resource(runnable, &["image"]).await;
    }

    /// Waits until whoever waits is told that the value has arrived, and that nothing says it runs.
    async fn assert_arrived_but_unknown(&self, image: &str) {
        let is_settled = |owner: &Value| {
            let input = &owner["status"]["inputs"][0];
            input["value"] == image && input["arrived"] == true
        };
        let owner = self
            .wait_for("Workload", "app", "with its image arrived", is_settled)
            .await;
        assert_eq!(owner["status"]["live"], "Unknown", "{owner:#}");
        let generation = owner["metadata"]["generation"].as_i64().unwrap();
        let wait_for = format!("param:image={image}");
        let missing = self
            .wait_verdict(generation, &wait_for, |verdict| match verdict {
                Verdict::Unproven(missing) => Some(missing),
                Verdict::Waiting(_) => None,
                other => panic!("{other:?} where nothing is known to run"),
            })
            .await;
        assert!(missing[0].why.contains("liveSelector"), "{}", missing[0]);
    }
}
