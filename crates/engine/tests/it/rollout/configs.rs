//! ConfigMaps that the pods of another final resource read.

use jiff::{SignedDuration, Timestamp};
use sha2::{Digest, Sha256};

use super::*;

/// The time that an engine has to watch pods after its start.
const WATCHING: Duration = Duration::from_secs(3);

const STALE: &str = "pods started before ConfigMap `app` changed";

pub(crate) async fn point_17_pods_that_started_before_their_config_changed_are_not_live(
    world: &mut World,
    kubelets: &Kubelets,
) {
    let variable =
        json!({"name": "DEBUG", "valueFrom": {"configMapKeyRef": {"name": "app", "key": "debug"}}});
    world
        .apply_config_and_run(json!({"env": [variable]}), json!({}))
        .await;
    world.configure("off", "one").await;
    world.wait_live(1).await;

    world.configure("on", "one").await;
    world.wait_missing(2, "param:debug=on", STALE).await;
    let advice = format!(
        "kubectl rollout restart -n {} deployment/app",
        world.namespace
    );
    world.wait_missing(2, "param:debug=on", &advice).await;
    world.restart_engine().await;
    world.configure("on", "two").await;
    world.wait_missing(3, "param:debug=on", STALE).await;

    world.roll_out_again("first").await;
    world.wait_live(3).await;
    // Labels are no content, whoever writes them.
    world.label_config("a").await;
    world.restart_engine().await;
    world.label_config("b").await;
    world.configure("on", "three").await;
    world.wait_live(4).await;

    world.configure("off", "three").await;
    world.wait_missing(5, "param:debug=off", STALE).await;
    let later = Timestamp::now() + SignedDuration::from_secs(2);
    kubelets.restart(&world.namespace, later).await.unwrap();
    world.wait_live(5).await;
    world.restart_engine().await;
    world.configure("off", "four").await;
    world.wait_live(6).await;
}

pub(crate) async fn point_17_pods_that_carry_the_hash_of_their_config_are_live(
    world: &mut World,
    _: &Kubelets,
) {
    let whole = json!({"envFrom": [{"configMapRef": {"name": "app"}}]});
    world
        .apply_config_and_run(whole, json!({"annotations": {"config": "$(params.mark)$"}}))
        .await;
    for (generation, debug) in [(1, "off"), (2, "on"), (3, "off")] {
        let data = json!({ "debug": debug }).to_string();
        let hash = Sha256::digest(data);
        let hash: String = hash.iter().map(|it| format!("{it:02x}")).collect();
        world.configure(debug, &hash).await;
        world.wait_live(generation).await;
    }
    world.restart_engine().await;
    world.label_config("a").await;
    // Of pods that are made in the second of a change nobody can tell the order who was not watching yet.
    tokio::time::sleep(WATCHING).await;
    world
        .configure("on", "a value that says nothing of the config")
        .await;
    world.wait_live(4).await;
}

pub(crate) async fn point_17_files_that_are_kept_up_to_date_need_no_restart(
    world: &mut World,
    _: &Kubelets,
) {
    let mounts = json!({"volumeMounts": [{"name": "files", "mountPath": "/etc/app"}]});
    world.apply_config_and_run(mounts, json!({})).await;
    world.configure("off", "one").await;
    world.wait_live(1).await;
    world.configure("on", "one").await;
    world.wait_live(2).await;

    let file = json!({"volumeMounts": [
        {"name": "files", "mountPath": "/etc/app/debug", "subPath": "debug"},
    ]});
    world.apply_config_and_run(file, json!({})).await;
    world.configure("off", "one").await;
    world.configure("on", "one").await;
    world.configure("off", "two").await;
    let waits = |owner: &Value| owner["status"]["observedGeneration"] == 5;
    world.wait_for("Workload", "app", "looked at", waits).await;
    world.roll_out_again("first").await;
    world.wait_live(5).await;
    world.configure("on", "two").await;
    world.wait_missing(6, "param:debug=on", STALE).await;
}

#[tokio::test]
async fn point_17_pods_of_an_embedded_cluster_are_held_to_their_config() {
    let mut world = World::embedded().await;
    let whole = json!({"envFrom": [{"configMapRef": {"name": "app"}}]});
    world.apply_config_and_run(whole, json!({})).await;
    world.configure("off", "one").await;
    world.play_rollout("1", 1).await;
    world.wait_live(1).await;

    world.configure("on", "one").await;
    world.wait_missing(2, "param:debug=on", STALE).await;
    world.restart_engine().await;
    world.configure("on", "two").await;
    world.wait_missing(3, "param:debug=on", STALE).await;

    world.roll_out_again("first").await;
    world.play_rollout("2", 2).await;
    world.wait_live(3).await;
    world.restart_engine().await;
    world.label_config("a").await;
    world.configure("on", "three").await;
    world.wait_live(4).await;
    world.end().await;
}

