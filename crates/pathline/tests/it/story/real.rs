//! The story on a real API server with its controllers and a stand-in for nodes; the steps are objects
//! whose controller is the test.

#![expect(
    clippy::unwrap_used,
    reason = "a story that cannot go on stops where it is"
)]

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

use k8s_openapi::api::core::v1::Pod;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{ListParams, Patch, PatchParams};
use kube::{Api, Client};
use pathline_testkit::kube::{Binaries, Crash, Kubelets, Options, RealCluster};
use pathline_testkit::{Leash, skip};
use rustix::process::Signal;
use serde_json::{Value, json};

use super::Version;
use super::objects::{await_object, objects, text};
use super::version::CHAIN;
use crate::program::{Ended, Running};

const SUITE: &str = "the story of the seed on a real API server";

/// The kind of each step.
const STEP: (&str, &str) = ("story.example.org/v1", "Step");

/// A template whose objects say what they have done, and for which generation.
const STEP_TEMPLATE: &str = "
---
apiVersion: carto.run/v1alpha1
kind: KIND
metadata: {name: story-STEP}
spec:
  PATHS
  artifactTracing: {observedGenerationPath: .status.observedGeneration}
  healthRule: {singleConditionType: Ready}
  template:
    apiVersion: story.example.org/v1
    kind: Step
    metadata: {name: app-STEP}
    spec: {input: INPUT}
";

const RUN: &str = "
---
apiVersion: carto.run/v1alpha1
kind: ClusterTemplate
metadata: {name: story-run}
spec:
  template:
    apiVersion: apps/v1
    kind: Deployment
    metadata: {name: app}
    spec:
      replicas: 2
      selector: {matchLabels: {app: app}}
      template:
        metadata:
          labels: {app: app}
          annotations: {tested: $(source.revision)$}
        spec:
          containers:
            - name: app
              image: $(image)$
              ports: [{containerPort: 8080}]
              env: [{name: DEBUG, value: $(config)$}]
";

/// `pathline controller` on a real API server, and what the test has in its hands.
pub(super) struct Real {
    cluster: RealCluster,
    client: Client,
    kubelets: Kubelets,
    controller: Option<Running>,
    url: String,
    pub(super) home: PathBuf,
    kubectl: PathBuf,
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn wait_ends_when_exactly_what_was_asked_runs_on_a_real_api_server() {
    let binaries = match Binaries::find() {
        Ok(binaries) => binaries,
        Err(missing) => return skip(SUITE, &missing.to_string()),
    };
    let mut world = Box::pin(Real::start(&binaries)).await;
    Box::pin(super::tell(&mut world)).await;
    world.assert_live_for_kubectl();
    world.stop();
}

impl Real {
    pub(super) async fn start(binaries: &Binaries) -> Self {
        let options = Options {
            definitions: vec![step_kind()],
            allow_everything: true,
            ..Options::with_pods()
        };
        let cluster = RealCluster::start(binaries, options).await.unwrap();
        let client = cluster.client().await.unwrap();
        let kubelets = Kubelets::start(client.clone()).await.unwrap();
        let leash = Leash::new("pathline-story-").unwrap();
        let home = leash.directory().canonicalize().unwrap();
        let (controller, url) = start_controller(leash, &cluster, "127.0.0.1:0");
        let world = Self {
            cluster,
            client,
            kubelets,
            controller: Some(controller),
            url,
            home,
            kubectl: binaries.program("kubectl"),
        };
        let chain = world.home.join("chain.yaml");
        fs::write(&chain, templates() + RUN + CHAIN).unwrap();
        let applied = world.ask("apply", &world.applying(&chain)).wait();
        assert_eq!(applied.code, Some(0), "{}", applied.stderr);
        world
    }

    /// Asks over the network, as a program on another machine would.
    pub(super) fn ask(&self, command: &str, arguments: &[String]) -> Running {
        let token = text(&self.home.join(".pathline/rest.token"));
        let mut all = vec![command, "--server", &self.url, "--token-file", &token];
        all.extend(arguments.iter().map(String::as_str));
        Running::start(&all)
    }

