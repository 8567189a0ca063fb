//! Whether what owners lead to runs.

#![expect(
    clippy::unwrap_used,
    reason = "a story that cannot go on stops where it is"
)]

mod across_git;
mod applied;
mod configs;
mod former;
mod images;
mod many_pods;
mod revisions;
mod rollouts;
mod runs;
mod selected;

use std::time::Duration;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::Api;
use kube::api::{ApiResource, DynamicObject, Patch, PatchParams};
use kube::core::{GroupVersionKind, TypeMeta};
use pathline_lineage::wait::{Impossible, Options as Enough, Verdict, Waiter};
use pathline_testkit::kube::{Binaries, Kubelets, Options, RealCluster};
use pathline_workers::Kinds;
use serde_json::{Value, json};

use crate::world::{World, test_kind};

/// The time-out of waits that take seconds; a loaded machine gets all the time it needs.
const WAIT_TIMEOUT: Duration = Duration::from_secs(120);

/// Runs each story on one real cluster, whose pods run on a stand-in for kubelets.
macro_rules! on_a_real_cluster {
    ($($module:ident::$story:ident),* $(,)?) => {
        #[tokio::test]
        async fn rollouts_hold_on_a_real_api_server() {
            let Some(cluster) = real_cluster().await else { return };
            let kubelets = Kubelets::start(cluster.client().await.unwrap()).await.unwrap();
            $({
                println!("story: {}", stringify!($story));
                let mut world = Box::pin(World::on(cluster.kubeconfig())).await;
                // All stories of one test would be too much for a stack.
                Box::pin($module::$story(&mut world, &kubelets)).await;
                world.end().await;
            })*
            drop(kubelets);
            Box::pin(rollouts::answer_comes_although_the_api_server_is_killed_meanwhile(&cluster)).await;
        }
    };
}

on_a_real_cluster![
    rollouts::deployment_is_live_when_only_new_pods_run_and_fails_when_they_crash,
    rollouts::pod_that_is_still_being_deleted_keeps_the_new_ones_from_being_live,
    rollouts::nothing_is_live_at_scale_zero_or_after_its_deadline,
    former::point_3_pods_of_a_former_deployment_keep_the_new_one_from_being_live,
    former::point_3_former_deployment_with_a_finalizer_keeps_the_new_one_from_being_live,
    revisions::stateful_set_is_live_after_its_last_pod_and_not_before,
    revisions::daemon_set_is_live_after_its_last_pod_and_not_before,
    revisions::daemon_set_is_not_live_by_old_pods_that_are_seen_late,
    images::tag_proves_nothing_and_a_digest_does,
    applied::knative_service_is_live_when_the_pods_of_its_newest_revision_are_alone,
    applied::kustomization_is_live_when_what_it_applied_elsewhere_runs,
    applied::helm_release_is_live_when_what_it_applied_elsewhere_runs,
    selected::deployment_that_a_template_selects_tells_whether_it_runs,
    selected::pods_that_a_template_selects_tell_whether_it_runs,
    runs::job_that_a_final_runnable_runs_is_its_rollout,
    runs::job_that_gives_up_fails_with_its_own_reason,
    runs::immutable_run_at_the_end_of_a_path_is_its_rollout,
    across_git::point_16_lineage_crosses_git_on_a_cluster,
    configs::point_17_pods_that_started_before_their_config_changed_are_not_live,
    configs::point_17_pods_that_carry_the_hash_of_their_config_are_live,
    configs::point_17_files_that_are_kept_up_to_date_need_no_restart,
];

#[tokio::test]
async fn process_is_live_when_it_runs_with_what_the_owner_says_and_fails_when_it_crashes() {
    let mut world = World::embedded().await;
    world.stop_engine().await;
    world.start_engine_with(|options| options.workers = Some(Kinds::all()));
    let process = json!({
        "apiVersion": "pathline.dev/v1alpha1",
        "kind": "Process",
        "metadata": {"name": "$(workload.metadata.name)$"},
        "spec": {"command": ["sh", "-c", "$(params.command)$"]},
    });
    world.apply_one_resource(process, &["command"]).await;
    world.apply_params(&[("command", &runs("one"))]).await;
    world.wait_live(1).await;

    world.replace_and_crash().await;

    world.apply_params(&[("command", &runs("one"))]).await;
    world.wait_live(4).await;
    world.end().await;
}

/// Starts a real cluster with the controllers of pods and the kinds that stories use.
async fn real_cluster() -> Option<RealCluster> {
    let suite = "rollouts on a real API server";
    let binaries = match Binaries::find() {
        Ok(binaries) => binaries,
        Err(missing) => {
            pathline_testkit::skip(suite, &missing.to_string());
            return None;
        }
    };
    let mut definitions = pathline_engine::crds::all();
    definitions.push(test_kind("Test", "tests"));
    definitions.extend(foreign_kinds());
    let options = Options {
        definitions,
        ..Options::with_pods()
    };
    Some(RealCluster::start(&binaries, options).await.unwrap())
}

