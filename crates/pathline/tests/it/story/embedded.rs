//! The story on the embedded cluster: a real repository, real tasks and a real process.

#![expect(
    clippy::unwrap_used,
    reason = "a story that cannot go on stops where it is"
)]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use kube::Client;
use pathline_testkit::http_child::{self, server_command};
use pathline_testkit::{Leash, free_port, git};
use rustix::process::Signal;
use serde_json::{Value, json};

use super::Version;
use super::objects::{await_object, text};
use super::version::CHAIN;
use crate::program::{Ended, Running};
use crate::up::{UP, client};

/// Each task waits for a file that is called like itself and its input. The process is not ready
/// while a file is there that is called like its version.
const TEMPLATES: &str = r#"
apiVersion: carto.run/v1alpha1
kind: ClusterSourceTemplate
metadata: {name: story-source}
spec:
  urlPath: .status.artifact.url
  revisionPath: .status.artifact.revision
  healthRule: {singleConditionType: Ready}
  template:
    apiVersion: source.toolkit.fluxcd.io/v1
    kind: GitRepository
    metadata: {name: app-source}
    spec:
      interval: 1h
      url: $(workload.spec.source.git.url)$
      ref: $(workload.spec.source.git.ref)$
---
apiVersion: carto.run/v1alpha1
kind: ClusterSourceTemplate
metadata: {name: story-test}
spec:
  urlPath: .status.source.url
  revisionPath: .status.source.revision
  healthRule: {singleConditionType: Succeeded}
  template:
    apiVersion: pathline.dev/v1alpha1
    kind: Task
    metadata: {name: app-test}
    spec:
      source: {url: $(source.url)$, revision: $(source.revision)$}
      command: [sh, -c, 'until [ -e "<gates>/test-${PATHLINE_SOURCE_REVISION##*:}" ]; do sleep 0.1; done']
