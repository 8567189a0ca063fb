//! Objects that the controllers of Knative and Flux make of a stamped object; the stories play them.

use k8s_openapi::api::core::v1::Namespace;
use kube::api::{DeleteParams, PostParams};

use super::*;

const SERVING: &str = "serving.knative.dev/v1";
const KUSTOMIZE: &str = "kustomize.toolkit.fluxcd.io/v1";
const HELM: &str = "helm.toolkit.fluxcd.io/v1";

pub(crate) async fn knative_service_is_live_when_the_pods_of_its_newest_revision_are_alone(
    world: &mut World,
    _: &Kubelets,
) {
    let container =
        json!({"image": "app:1", "env": [{"name": "DEBUG", "value": "$(params.debug)$"}]});
    let service = json!({
        "apiVersion": SERVING, "kind": "Service", "metadata": {"name": "$(workload.metadata.name)$"},
        "spec": {"template": {"spec": {"containers": [container]}}},
    });
    world.apply_one_resource(service, &["debug"]).await;
    world.apply_params(&[("debug", "off")]).await;
    let service = world.wait_stamped(SERVING, "Service", 1).await;
    let configuration = json!({
        "apiVersion": SERVING, "kind": "Configuration",
        "metadata": {"name": "app", "ownerReferences": controlled_by(&service)}, "spec": {},
    });
    let configuration = world.put(configuration).await;
    world.add_revision(&configuration, 1, "off").await;
    world.report_service(&service, 1, "True").await;
    world.wait_live(1).await;

    world.apply_params(&[("debug", "on")]).await;
    world.assert_not_live_with("debug", "on").await;
    let service = world.wait_stamped(SERVING, "Service", 2).await;
    world.add_revision(&configuration, 2, "on").await;
    world.report_service(&service, 2, "True").await;
    world
        .wait_missing(2, "param:debug=on", "old pods are still there")
        .await;
    let types = TypeMeta {
        api_version: "apps/v1".into(),
        kind: "Deployment".into(),
    };
    let deployments = world.kind_api(&types, &world.namespace);
    deployments
        .delete("app-1", &DeleteParams::background())
        .await
        .unwrap();
    world.wait_live(2).await;
    assert_eq!(world.running_with(&world.namespace).await, ["on", "on"]);

    world.apply_params(&[("debug", "broken")]).await;
    let service = world.wait_stamped(SERVING, "Service", 3).await;
    world.report_service(&service, 3, "False").await;
    let reason = world.wait_impossible(3, "param:debug=broken").await;
    assert!(reason.contains("the revision does not start"), "{reason}");
}

pub(crate) async fn kustomization_is_live_when_what_it_applied_elsewhere_runs(
    world: &mut World,
    _: &Kubelets,
) {
    apply_elsewhere(world, KUSTOMIZE, "Kustomization").await;
}

pub(crate) async fn helm_release_is_live_when_what_it_applied_elsewhere_runs(
    world: &mut World,
    _: &Kubelets,
) {
    apply_elsewhere(world, HELM, "HelmRelease").await;
}

/// Plays Flux: lets an object with an inventory apply two versions, and fail with the third.
async fn apply_elsewhere(world: &World, api_version: &str, kind: &str) {
    let elsewhere = format!("{}-elsewhere", world.namespace);
    let namespaces: Api<Namespace> = Api::all(world.client.clone());
    let namespace = serde_json::from_value(json!({"metadata": {"name": elsewhere}})).unwrap();
    namespaces
        .create(&PostParams::default(), &namespace)
        .await
        .unwrap();
    let body = json!({
        "apiVersion": api_version, "kind": kind, "metadata": {"name": "$(workload.metadata.name)$"},
        "spec": {"values": {"debug": "$(params.debug)$"}},
    });
    world.apply_one_resource(body, &["debug"]).await;
    for (generation, debug) in [(1, "off"), (2, "on")] {
        world.apply_params(&[("debug", debug)]).await;
        world.assert_not_live_with("debug", debug).await;
        let stamped = world.wait_stamped(api_version, kind, generation).await;
        world.put(filled(deployment(), debug, &elsewhere)).await;
        world.report_applied(&stamped, &elsewhere, "True").await;
        world.wait_live(generation).await;
        assert_eq!(world.running_with(&elsewhere).await, [debug, debug]);
    }
    world.apply_params(&[("debug", "broken")]).await;
    let stamped = world.wait_stamped(api_version, kind, 3).await;
    world.report_applied(&stamped, &elsewhere, "False").await;
    let says = "says: it does not apply";
    world.wait_missing(3, "param:debug=broken", says).await;
    world.report_applied(&stamped, &elsewhere, "Stalled").await;
    let reason = world.wait_impossible(3, "param:debug=broken").await;
    assert!(reason.contains("it does not apply"), "{reason}");
    namespaces
        .delete(&elsewhere, &DeleteParams::background())
        .await
        .unwrap();
}