    pub(super) fn applying(&self, file: &std::path::Path) -> Vec<String> {
        let kubeconfig = text(self.cluster.kubeconfig());
        ["-f", &text(file), "--kubeconfig", &kubeconfig]
            .map(str::to_owned)
            .to_vec()
    }

    pub(super) fn kubectl(&self, arguments: &[&str]) -> Running {
        let mut command = Command::new(&self.kubectl);
        command.arg("--kubeconfig").arg(self.cluster.kubeconfig());
        command.arg("--cache-dir").arg(self.cluster.kubectl_cache());
        command.args(arguments);
        Running::spawn(Leash::new("pathline-story-").unwrap(), command)
    }

    fn assert_live_for_kubectl(&self) {
        let live = "--for=jsonpath={.status.live}=True";
        let Ended { code, stderr, .. } = self.kubectl(&["wait", "workload/app", live]).wait();
        assert_eq!(code, Some(0), "{stderr}");
    }

    pub(super) fn stop(&mut self) -> Leash {
        let controller = self.controller.take().unwrap();
        controller.signal(Signal::TERM);
        let Ended {
            code,
            stderr,
            leash,
        } = controller.wait();
        assert_eq!(code, Some(0), "{stderr}");
        leash
    }
}

impl super::World for Real {
    const FIRST_TROUBLE: &str = "container `app` waits: CrashLoopBackOff";

    fn commits(&self) -> [String; 4] {
        let commits = ["1a", "2b", "3c", "4d"].map(|digits| digits.repeat(20));
        self.kubelets.crash(&image_of(&commits[3]), mk_crash(2));
        commits
    }

    fn apply(&self, version: &Version, arguments: &[&str]) -> Running {
        let workload = self.home.join("workload.yaml");
        fs::write(&workload, version.workload("https://git.example.org/app")).unwrap();
        let more = arguments.iter().map(|&it| it.to_owned());
        let all: Vec<_> = self.applying(&workload).into_iter().chain(more).collect();
        self.ask("apply", &all)
    }

    fn wait(&self, arguments: &[&str]) -> Running {
        let all = [&["workload/app"], arguments].concat();
        let all: Vec<_> = all.into_iter().map(str::to_owned).collect();
        self.ask("wait", &all)
    }

    fn kubectl_wait(&self, generation: i64) -> Option<Running> {
        let live = format!("--for=jsonpath={{.status.liveGeneration}}={generation}");
        Some(self.kubectl(&["wait", "workload/app", &live, "--timeout=5m"]))
    }

    async fn finish(&self, step: &str, input: &str) {
        let name = format!("app-{step}");
        let given = await_object(&self.client, STEP, &name, |it| it["spec"]["input"] == input);
        let status = json!({"status": {
            "observedGeneration": given.await["metadata"]["generation"],
            "conditions": [{"type": "Ready", "status": "True"}],
            "url": format!("https://artifacts.example.org/{input}"), "revision": input,
            "image": image_of(input), "settings": input,
        }});
        objects(&self.client, STEP)
            .patch_status(&name, &PatchParams::default(), &Patch::Merge(status))
            .await
            .unwrap();
    }

    fn hold(&self, version: &Version) {
        self.kubelets.hold(&image_of(&version.commit));
    }

    fn release(&self, version: &Version) {
        self.kubelets.release(&image_of(&version.commit));
    }

    fn crash_again(&self) {
        self.kubelets
            .crash(&image_of(&self.commits()[3]), mk_crash(3));
    }

    async fn running(&self) -> BTreeSet<Version> {
        let pods: Api<Pod> = Api::default_namespaced(self.client.clone());
        let pods = pods.list(&ListParams::default()).await.unwrap();
        let commits = self.commits();
        let version = |pod: Pod| {
            let container = pod.spec.unwrap().containers.remove(0);
            let image = container.image.unwrap();
            let commit = commits.iter().find(|it| image_of(it) == image).unwrap();
            let debug = container.env.unwrap().remove(0).value.unwrap();
            Version::new(commit, if debug == "on" { "on" } else { "off" })
        };
        pods.into_iter().map(version).collect()
    }

