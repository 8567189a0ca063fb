//! The ends of `pathline wait`: each exit code and each reason, with what to do next.

use std::fs;

use anyhow::{Context, Result, ensure};
use kube::Api;
use kube::api::{ApiResource, DeleteParams, DynamicObject, GroupVersionKind};
use pathline_testkit::Leash;
use serde_json::Value;

use crate::program::{Ended, Running, run, stdout};
use crate::up::{UP, client};

/// Chains that end in objects without a rollout. What the first one makes is proven; what the
/// second makes is only assumed; the third is never done; the fourth cannot be rendered.
const OBJECTS: &str = "
apiVersion: carto.run/v1alpha1
kind: ClusterTemplate
metadata: {name: proven}
spec:
  params: [{name: debug, default: 'off'}, {name: tier, default: none}]
  healthRule: {alwaysHealthy: {}}
  template:
    apiVersion: v1
    kind: ConfigMap
    metadata: {name: $(workload.metadata.name)$}
    data: {debug: $(params.debug)$, tier: $(params.tier)$}
---
apiVersion: carto.run/v1alpha1
kind: ClusterConfigTemplate
metadata: {name: silent}
spec:
  params: [{name: debug, default: 'off'}]
  configPath: .metadata.uid
  healthRule: {alwaysHealthy: {}}
  template:
    apiVersion: v1
    kind: ConfigMap
    metadata: {name: $(workload.metadata.name)$}
    data: {debug: $(params.debug)$}
---
apiVersion: carto.run/v1alpha1
kind: ClusterConfigTemplate
metadata: {name: endless}
spec:
  params: [{name: debug, default: 'off'}]
  configPath: .data.result
  template:
    apiVersion: v1
    kind: ConfigMap
    metadata: {name: $(workload.metadata.name)$}
    data: {debug: $(params.debug)$}
---
apiVersion: carto.run/v1alpha1
kind: ClusterTemplate
metadata: {name: broken}
spec:
  params: [{name: debug, default: 'off'}]
  template:
    apiVersion: v1
    kind: ConfigMap
    metadata: {name: $(workload.metadata.name)$}
    data: {debug: $(params.debug)$, missing: $(params.missing)$}
";

/// The names of the chains, with the kinds of their templates.
const CHAINS: [(&str, &str); 4] = [
    ("proven", "ClusterTemplate"),
    ("silent", "ClusterConfigTemplate"),
    ("endless", "ClusterConfigTemplate"),
    ("broken", "ClusterTemplate"),
];

fn chain((name, kind): (&str, &str)) -> String {
    format!(
        "---
apiVersion: carto.run/v1alpha1
kind: ClusterSupplyChain
metadata: {{name: {name}}}
spec:
  selector: {{path: {name}}}
  params: [{{name: tier, value: gold}}]
  resources: [{{name: make, templateRef: {{kind: {kind}, name: {name}}}}}]
"
    )
}

/// A workload of a chain that is called like it.
fn workload(path: &str) -> String {
    format!(
        "---
apiVersion: carto.run/v1alpha1
kind: Workload
metadata: {{name: {path}, namespace: default, labels: {{path: {path}}}}}
spec: {{params: [{{name: debug, value: 'on'}}]}}
"
    )
}

/// `pathline up` with one workload for each chain, and one that no chain selects.
struct Scene {
    _up: Running,
    ready: Value,
    data_dir: String,
}

impl Scene {
    fn start() -> Result<Self> {
        let leash = Leash::new("pathline-endings-")?;
        let home = leash.directory().canonicalize()?;
        let chains = CHAINS.map(chain).concat();
        let workloads = CHAINS.map(|(name, _)| workload(name)).concat();
        let all = [OBJECTS, &chains, &workloads, &workload("nowhere")].concat();
        fs::write(home.join("objects.yaml"), all)?;
        let mut up = Running::start_in(leash, &UP);
        let ready = up.json();
        let data_dir = home.join(".pathline");
        let scene = Self {
            _up: up,
            ready,
            data_dir: data_dir.to_str().context("a path")?.to_owned(),
        };
        let objects = home.join("objects.yaml");
        let objects = objects.to_str().context("a path")?;
        let applied = scene.ask(&["apply", "-f", objects]).wait();
        ensure!(applied.code == Some(0), "{}", applied.stderr);
        Ok(scene)
    }

    fn ask(&self, arguments: &[&str]) -> Running {
        Running::start(&[arguments, &["--data-dir", &self.data_dir]].concat())
    }

    fn wait(&self, owner: &str, arguments: &[&str]) -> Ended {
        self.ask(&[&["wait", owner], arguments].concat()).wait()
    }

    #[track_caller]
    fn assert_ends(&self, owner: &str, arguments: &[&str], code: i32, parts: &[&str]) {
        let ended = self.wait(owner, arguments);
        let told = ended.stderr;
        assert_eq!(ended.code, Some(code), "{owner} {arguments:?}: {told}");
        for part in parts {
            assert!(
                told.contains(part),
                "{owner} {arguments:?}: no {part:?} in\n{told}"
            );
        }
    }
}