/// The kinds of Knative and Flux, as far as stories use them.
fn foreign_kinds() -> Vec<CustomResourceDefinition> {
    let serving = "serving.knative.dev";
    let kinds = [
        (serving, "Service", "services"),
        (serving, "Configuration", "configurations"),
        (serving, "Revision", "revisions"),
        (
            "kustomize.toolkit.fluxcd.io",
            "Kustomization",
            "kustomizations",
        ),
        ("helm.toolkit.fluxcd.io", "HelmRelease", "helmreleases"),
    ];
    kinds
        .into_iter()
        .map(|(group, kind, plural)| {
            let mut definition = test_kind(kind, plural);
            definition.metadata.name = Some(format!("{plural}.{group}"));
            definition.spec.group = group.to_owned();
            definition
        })
        .collect()
}

/// Returns a Deployment of one container.
fn deployment() -> Value {
    let labels = json!({"app": "$(workload.metadata.name)$"});
    let container = json!({
        "name": "app",
        "image": "$(params.image)$",
        "env": [{"name": "DEBUG", "value": "$(params.debug)$"}],
    });
    json!({
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "$(workload.metadata.name)$"},
        "spec": {
            "replicas": 2,
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": {"containers": [container]}},
        },
    })
}

/// Returns a command that runs on, and differs from others by its mark.
fn runs(mark: &str) -> String {
    format!("echo {mark}; exec sleep 1000")
}

/// Says by whom an object is controlled.
fn controlled_by(owner: &Value) -> Value {
    let metadata = &owner["metadata"];
    json!([{
        "apiVersion": owner["apiVersion"], "kind": owner["kind"], "name": metadata["name"],
        "uid": metadata["uid"], "controller": true,
    }])
}

impl World {
    /// Makes a supply chain with one resource, whose template reads params of the workload.
    async fn apply_one_resource(&self, body: Value, params: &[&str]) {
        let params: Vec<_> = params
            .iter()
            .map(|name| json!({"name": name, "default": ""}))
            .collect();
        self.apply_template(json!({"template": body, "params": params}))
            .await;
    }

    /// Makes a supply chain with one resource of this template.
    async fn apply_template(&self, template: Value) {
        self.apply_spec("ClusterTemplate", "run", template).await;
        let resource =
            json!({"name": "run", "templateRef": {"kind": "ClusterTemplate", "name": "run"}});
        self.apply_chain("run", json!([resource])).await;
    }

    /// Lets the workload have these params.
    async fn apply_params(&self, params: &[(&str, &str)]) {
        let params: Vec<_> = params
            .iter()
            .map(|(name, value)| json!({"name": name, "value": value}))
            .collect();
        self.apply_workload("app", json!({ "params": params }))
            .await;
    }

    /// Lets the workload, which has one generation, run another command, and then one that crashes.
    async fn replace_and_crash(&self) {
        let two = runs("two");
        self.apply_params(&[("command", &two)]).await;
        self.assert_not_live_with("command", &two).await;
        self.wait_live(2).await;

        let crashes = "echo there is no config; exit 3";
        self.apply_params(&[("command", crashes)]).await;
        let wait_for = format!("param:command={crashes}");
        let reason = self.wait_impossible(3, &wait_for).await;
        assert!(reason.contains("there is no config"), "{reason}");
    }

    /// Waits until a generation of the workload is live, and all of it at that time.
    async fn wait_live(&self, generation: i64) {
        let is_live = |owner: &Value| owner["status"]["liveGeneration"] == generation;
        let what = format!("with generation {generation} live");
        let owner = self.wait_for("Workload", "app", &what, is_live).await;
        assert_eq!(owner["status"]["live"], "True", "{owner:#}");
        let inputs = owner["status"]["inputs"].as_array().unwrap();
        assert!(inputs.iter().all(|it| it["live"] == "True"), "{owner:#}");
    }

    /// Asserts that the report which first names a value does not say that it is live.
    async fn assert_not_live_with(&self, param: &str, value: &str) {
        let name = format!("param:{param}");
        let names = |owner: &Value| {
            let inputs = owner["status"]["inputs"].as_array().into_iter().flatten();
            let mut inputs = inputs.filter(|it| it["name"] == name.as_str());
            inputs.any(|it| it["value"] == value)
        };
        let owner = self
            .wait_for("Workload", "app", "with the new value", names)
            .await;
        assert_eq!(owner["status"]["live"], "False", "{owner:#}");
    }

