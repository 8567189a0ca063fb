//! Stateful sets and daemon sets, whose pods carry the revision that they are of.

use k8s_openapi::api::core::v1::Pod;
use kube::runtime::wait::await_condition;
use pathline_testkit::kube::Crash;

use super::*;

pub(crate) async fn stateful_set_is_live_after_its_last_pod_and_not_before(
    world: &mut World,
    kubelets: &Kubelets,
) {
    let mut body = deployment();
    body["kind"] = json!("StatefulSet");
    roll_out(world, kubelets, body).await;
}

pub(crate) async fn daemon_set_is_live_after_its_last_pod_and_not_before(
    world: &mut World,
    kubelets: &Kubelets,
) {
    roll_out(world, kubelets, daemon_set()).await;
}

pub(crate) async fn daemon_set_is_not_live_by_old_pods_that_are_seen_late(
    world: &mut World,
    _: &Kubelets,
) {
    world
        .apply_one_resource(daemon_set(), &["debug", "image"])
        .await;
    world.run("off", "late:1").await;
    world.wait_live(1).await;
    world.stop_engine().await;
    let late = world.watch_late(&["pods", "controllerrevisions"]);
    world.start_engine();
    late.wait_listed().await;

    // The DaemonSet says that it is done, and all that is known below it was there before.
    world.run("on", "late:1").await;
    let unknown = "the newest revision of `app` is not known yet";
    world.wait_missing(2, "param:debug=on", unknown).await;
    late.release();
    world.wait_live(2).await;
    assert_eq!(world.running_with(&world.namespace).await, ["on", "on"]);
}

/// Returns a DaemonSet: it has one pod on each of the two nodes of the stand-in.
fn daemon_set() -> Value {
    let mut body = deployment();
    body["kind"] = json!("DaemonSet");
    body["spec"].as_object_mut().unwrap().remove("replicas");
    body
}

/// Changes the configuration alone, then the image, goes back to what there was, and lets it crash.
async fn roll_out(world: &mut World, kubelets: &Kubelets, body: Value) {
    let kind = body["kind"].as_str().unwrap().to_ascii_lowercase();
    let image = |number: u32| format!("{kind}:{number}");
    world.apply_one_resource(body, &["debug", "image"]).await;
    world.run("off", &image(1)).await;
    world.wait_live(1).await;
    assert_eq!(world.running_with(&world.namespace).await, ["off", "off"]);

    let held = world
        .finalize_a_pod(&json!(["test.pathline.dev/held"]))
        .await;
    world.run("on", &image(1)).await;
    world.assert_not_live_with("debug", "on").await;
    world.wait_leaving(&held).await;
    world
        .wait_missing(2, "param:debug=on", "of 2 pods are new")
        .await;
    world.finalize(&held, &json!(null)).await;
    world.wait_live(2).await;
    assert_eq!(world.running_with(&world.namespace).await, ["on", "on"]);

    kubelets.hold(&image(2));
    world.run("on", &image(2)).await;
    let wait_for = format!("param:image={}", image(2));
    world
        .wait_missing(3, &wait_for, "1 of 2 pods are new")
        .await;
    kubelets.release(&image(2));
    world.wait_live(3).await;

    world.run("off", &image(1)).await;
    world.wait_live(4).await;
    assert_eq!(world.running_with(&world.namespace).await, ["off", "off"]);

    let crash = Crash {
        restarts: 3,
        exit_code: 7,
        message: "there is no config".to_owned(),
    };
    kubelets.crash(&image(3), crash);
    world.run("off", &image(3)).await;
    let wait_for = format!("param:image={}", image(3));
    let reason = world.wait_impossible(5, &wait_for).await;
    assert!(reason.contains("there is no config"), "{reason}");
}

impl World {
    /// Waits until a pod is being deleted.
    pub(super) async fn wait_leaving(&self, pod: &str) {
        let pods: Api<Pod> = Api::namespaced(self.client.clone(), &self.namespace);
        let is_leaving =
            |pod: Option<&Pod>| pod.is_some_and(|pod| pod.metadata.deletion_timestamp.is_some());
        let waiting = await_condition(pods, pod, is_leaving);
        let left = tokio::time::timeout(WAIT_TIMEOUT, waiting).await;
        left.unwrap_or_else(|_| panic!("pod {pod} is not deleted"))
            .unwrap();
    }
}