impl World {
    /// Makes a supply chain that ends with a ConfigMap and with a Deployment that reads it.
    async fn apply_config_and_run(&self, container: Value, metadata: Value) {
        let config = json!({
            "apiVersion": "v1", "kind": "ConfigMap",
            "metadata": {"name": "$(workload.metadata.name)$", "annotations": {"mark": "$(params.mark)$"}},
            "data": {"debug": "$(params.debug)$"},
        });
        let params = json!([{"name": "debug", "default": ""}, {"name": "mark", "default": ""}]);
        let template = json!({"template": config, "params": params});
        self.apply_spec("ClusterTemplate", "config", template).await;
        let mut body = deployment();
        let pod = &mut body["spec"]["template"];
        pod["metadata"]["annotations"] = metadata["annotations"].clone();
        pod["spec"]["volumes"] = json!([{"name": "files", "configMap": {"name": "app"}}]);
        let asked = &mut pod["spec"]["containers"][0];
        asked["image"] = json!("app:1");
        asked["env"] = json!([]);
        for (field, value) in container.as_object().unwrap() {
            asked[field] = value.clone();
        }
        let template = json!({"template": body, "params": params});
        self.apply_spec("ClusterTemplate", "run", template).await;
        let resource = |name: &str| json!({"name": name, "templateRef": {"kind": "ClusterTemplate", "name": name}});
        let resources = json!([resource("config"), resource("run")]);
        self.apply_chain("run", resources).await;
    }

    async fn configure(&self, debug: &str, mark: &str) {
        self.apply_params(&[("debug", debug), ("mark", mark)]).await;
    }

    async fn restart_engine(&mut self) {
        self.stop_engine().await;
        self.start_engine();
    }

    fn core_api(&self, api_version: &str, kind: &str) -> Api<DynamicObject> {
        let types = TypeMeta {
            api_version: api_version.to_owned(),
            kind: kind.to_owned(),
        };
        self.kind_api(&types, &self.namespace)
    }

    /// Does what `kubectl rollout restart` does.
    async fn roll_out_again(&self, mark: &str) {
        let annotations = json!({"kubectl.kubernetes.io/restartedAt": mark});
        let patch = json!({"spec": {"template": {"metadata": {"annotations": annotations}}}});
        let api = self.core_api("apps/v1", "Deployment");
        let patch = Patch::Merge(patch);
        api.patch("app", &PatchParams::default(), &patch)
            .await
            .unwrap();
    }

    async fn label_config(&self, value: &str) {
        let patch = Patch::Merge(json!({"metadata": {"labels": {"somebody": value}}}));
        let api = self.core_api("v1", "ConfigMap");
        let is_there = |it: Option<&DynamicObject>| it.is_some();
        let there = kube::runtime::wait::await_condition(api.clone(), "app", is_there);
        there.await.unwrap();
        api.patch("app", &PatchParams::default(), &patch)
            .await
            .unwrap();
    }

    /// Plays the controllers and nodes: a replica set of one pod takes the place of all others.
    async fn play_rollout(&self, number: &str, generation: i64) {
        let stamped = self.wait_stamped("apps/v1", "Deployment", generation).await;
        let pods = self.core_api("v1", "Pod");
        for pod in pods.list(&Default::default()).await.unwrap() {
            let name = pod.metadata.name.unwrap();
            pods.delete(&name, &Default::default()).await.unwrap();
        }
        let revision = json!({"deployment.kubernetes.io/revision": number});
        let set = json!({
            "apiVersion": "apps/v1", "kind": "ReplicaSet",
            "metadata": {
                "name": format!("app-{number}"), "annotations": revision,
                "ownerReferences": controlled_by(&stamped),
            },
            "spec": {
                "replicas": 2, "selector": stamped["spec"]["selector"],
                "template": stamped["spec"]["template"],
            },
        });
        let set = self.put(set).await;
        for index in ["a", "b"] {
            let started = json!({"running": {"startedAt": Timestamp::now().to_string()}});
            self.put(json!({
                "apiVersion": "v1", "kind": "Pod",
                "metadata": {
                    "name": format!("app-{number}-{index}"), "ownerReferences": controlled_by(&set),
                    "labels": {"app": "app"},
                },
                "spec": stamped["spec"]["template"]["spec"],
                "status": {
                    "phase": "Running", "conditions": [{"type": "Ready", "status": "True"}],
                    "containerStatuses": [{
                        "name": "app", "image": "app:1", "imageID": "app@sha256:1", "ready": true,
                        "restartCount": 0, "state": started,
                    }],
                },
            }))
            .await;
        }
        self.put(json!({
            "apiVersion": "apps/v1", "kind": "Deployment",
            "metadata": {"name": "app", "annotations": revision},
            "status": {
                "observedGeneration": generation, "replicas": 2, "updatedReplicas": 2, "availableReplicas": 2,
            },
        }))
        .await;
    }
}