    /// Waits as whoever waits for a change does, until it can't happen any more; returns why.
    async fn wait_impossible(&self, generation: i64, wait_for: &str) -> String {
        self.wait_verdict(generation, wait_for, |verdict| match verdict {
            Verdict::Impossible(Impossible::Failed { message, .. }) => Some(message),
            Verdict::Waiting(_) => None,
            other => panic!("{other:?} in the place of a failure"),
        })
        .await
    }

    /// Waits until whoever waits for a change is told that this is missing.
    async fn wait_missing(&self, generation: i64, wait_for: &str, text: &str) {
        self.wait_verdict(generation, wait_for, |verdict| match verdict {
            Verdict::Waiting(progress) => {
                let mut missing = progress.iter().flat_map(|it| &it.missing);
                missing.any(|it| it.contains(text)).then_some(())
            }
            other => panic!("{other:?} in the place of `{text}`"),
        })
        .await;
    }

    async fn wait_verdict<T>(
        &self,
        generation: i64,
        wait_for: &str,
        is_it: impl Fn(Verdict) -> Option<T>,
    ) -> T {
        let enough = Enough {
            live: true,
            since_generation: Some(generation),
            ..Enough::default()
        };
        let mut waiter = Waiter::new(vec![wait_for.parse().unwrap()], enough);
        let is_known = |owner: &Value| owner["status"]["inputs"].is_array();
        self.wait_for("Workload", "app", "that is known", is_known)
            .await;
        let owner = self
            .ledger
            .lineage()
            .find_owner("Workload", &self.namespace, "app")
            .await;
        let mut lineages = self
            .ledger
            .lineage()
            .follow(&owner.unwrap().unwrap().uid)
            .await
            .unwrap();
        let waiting = async {
            loop {
                let lineage = lineages.borrow_and_update().clone();
                let found = lineage.and_then(|lineage| is_it(waiter.judge(&lineage)));
                match found {
                    Some(found) => return found,
                    None => lineages.changed().await.unwrap(),
                }
            }
        };
        let told = tokio::time::timeout(WAIT_TIMEOUT, waiting).await;
        told.unwrap_or_else(|_| panic!("waited in vain for another answer to {wait_for}"))
    }

    /// Returns the API of a kind in a namespace.
    fn kind_api(&self, types: &TypeMeta, namespace: &str) -> Api<DynamicObject> {
        let gvk = GroupVersionKind::try_from(types).unwrap();
        Api::namespaced_with(self.client.clone(), namespace, &ApiResource::from_gvk(&gvk))
    }

    /// Plays a controller: writes an object, and its status if it has one. Returns the object.
    async fn put(&self, mut object: Value) -> Value {
        let types: TypeMeta = serde_json::from_value(object.clone()).unwrap();
        let namespace = object["metadata"]["namespace"].as_str();
        let api = self.kind_api(&types, namespace.unwrap_or(&self.namespace));
        let name = object["metadata"]["name"].as_str().unwrap().to_owned();
        let status = object.as_object_mut().unwrap().remove("status");
        let params = PatchParams::apply("a-controller").force();
        let mut written = api
            .patch(&name, &params, &Patch::Apply(&object))
            .await
            .unwrap();
        if let Some(status) = status {
            let patch = Patch::Merge(json!({"status": status}));
            let params = PatchParams::default();
            written = api.patch_status(&name, &params, &patch).await.unwrap();
        }
        written.types = Some(types);
        serde_json::to_value(written).unwrap()
    }

    /// Plays a controller: waits for an object at a generation and returns it.
    async fn wait_stamped(&self, api_version: &str, kind: &str, generation: i64) -> Value {
        let types = TypeMeta {
            api_version: api_version.to_owned(),
            kind: kind.to_owned(),
        };
        let api = self.kind_api(&types, &self.namespace);
        let is_there = |object: Option<&DynamicObject>| {
            object.is_some_and(|it| it.metadata.generation == Some(generation))
        };
        let waiting = kube::runtime::wait::await_condition(api, "app", is_there);
        let found = tokio::time::timeout(WAIT_TIMEOUT, waiting).await;
        let found = found.unwrap_or_else(|_| panic!("waited in vain for a {kind} {generation}"));
        let mut found = found.unwrap().unwrap();
        found.types = Some(types);
        serde_json::to_value(found).unwrap()
    }

    /// Returns what the containers of all pods in a namespace have as `DEBUG`, also of those that go.
    async fn running_with(&self, namespace: &str) -> Vec<String> {
        let pods = self.kind_api(
            &TypeMeta {
                api_version: "v1".into(),
                kind: "Pod".into(),
            },
            namespace,
        );
        let pods = pods.list(&Default::default()).await.unwrap();
        let debug = |pod: DynamicObject| {
            let env = &pod.data["spec"]["containers"][0]["env"][0];
            env["value"].as_str().unwrap_or_default().to_owned()
        };
        pods.items.into_iter().map(debug).collect()
    }
}