/// Returns the Deployment as a controller writes it.
pub(super) fn filled(mut deployment: Value, debug: &str, namespace: &str) -> Value {
    let labels = json!({"app": "app"});
    deployment["metadata"] = json!({"name": "app", "namespace": namespace, "labels": labels});
    deployment["spec"]["selector"]["matchLabels"] = labels.clone();
    let template = &mut deployment["spec"]["template"];
    template["metadata"]["labels"] = labels;
    template["spec"]["containers"][0]["image"] = json!("app:1");
    template["spec"]["containers"][0]["env"][0]["value"] = json!(debug);
    deployment
}

impl World {
    /// Plays Knative: a revision with its Deployment.
    async fn add_revision(&self, configuration: &Value, number: i64, debug: &str) {
        let name = format!("app-{number}");
        let revision = json!({
            "apiVersion": SERVING, "kind": "Revision",
            "metadata": {"name": name, "ownerReferences": controlled_by(configuration)}, "spec": {},
        });
        let revision = self.put(revision).await;
        let mut deployment = filled(deployment(), debug, &self.namespace);
        deployment["metadata"] = json!({"name": name, "ownerReferences": controlled_by(&revision)});
        let labels = json!({"revision": name});
        deployment["spec"]["selector"]["matchLabels"] = labels.clone();
        deployment["spec"]["template"]["metadata"]["labels"] = labels;
        self.put(deployment).await;
    }

    /// Plays Knative: says how a service is at its generation, with the revision of that number.
    async fn report_service(&self, service: &Value, number: i64, ready: &str) {
        let newest = format!("app-{number}");
        let types: TypeMeta = serde_json::from_value(service.clone()).unwrap();
        let status = json!({
            "observedGeneration": service["metadata"]["generation"],
            "latestCreatedRevisionName": newest, "latestReadyRevisionName": newest,
            "traffic": [{"revisionName": newest, "percent": 100}],
            "conditions": [{"type": "Ready", "status": ready, "message": "the revision does not start"}],
        });
        let patch = Patch::Merge(json!({"status": status}));
        let api = self.kind_api(&types, &self.namespace);
        api.patch_status("app", &PatchParams::default(), &patch)
            .await
            .unwrap();
    }

    /// Plays Flux: says whether everything was applied, and what.
    async fn report_applied(&self, stamped: &Value, namespace: &str, ready: &str) {
        let types: TypeMeta = serde_json::from_value(stamped.clone()).unwrap();
        let condition = |kind: &str, status: &str| json!({"type": kind, "status": status, "message": "it does not apply"});
        let conditions = match ready {
            "Stalled" => vec![condition("Ready", "False"), condition("Stalled", "True")],
            ready => vec![condition("Ready", ready)],
        };
        let status = json!({
            "observedGeneration": stamped["metadata"]["generation"],
            "conditions": conditions,
            "inventory": {"entries": [
                {"id": format!("{namespace}_app_apps_Deployment"), "v": "v1"},
                {"id": format!("{namespace}_app__ConfigMap"), "v": "v1"},
            ]},
        });
        let patch = Patch::Merge(json!({"status": status}));
        let api = self.kind_api(&types, &self.namespace);
        api.patch_status("app", &PatchParams::default(), &patch)
            .await
            .unwrap();
    }
}
