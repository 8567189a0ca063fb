//! `apply --wait` waits for the values that it applied, whatever colleagues apply meanwhile.

#![expect(
    clippy::unwrap_used,
    reason = "a story that cannot go on stops where it is"
)]

use std::fs;
use std::path::Path;

use anyhow::Result;
use kube::Api;
use kube::api::{Patch, PatchParams};
use pathline_kinds::carto::Workload;
use serde_json::{Value, json};

use crate::instance::{Instance, document, end};
use crate::program::Running;

/// A task that waits for a file that is called like its input, and a process that runs with it.
const CHAIN: &str = r#"
apiVersion: carto.run/v1alpha1
kind: ClusterConfigTemplate
metadata: {name: settings}
spec:
  params: [{name: debug, default: 'off'}]
  configPath: .status.outputs.settings
  healthRule: {singleConditionType: Succeeded}
  template:
    apiVersion: pathline.dev/v1alpha1
    kind: Task
    metadata: {name: $(workload.metadata.name)$}
    spec:
      env: [{name: DEBUG, value: $(params.debug)$}]
      command: [sh, -c, 'until [ -e "GATES/$DEBUG" ]; do sleep 0.1; done; echo "$DEBUG" > settings']
      outputs: [{name: settings, file: settings}]
---
apiVersion: carto.run/v1alpha1
kind: ClusterTemplate
metadata: {name: run}
spec:
  params: [{name: tier, default: none}]
  healthRule: {singleConditionType: Ready}
  template:
    apiVersion: pathline.dev/v1alpha1
    kind: Process
    metadata: {name: $(workload.metadata.name)$}
    spec:
      env:
        - {name: DEBUG, value: $(config)$}
        - {name: TIER, value: $(params.tier)$}
      command: [sleep, '100000']
---
apiVersion: carto.run/v1alpha1
kind: ClusterSupplyChain
metadata: {name: gated}
spec:
  selector: {path: gated}
  resources:
    - name: settings
      templateRef: {kind: ClusterConfigTemplate, name: settings}
    - name: run
      templateRef: {kind: ClusterTemplate, name: run}
      configs: [{resource: settings, name: config}]
"#;

struct Scene {
    instance: Instance,
    gates: String,
}

impl Scene {
    fn start() -> Result<Self> {
        let instance = Instance::start()?;
        let gates = Path::new(&instance.data_dir).with_file_name("gates");
        fs::create_dir(&gates)?;
        let gates = gates.to_str().unwrap().to_owned();
        instance.apply(&CHAIN.replace("GATES", &gates))?;
        Ok(Self { instance, gates })
    }

    fn open(&self, debug: &str) {
        fs::write(format!("{}/{debug}", self.gates), "").unwrap();
    }

    fn close(&self, debug: &str) {
        fs::remove_file(format!("{}/{debug}", self.gates)).unwrap();
    }

    /// Applies params, and waits; returns when they are applied.
    fn apply(&self, name: &str, params: &Value, arguments: &[&str]) -> Result<Running> {
        let workload = json!({
            "apiVersion": "carto.run/v1alpha1", "kind": "Workload",
            "metadata": {"name": name, "namespace": "default", "labels": {"path": "gated"}},
            "spec": {"params": params},
        });
        let file = self
            .instance
            .file(&format!("{name}.yaml"), &workload.to_string())?;
        let apply = ["apply", "--force-conflicts", "-f", &file, "--wait"];
        Ok(self.instance.ask(&[&apply[..], arguments].concat()))
    }

    /// Applies params as somebody else.
    async fn colleague(&self, name: &str, params: &Value) {
        let workload = json!({
            "apiVersion": "carto.run/v1alpha1", "kind": "Workload",
            "metadata": {"name": name}, "spec": {"params": params},
        });
        let api = Api::<Workload>::namespaced(self.instance.client().await, "default");
        let force = PatchParams::apply("colleague").force();
        let patched = api.patch(name, &force, &Patch::Apply(&workload)).await;
        patched.unwrap();
    }