    async fn assert_named(&self, running: &Value, version: &Version) {
        let pods: Api<Pod> = Api::default_namespaced(self.client.clone());
        let pods = pods.list(&ListParams::default()).await.unwrap();
        let mut expected: Vec<_> = pods
            .into_iter()
            .map(|pod| {
                let (spec, status) = (pod.spec.unwrap(), pod.status.unwrap());
                let ports = json!([{"port": 8080, "protocol": "TCP"}]);
                let image = image_of(&version.commit);
                let container = json!({"name": "app", "image": image, "ports": ports});
                let mut named = json!({
                    "kind": "Pod", "namespace": "default", "name": pod.metadata.name,
                    "containers": [container],
                });
                for (field, value) in [("node", spec.node_name), ("podIP", status.pod_ip)] {
                    if let Some(value) = value {
                        named[field] = value.into();
                    }
                }
                named
            })
            .collect();
        expected.sort_by_key(|it| it["name"].to_string());
        assert_eq!(running, &Value::from(expected));
        assert_eq!(running.as_array().map(Vec::len), Some(2));
    }

    async fn restart_cluster(&mut self) {
        if self.cluster.can_stop() {
            self.cluster.stop_api_server().unwrap();
            self.cluster.start_api_server().await.unwrap();
        }
    }

    async fn restart_pathline(&mut self) {
        let leash = self.stop();
        let address = self.url.trim_start_matches("http://");
        let (controller, _) = start_controller(leash, &self.cluster, address);
        self.controller = Some(controller);
    }
}

fn start_controller(leash: Leash, cluster: &RealCluster, listen: &str) -> (Running, String) {
    let kubeconfig = text(cluster.kubeconfig());
    let kubeconfig = ["controller", "--kubeconfig", &kubeconfig, "--install-crds"];
    let arguments = [&kubeconfig[..], &["--listen", listen, "-o", "json"]].concat();
    let mut controller = Running::start_in(leash, &arguments);
    let url = controller.json()["url"].as_str().unwrap().to_owned();
    (controller, url)
}

fn templates() -> String {
    let source = "urlPath: .status.url\n  revisionPath: .status.revision";
    let image = "imagePath: .status.image";
    let config = "configPath: .status.settings\n  params: [{name: debug, default: 'off'}]";
    let steps = [
        (
            "source",
            "ClusterSourceTemplate",
            source,
            "$(workload.spec.source.git.ref.commit)$",
        ),
        (
            "test",
            "ClusterSourceTemplate",
            source,
            "$(source.revision)$",
        ),
        (
            "build",
            "ClusterImageTemplate",
            image,
            "$(source.revision)$",
        ),
        (
            "settings",
            "ClusterConfigTemplate",
            config,
            "$(params.debug)$",
        ),
    ];
    let template = |(step, kind, paths, input)| {
        let template = STEP_TEMPLATE.replace("KIND", kind).replace("STEP", step);
        template.replace("PATHS", paths).replace("INPUT", input)
    };
    steps.map(template).concat()
}

/// Returns the image that is built from a commit.
fn image_of(commit: &str) -> String {
    format!("registry.example.org/app@sha256:{commit:0<64}")
}

fn mk_crash(restarts: i64) -> Crash {
    Crash {
        restarts,
        exit_code: 7,
        message: "there is no config".to_owned(),
    }
}

fn step_kind() -> CustomResourceDefinition {
    let free = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    let schema = json!({"type": "object", "properties": {"spec": free, "status": free}});
    let kind: Value = json!({
        "metadata": {"name": "steps.story.example.org"},
        "spec": {
            "group": "story.example.org",
            "scope": "Namespaced",
            "names": {"kind": "Step", "plural": "steps", "singular": "step"},
            "versions": [{
                "name": "v1", "served": true, "storage": true, "subresources": {"status": {}},
                "schema": {"openAPIV3Schema": schema},
            }],
        },
    });
    serde_json::from_value(kind).unwrap()
}