#[tokio::test]
async fn every_ending_has_its_exit_code_and_says_what_to_do_next() -> Result<()> {
    let scene = Scene::start()?;
    what_has_arrived_ends_with_0(&scene);
    what_cannot_happen_ends_with_1_and_what_to_do_next(&scene);
    question_that_is_too_long_ends_with_2(&scene);
    want_of_proof_ends_with_3_and_the_template_to_mend(&scene);
    what_takes_too_long_ends_with_124_and_where_it_is(&scene);
    owner_that_is_deleted_ends_the_wait_with_1(&scene).await
}

fn what_has_arrived_ends_with_0(scene: &Scene) {
    scene.assert_ends("workload/proven", &["--for", "param:debug=on"], 0, &[]);
    scene.assert_ends("workload/proven", &["--for", "current"], 0, &[]);
    let accepting = ["--for", "param:debug=on", "--accept-assumed"];
    scene.assert_ends("workload/silent", &accepting, 0, &[]);
}

fn what_cannot_happen_ends_with_1_and_what_to_do_next(scene: &Scene) {
    let ends = |owner: &str, wait_for: &str, parts: &[&str]| {
        scene.assert_ends(owner, &["--for", wait_for], 1, parts);
    };
    let unused = [
        "nothing on the path reads param:colour",
        "check its spelling",
    ];
    ends("workload/proven", "param:colour=red", &unused);
    let fixed = [
        "fixes param `tier` to `gold`",
        "change the blueprint, or wait without it",
    ];
    ends("workload/proven", "param:tier=silver", &fixed);
    let absent = ["finds or makes a source", "wait for a param or a field"];
    ends("workload/proven", "source=0123456", &absent);
    let failed = [
        "resource `make` failed: ",
        "missing",
        "mend that and wait again",
    ];
    ends("workload/broken", "param:debug=on", &failed);
}

fn question_that_is_too_long_ends_with_2(scene: &Scene) {
    let long = format!("param:debug={}", "x".repeat(66_000));
    let told = ["at most 65000 can be asked", "`--for current`"];
    scene.assert_ends("workload/proven", &["--for", &long], 2, &told);
}

fn want_of_proof_ends_with_3_and_the_template_to_mend(scene: &Scene) {
    let assumed = [
        "make (ClusterConfigTemplate/silent): nothing proves",
        "declare artifactTracing.observedGenerationPath",
        "hint: `--accept-assumed`",
    ];
    scene.assert_ends("workload/silent", &["--for", "param:debug=on"], 3, &assumed);
    let no_rollout = [
        "make (ClusterTemplate/proven): nothing below its object is known to run",
        "declare artifactTracing.liveSelector, or wait without --live",
        "hint: mend what is named",
    ];
    let live = ["--for", "param:debug=on", "--live"];
    scene.assert_ends("workload/proven", &live, 3, &no_rollout);
}

fn what_takes_too_long_ends_with_124_and_where_it_is(scene: &Scene) {
    let late = [
        "after 2s it has not happened yet",
        "param:debug=on  not seen yet; `make`",
        "`pathline lineage workload/endless -n default` shows more",
    ];
    let arguments = ["--for", "param:debug=on", "--timeout", "2s"];
    scene.assert_ends("workload/endless", &arguments, 124, &late);
    // Without any time it says how it is.
    let at_once = ["--for", "param:debug=on", "--timeout", "0s"];
    scene.assert_ends("workload/endless", &at_once, 124, &[]);
    scene.assert_ends("workload/proven", &at_once, 0, &[]);
    let lost = [
        "no path has been chosen yet; the owner can't go on: no supply chain found",
        "wait again, or longer with `--timeout`; `pathline lineage workload/nowhere -n default` shows more",
    ];
    scene.assert_ends("workload/nowhere", &arguments, 124, &lost);
    let lineage = ["lineage", "workload/nowhere", "--data-dir", &scene.data_dir];
    let told = stdout(&run(&lineage));
    for part in [
        "SupplyChainNotFound  no supply chain found where full selector is satisfied by labels",
        "the nearest is ClusterSupplyChain/broken: label `path` is `nowhere`, `broken` is wanted",
    ] {
        assert!(told.contains(part), "{part} is not in\n{told}");
    }
    let nobody = [
        "there is no workload `nobody` in namespace `default` yet; waiting for it",
        "wait again, or longer with `--timeout`; check the name and the namespace (`-n`)",
    ];
    scene.assert_ends("workload/nobody", &arguments, 124, &nobody);
}

async fn owner_that_is_deleted_ends_the_wait_with_1(scene: &Scene) -> Result<()> {
    let mut waiting = scene.ask(&["wait", "workload/endless", "--for", "param:debug=on"]);
    waiting.wait_for_stderr("`make`");
    let gvk = GroupVersionKind::gvk("carto.run", "v1alpha1", "Workload");
    let kind = ApiResource::from_gvk(&gvk);
    let client = client(&scene.ready).await;
    let workloads = Api::<DynamicObject>::namespaced_with(client, "default", &kind);
    workloads
        .delete("endless", &DeleteParams::default())
        .await?;
    let Ended { code, stderr, .. } = waiting.wait();
    assert_eq!(code, Some(1), "{stderr}");
    let told = "the workload default/endless was deleted; apply it again and wait again";
    assert!(stderr.contains(told), "{stderr}");
    Ok(())
}