---
apiVersion: carto.run/v1alpha1
kind: ClusterImageTemplate
metadata: {name: story-build}
spec:
  imagePath: .status.outputs.image
  healthRule: {singleConditionType: Succeeded}
  template:
    apiVersion: pathline.dev/v1alpha1
    kind: Task
    metadata: {name: app-build}
    spec:
      source: {url: $(source.url)$, revision: $(source.revision)$}
      command:
        - sh
        - -ec
        - |
          commit=${PATHLINE_SOURCE_REVISION##*:}
          until [ -e "<gates>/build-$commit" ]; do sleep 0.1; done
          mkdir image && cp run.sh image && echo "$commit" > image/commit
      outputs: [{name: image, directory: image, tag: image/commit}]
---
apiVersion: carto.run/v1alpha1
kind: ClusterConfigTemplate
metadata: {name: story-settings}
spec:
  params: [{name: debug, default: 'off'}]
  configPath: .status.outputs.settings
  healthRule: {singleConditionType: Succeeded}
  template:
    apiVersion: pathline.dev/v1alpha1
    kind: Task
    metadata: {name: app-settings}
    spec:
      env: [{name: DEBUG, value: $(params.debug)$}]
      command: [sh, -c, 'until [ -e "<gates>/settings-$DEBUG" ]; do sleep 0.1; done; echo "$DEBUG" > settings']
      outputs: [{name: settings, file: settings}]
---
apiVersion: carto.run/v1alpha1
kind: ClusterTemplate
metadata: {name: story-run}
spec:
  healthRule: {singleConditionType: Ready}
  template:
    apiVersion: pathline.dev/v1alpha1
    kind: Process
    metadata: {name: app}
    spec:
      env:
        - {name: IMAGE, value: $(image)$}
        - {name: DEBUG, value: $(config)$}
        - {name: TESTED, value: $(source.revision)$}
        - {name: TESTKIT_SERVE_PORT, value: '<port>'}
      command:
        - sh
        - -ec
        - |
          archive=${IMAGE#file://} && archive=${archive%@*}
          tar -xzf "${archive%:*}"
          export TESTKIT_SERVE_HELD="<held>/${archive##*:}-$DEBUG"
          . ./run.sh
      readiness: {httpGet: {port: <port>}}
"#;

/// Serves for the process of the story.
#[test]
fn serve() {
    http_child::serve_if_asked();
}

/// `pathline up`, and what the test has in its hands.
struct Embedded {
    up: Option<Running>,
    client: Client,
    addresses: [String; 2],
    home: PathBuf,
    commits: [String; 4],
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn wait_ends_when_exactly_what_was_asked_runs_on_the_embedded_cluster() {
    let mut world = Box::pin(Embedded::start()).await;
    Box::pin(super::tell(&mut world)).await;
    world.stop();
}

impl Embedded {
    async fn start() -> Self {
        let leash = Leash::new("pathline-story-").unwrap();
        let home = leash.directory().canonicalize().unwrap();
        let commits = commit_sources(&home.join("source"));
        let mut templates = TEMPLATES.replace("<port>", &free_port().to_string());
        for name in ["gates", "held"] {
            let directory = home.join(name);
            fs::create_dir(&directory).unwrap();
            templates = templates.replace(&format!("<{name}>"), &text(&directory));
        }
        fs::write(home.join("chain.yaml"), templates + CHAIN).unwrap();

        let mut up = Running::start_in(leash, &UP);
        let ready = up.json();
        let address = |name: &str| {
            let url = ready[name].as_str().unwrap();
            url.split("//").last().unwrap().to_owned()
        };
        let world = Self {
            client: client(&ready).await,
            addresses: [address("url"), address("kubernetes")],
            up: Some(up),
            home,
            commits,
        };
        let chain = world.home.join("chain.yaml");
        let applied = world.ask("apply", &["-f", &text(&chain)]).wait();
        assert_eq!(applied.code, Some(0), "{}", applied.stderr);
        world
    }

    fn ask(&self, command: &str, arguments: &[&str]) -> Running {
        let data_dir = text(&self.home.join(".pathline"));
        Running::start(&[&[command, "--data-dir", &data_dir], arguments].concat())
    }

    fn held(&self, Version { commit, debug }: &Version) -> PathBuf {
        self.home.join(format!("held/{commit}-{debug}"))
    }

    fn stop(&mut self) -> Leash {
        let up = self.up.take().unwrap();
        up.signal(Signal::TERM);
        let Ended {
            code,
            stderr,
            leash,
        } = up.wait();
        assert_eq!(code, Some(0), "{stderr}");
        leash
    }

    async fn restart(&mut self) {
        let leash = self.stop();
        let [listen, kube_listen] = self.addresses.each_ref();
        let mut up = Running::start_in(
            leash,
            &[
                "up",
                "--listen",
                listen,
                "--kube-listen",
                kube_listen,
                "-o",
                "json",
            ],
        );
        self.client = client(&up.json()).await;
        self.up = Some(up);
    }
}

impl super::World for Embedded {
    const FIRST_TROUBLE: &str = "starting again after";

    fn commits(&self) -> [String; 4] {
        self.commits.clone()
    }

    fn apply(&self, version: &Version, arguments: &[&str]) -> Running {
        let workload = self.home.join("workload.yaml");
        let source = format!("file://{}", self.home.join("source").display());
        fs::write(&workload, version.workload(&source)).unwrap();
        self.ask("apply", &[&["-f", &text(&workload)], arguments].concat())
    }

    fn wait(&self, arguments: &[&str]) -> Running {
        self.ask("wait", &[&["workload/app"], arguments].concat())
    }

    async fn finish(&self, step: &str, input: &str) {
        if step == "source" {
            let fetched = |it: &Value| {
                it["status"]["artifact"]["revision"]
                    .to_string()
                    .contains(input)
            };
            let kind = ("source.toolkit.fluxcd.io/v1", "GitRepository");
            await_object(&self.client, kind, "app-source", fetched).await;
            return;
        }
        let gate = self.home.join(format!("gates/{step}-{input}"));
        fs::write(&gate, "").unwrap();
        let done = |it: &Value| {
            let given = [
                &it["spec"]["source"]["revision"],
                &it["spec"]["env"][0]["value"],
            ];
            let mut given = given.into_iter().filter_map(Value::as_str);
            given.any(|it| it.ends_with(input))
                && it["status"]["succeededGeneration"] == it["metadata"]["generation"]
        };
        let task = ("pathline.dev/v1alpha1", "Task");
        await_object(&self.client, task, &format!("app-{step}"), done).await;
        fs::remove_file(&gate).unwrap();
    }

    fn hold(&self, version: &Version) {
        fs::write(self.held(version), "").unwrap();
    }

    fn release(&self, version: &Version) {
        fs::remove_file(self.held(version)).unwrap();
    }

    /// The process does so by itself.
    fn crash_again(&self) {}

    async fn running(&self) -> BTreeSet<Version> {
        let kind = ("pathline.dev/v1alpha1", "Process");
        let process = await_object(&self.client, kind, "app", |it| it["status"]["pid"].is_i64());
        let pid = &process.await["status"]["pid"];
        let environment = fs::read_to_string(format!("/proc/{pid}/environ")).unwrap();
        let variable = |name: &str| {
            let mut variables = environment.split('\0');
            variables.find_map(|it| Some(it.strip_prefix(name)?.strip_prefix('=')?.to_owned()))
        };
        let (image, debug) = (variable("IMAGE").unwrap(), variable("DEBUG").unwrap());
        let is_tagged = |commit: &&String| image.contains(&format!(":{commit}@"));
        let commit = self.commits.iter().find(is_tagged).unwrap();
        let debug = if debug == "on" { "on" } else { "off" };
        BTreeSet::from([Version::new(commit, debug)])
    }

    async fn assert_named(&self, running: &Value, _: &Version) {
        let kind = ("pathline.dev/v1alpha1", "Process");
        let process = await_object(&self.client, kind, "app", |it| it["status"]["pid"].is_i64());
        let process = process.await;
        let port = &process["spec"]["readiness"]["httpGet"]["port"];
        let expected = json!([{
            "kind": "Process", "namespace": "default", "name": "app",
            "pid": process["status"]["pid"],
            "address": format!("127.0.0.1:{port}"),
            "log": process["status"]["logPath"],
        }]);
        assert_eq!(running, &expected);
        let log = running[0]["log"].as_str().unwrap();
        assert!(Path::new(log).is_file(), "{log}");
    }

    async fn restart_cluster(&mut self) {
        self.restart().await;
    }

    async fn restart_pathline(&mut self) {
        self.restart().await;
    }
}

/// Makes a repository with four commits, of which the last one crashes.
fn commit_sources(repository: &Path) -> [String; 4] {
    fs::create_dir(repository).unwrap();
    git(repository, &["init", "-q", "-b", "main"]);
    let server = server_command("story::embedded::serve").join("' '");
    let serves = format!("exec '{server}'");
    let crashes = "echo there is no config; exit 3".to_owned();
    [&serves, &serves, &serves, &crashes].map(|script| {
        fs::write(repository.join("run.sh"), script).unwrap();
        git(repository, &["add", "run.sh"]);
        git(
            repository,
            &["commit", "-q", "--allow-empty", "-m", "change"],
        );
        git(repository, &["rev-parse", "HEAD"])
    })
}
