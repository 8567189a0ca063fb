//! Deployments and their pods.

use kube::api::ListParams;
use pathline_testkit::kube::Crash;

use super::*;

pub(crate) async fn deployment_is_live_when_only_new_pods_run_and_fails_when_they_crash(
    world: &mut World,
    kubelets: &Kubelets,
) {
    world
        .apply_one_resource(deployment(), &["debug", "image"])
        .await;
    world.run("off", "app:1").await;
    world.wait_live(1).await;

    world.run("on", "app:1").await;
    world.assert_not_live_with("debug", "on").await;
    world.wait_live(2).await;
    assert_eq!(world.running_with(&world.namespace).await, ["on", "on"]);

    let crash = Crash {
        restarts: 3,
        exit_code: 7,
        message: "there is no config".to_owned(),
    };
    kubelets.crash("app:2", crash);
    world.run("on", "app:2").await;
    let reason = world.wait_impossible(3, "param:image=app:2").await;
    assert!(
        reason.contains("exit code 7: there is no config"),
        "{reason}"
    );

    world.run("on", "app:1").await;
    world.wait_live(4).await;

    world.stop_engine().await;
    world.start_engine();
    world.run("off", "app:1").await;
    world.wait_live(5).await;
}

pub(crate) async fn pod_that_is_still_being_deleted_keeps_the_new_ones_from_being_live(
    world: &mut World,
    _: &Kubelets,
) {
    world
        .apply_one_resource(deployment(), &["debug", "image"])
        .await;
    world.run("off", "app:1").await;
    world.wait_live(1).await;
    let held = json!(["test.pathline.dev/held"]);
    let pod = world.finalize_a_pod(&held).await;

    world.run("on", "app:1").await;
    world
        .wait_missing(2, "param:debug=on", "1 old pods are still there")
        .await;
    // Old pods are told of before they are on their way out, too.
    world.wait_leaving(&pod).await;
    world.finalize(&pod, &json!(null)).await;
    world.wait_live(2).await;
    assert_eq!(world.running_with(&world.namespace).await, ["on", "on"]);
}

pub(crate) async fn nothing_is_live_at_scale_zero_or_after_its_deadline(
    world: &mut World,
    kubelets: &Kubelets,
) {
    let mut body = deployment();
    body["spec"]["replicas"] = json!("$(params.replicas)$");
    body["spec"]["progressDeadlineSeconds"] = json!(2);
    let params = json!([{"name": "replicas", "default": 1}, {"name": "image", "default": ""}, {"name": "debug", "default": ""}]);
    world
        .apply_template(json!({"template": body, "params": params}))
        .await;
    let run = |replicas: u32, image: &str| json!([{"name": "replicas", "value": replicas}, {"name": "image", "value": image}]);
    world
        .apply_workload("app", json!({"params": run(0, "app:1")}))
        .await;
    world
        .wait_missing(1, "current", "it is scaled to 0: nothing runs")
        .await;
    world
        .apply_workload("app", json!({"params": run(1, "app:1")}))
        .await;
    world.wait_live(2).await;

    // Too few restarts for a failure, but it does not get ready either.
    let crash = Crash {
        restarts: 1,
        exit_code: 1,
        message: "not yet".to_owned(),
    };
    kubelets.crash("app:late", crash);
    world
        .apply_workload("app", json!({"params": run(1, "app:late")}))
        .await;
    let reason = world.wait_impossible(3, "param:image=app:late").await;
    assert!(reason.contains("ProgressDeadlineExceeded"), "{reason}");
}

pub(super) async fn answer_comes_although_the_api_server_is_killed_meanwhile(
    cluster: &RealCluster,
) {
    if !cluster.can_stop() {
        return;
    }
    let kubelets = Kubelets::start(cluster.client().await.unwrap())
        .await
        .unwrap();
    let world = Box::pin(World::on(cluster.kubeconfig())).await;
    world
        .apply_one_resource(deployment(), &["debug", "image"])
        .await;
    world.run("off", "app:1").await;
    world.wait_live(1).await;

    // Without them the rollout stands still until the server is back.
    drop(kubelets);
    world.run("on", "app:1").await;
    world
        .wait_missing(2, "param:debug=on", "1 of 2 pods are new")
        .await;
    cluster.stop_api_server().unwrap();
    cluster.start_api_server().await.unwrap();
    let _kubelets = Kubelets::start(cluster.client().await.unwrap())
        .await
        .unwrap();
    world.wait_live(2).await;
    assert_eq!(world.running_with(&world.namespace).await, ["on", "on"]);
    world.end().await;
}

impl World {
    pub(super) async fn run(&self, debug: &str, image: &str) {
        self.apply_params(&[("debug", debug), ("image", image)])
            .await;
    }

    /// Lets a pod of the namespace have finalizers; returns its name.
    pub(super) async fn finalize_a_pod(&self, finalizers: &Value) -> String {
        let pods: Api<k8s_openapi::api::core::v1::Pod> =
            Api::namespaced(self.client.clone(), &self.namespace);
        let pods = pods.list(&ListParams::default()).await.unwrap();
        let name = pods.items[0].metadata.name.clone().unwrap();
        self.finalize(&name, finalizers).await;
        name
    }

    pub(super) async fn finalize(
        &self,
        pod: &str,
        finalizers: &Value,
    ) -> k8s_openapi::api::core::v1::Pod {
        let pods: Api<k8s_openapi::api::core::v1::Pod> =
            Api::namespaced(self.client.clone(), &self.namespace);
        let patch = Patch::Merge(json!({"metadata": {"finalizers": finalizers}}));
        pods.patch(pod, &PatchParams::default(), &patch)
            .await
            .unwrap()
    }
}
