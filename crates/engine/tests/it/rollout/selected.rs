//! Objects that a template's `liveSelector` selects.

use super::applied::filled;
use super::*;

pub(crate) async fn deployment_that_a_template_selects_tells_whether_it_runs(
    world: &mut World,
    _: &Kubelets,
) {
    world.apply_selecting("apps/v1", "Deployment").await;
    for (generation, debug) in [(1, "off"), (2, "on")] {
        world.apply_params(&[("debug", debug)]).await;
        world
            .wait_stamped("test.pathline.dev/v1", "Test", generation)
            .await;
        world
            .put(filled(deployment(), debug, &world.namespace))
            .await;
        world
            .set_status("app", json!({"observedGeneration": generation}))
            .await;
        world.wait_live(generation).await;
        let running = world.running_with(&world.namespace).await;
        assert_eq!(running, [debug, debug]);
    }
}

pub(crate) async fn pods_that_a_template_selects_tell_whether_it_runs(
    world: &mut World,
    _: &Kubelets,
) {
    world.apply_selecting("v1", "Pod").await;
    world.apply_params(&[("debug", "off")]).await;
    world
        .set_status("app", json!({"observedGeneration": 1}))
        .await;
    world
        .wait_missing(
            1,
            "param:debug=off",
            "nothing that its liveSelector selects",
        )
        .await;
    for (name, app) in [("one", "app"), ("two", "other")] {
        let pod = json!({
            "apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": name, "labels": {"app": app}},
            "spec": {"containers": [{"name": "app", "image": "app:1"}]},
        });
        world.put(pod).await;
    }
    world.wait_live(1).await;
}

#[tokio::test]
async fn process_that_a_template_selects_tells_whether_it_runs() {
    let mut world = World::embedded().await;
    world.stop_engine().await;
    world.start_engine_with(|options| options.workers = Some(Kinds::all()));
    world
        .apply_selecting("pathline.dev/v1alpha1", "Process")
        .await;
    let run = |mark: &str| {
        json!({
            "apiVersion": "pathline.dev/v1alpha1", "kind": "Process",
            "metadata": {"name": "running", "labels": {"app": "app"}},
            "spec": {"command": ["sh", "-c", format!("echo {mark}; exec sleep 1000")]},
        })
    };
    for (generation, debug) in [(1, "off"), (2, "on")] {
        world.apply_params(&[("debug", debug)]).await;
        world
            .wait_stamped("test.pathline.dev/v1", "Test", generation)
            .await;
        world.put(run(debug)).await;
        world
            .set_status("app", json!({"observedGeneration": generation}))
            .await;
        world.wait_live(generation).await;
    }

    // A kind that is not there is no reason to say that something runs.
    world.apply_selecting("example.org/v1", "Missing").await;
    let is_not_live = |owner: &Value| owner["status"]["live"] == "False";
    world
        .wait_for("Workload", "app", "that is not live", is_not_live)
        .await;
    let missing = "the cluster has no Missing of `example.org/v1`";
    world.wait_missing(2, "current", missing).await;
    world.end().await;
}

impl World {
    /// Makes a supply chain whose object runs nothing itself, but selects what does by a label.
    async fn apply_selecting(&self, api_version: &str, kind: &str) {
        let body = json!({
            "apiVersion": "test.pathline.dev/v1", "kind": "Test",
            "metadata": {"name": "$(workload.metadata.name)$"}, "spec": {"debug": "$(params.debug)$"},
        });
        let selector = json!({
            "apiVersion": api_version, "kind": kind, "matchLabels": {"app": "$(metadata.name)$"},
        });
        self.apply_template(json!({
            "template": body, "params": [{"name": "debug", "default": ""}],
            "artifactTracing": {"liveSelector": selector},
        }))
        .await;
    }
}
