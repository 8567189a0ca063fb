//! A Pathline whose steps are objects that the test is the controller of.

use std::fs;
use std::path::PathBuf;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::Client;
use kube::api::{Api, DeleteParams, Patch, PatchParams};
use kube::runtime::wait::{await_condition, conditions};
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::program::Running;
use crate::story::objects::{await_object, objects, text};
use crate::up::{UP, client, start};

/// The kind of each step.
pub(crate) const STEP: (&str, &str) = ("played.example.org/v1", "Step");

/// `pathline up`, and the test as the controller of steps.
pub(super) struct Played {
    up: Running,
    pub(super) client: Client,
}

impl Played {
    pub(super) async fn start() -> Self {
        let (up, ready) = start();
        let client = client(&ready).await;
        let world = Self { up, client };
        define_steps(&world.client, &json!({})).await;
        world
    }

    /// Applies manifests, without waiting.
    pub(super) async fn apply(&self, manifests: &str) {
        let applied = self.apply_with(manifests, &[]).wait();
        assert_eq!(applied.code, Some(0), "{}", applied.stderr);
    }

    /// Begins to apply manifests, with more arguments.
    pub(super) fn apply_with(&self, manifests: &str, arguments: &[&str]) -> Running {
        let file = self.up.directory().join("manifests.yaml");
        fs::write(&file, manifests).unwrap();
        self.ask("apply", &[&["-f", &text(&file)], arguments].concat())
    }

    /// Begins to wait for the workload.
    pub(super) fn wait(&self, arguments: &[&str]) -> Running {
        self.ask("wait", &[&["workload/app"], arguments].concat())
    }

    /// Begins to wait for any owner.
    pub(super) fn wait_for(&self, owner: &str, arguments: &[&str]) -> Running {
        self.ask("wait", &[&[owner], arguments].concat())
    }

    /// Waits until the status says of an input that it has not arrived.
    pub(super) async fn not_arrived(&self, kind: &str, input: &str) {
        let is_told = |it: &Value| {
            let inputs = it["status"]["inputs"].as_array();
            let mut inputs = inputs.into_iter().flatten();
            inputs.any(|it| it["name"] == input && it["arrived"] == false)
        };
        await_object(&self.client, ("carto.run/v1alpha1", kind), "app", is_told).await;
    }

    pub(super) fn kubeconfig(&self) -> PathBuf {
        self.up.directory().join(".pathline/kubeconfig")
    }

    /// Stops Pathline and starts it again on the same directory.
    pub(super) async fn restart(self) -> Self {
        self.up.signal(Signal::TERM);
        let ended = self.up.wait();
        assert_eq!(ended.code, Some(0), "{}", ended.stderr);
        let mut up = Running::start_in(ended.leash, &UP);
        let client = client(&up.json()).await;
        Self { up, client }
    }

    pub(super) fn ask(&self, command: &str, arguments: &[&str]) -> Running {
        let data_dir = text(&self.up.directory().join(".pathline"));
        Running::start(&[&[command, "--data-dir", &data_dir], arguments].concat())
    }

    /// Lets a step report a state, once it has a generation.
    pub(super) async fn play(&self, name: &str, generation: i64, status: Value) {
        self.stamped(name, generation).await;
        let patch = Patch::Merge(json!({ "status": status }));
        let steps = objects(&self.client, STEP);
        let params = PatchParams::default();
        steps.patch_status(name, &params, &patch).await.unwrap();
    }

    /// Waits until a step has been stamped with a generation.
    pub(super) async fn stamped(&self, name: &str, generation: i64) {
        let is_there = |it: &Value| it["metadata"]["generation"] == generation;
        await_object(&self.client, STEP, name, is_there).await;
    }

    /// Waits until the image of a letter has got to the end of the chain.
    pub(super) async fn deployed(&self, letter: &str) {
        let image = format!("app@sha256:{}", letter.repeat(64));
        let is_there = |it: &Value| it["data"]["image"] == image.as_str();
        await_object(&self.client, ("v1", "ConfigMap"), "deployed", is_there).await;
    }

    /// Waits until the workload is as wanted.
    pub(super) async fn owner(&self, is_wanted: impl Fn(&Value) -> bool) {
        let kind = ("carto.run/v1alpha1", "Workload");
        await_object(&self.client, kind, "app", is_wanted).await;
    }

    /// Deletes a step.
    pub(super) async fn delete(&self, name: &str) {
        let steps = objects(&self.client, STEP);
        steps.delete(name, &DeleteParams::default()).await.unwrap();
    }

    /// Lets the cluster take no more steps.
    pub(super) async fn refuse_steps(&self) {
        define_steps(&self.client, &json!(["impossible"])).await;
    }

    /// Stops Pathline.
    pub(super) fn stop(self) {
        self.up.signal(Signal::TERM);
        assert_eq!(self.up.wait().code, Some(0));
    }
}

/// Lets a cluster take steps, which need these fields of the spec.
pub(crate) async fn define_steps(client: &Client, required: &Value) {
    let mut spec = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    if required.is_array() {
        spec["required"] = required.clone();
    }
    let open = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    let definition = json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "steps.played.example.org"},
        "spec": {
            "group": "played.example.org", "scope": "Namespaced",
            "names": {"kind": "Step", "plural": "steps", "singular": "step"},
            "versions": [{
                "name": "v1", "served": true, "storage": true, "subresources": {"status": {}},
                "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": spec, "status": open}}},
            }],
        },
    });
    let api: Api<CustomResourceDefinition> = Api::all(client.clone());
    let name = "steps.played.example.org";
    let params = PatchParams::apply("played").force();
    api.patch(name, &params, &Patch::Apply(definition))
        .await
        .unwrap();
    let is_served = conditions::is_crd_established();
    await_condition(api, name, is_served).await.unwrap();
}