    /// Returns what the process of a workload runs with.
    async fn running(&self, name: &str) -> Value {
        let types = kube::api::GroupVersionKind::gvk("pathline.dev", "v1alpha1", "Process");
        let types = kube::api::ApiResource::from_gvk(&types);
        let client = self.instance.client().await;
        let api = Api::<kube::api::DynamicObject>::namespaced_with(client, "default", &types);
        api.get(name).await.unwrap().data["spec"]["env"].clone()
    }
}

fn debug(value: &str) -> Value {
    json!([{"name": "debug", "value": value}])
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn point_9_a_value_that_a_colleague_replaced_is_superseded_with_who_and_what() -> Result<()> {
    let scene = Scene::start()?;
    scene.open("other");
    // The first never gets through its gate, so it must never be said to run.
    for round in 0..5 {
        let name = format!("app-{round}");
        let mut first = scene.apply(&name, &debug("on"), &[])?;
        assert_eq!(
            first.line(),
            format!("Workload/{name} applied in default\n")
        );
        if round % 2 == 1 {
            first.wait_for_stderr("param:debug");
        }
        scene.colleague(&name, &debug("other")).await;
        let (code, _, stderr) = end(first);
        assert_eq!(code, Some(1), "{stderr}");
        for part in ["superseded", "`other`", "`colleague`"] {
            assert!(stderr.contains(part), "no {part} in {stderr}");
        }
    }
    let mut first = scene.apply("data", &debug("on"), &["-o", "json"])?;
    first.wait_for_stderr("param:debug");
    scene.colleague("data", &debug("other")).await;
    let (code, out, stderr) = end(first);
    assert_eq!(code, Some(1), "{stderr}");
    let impossible = document(&out)["waited"][0]["impossible"].clone();
    assert_eq!(impossible["reason"], "superseded");
    assert_eq!(impossible["input"], "param:debug");
    assert_eq!(impossible["by"]["manager"], "colleague");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn point_9_apply_that_comes_later_waits_for_its_own_values() -> Result<()> {
    let scene = Scene::start()?;
    scene.open("other");
    let (code, _, stderr) = end(scene.apply("app", &debug("other"), &[])?);
    assert_eq!(code, Some(0), "{stderr}");
    scene.colleague("app", &debug("third")).await;
    let mut last = scene.apply("app", &debug("on"), &[])?;
    last.line();
    last.wait_for_stderr("param:debug");
    last.assert_running();
    scene.open("on");
    let (code, _, stderr) = end(last);
    assert_eq!(code, Some(0), "{stderr}");
    assert_eq!(scene.running("app").await[0]["value"], "on");

    // What it removes is waited for as well: the default counts again.
    scene.close("on");
    let mut removing = scene.apply("app", &json!([]), &[])?;
    removing.line();
    removing.wait_for_stderr("param:debug");
    removing.assert_running();
    scene.open("off");
    let (code, _, stderr) = end(removing);
    assert_eq!(code, Some(0), "{stderr}");
    assert_eq!(scene.running("app").await[0]["value"], "off");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn point_9_what_a_colleague_changes_besides_does_not_supersede() -> Result<()> {
    let scene = Scene::start()?;
    let both = |debug: &str, tier: &str| json!([{"name": "debug", "value": debug}, {"name": "tier", "value": tier}, {"name": "unread", "value": 1}]);
    let mut first = scene.apply("app", &debug("on"), &[])?;
    first.line();
    scene.colleague("app", &both("on", "gold")).await;
    scene.open("on");
    let (code, _, stderr) = end(first);
    assert_eq!(code, Some(0), "{stderr}");

    // What nothing reads is a note; and what cannot come true ends it.
    let (code, _, stderr) = end(scene.apply("app", &both("on", "gold"), &[])?);
    assert_eq!(code, Some(0), "{stderr}");
    assert!(
        stderr.contains("nothing on the path reads param:unread"),
        "{stderr}"
    );
    let wait_for = ["--for", "param:colour=red"];
    let (code, _, stderr) = end(scene.apply("app", &both("on", "gold"), &wait_for)?);
    assert_eq!(code, Some(1), "{stderr}");
    Ok(())
}
