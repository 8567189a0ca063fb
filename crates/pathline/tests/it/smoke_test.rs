//! A smoke test at the end of a path: a Task that takes what a Process says that it runs, and tries it.

use std::fs;

use anyhow::{Context, Result};
use serde_json::Value;

use crate::instance::{Instance, document, end};
use crate::story::objects::await_object;

const TASK: (&str, &str) = ("pathline.dev/v1alpha1", "Task");

/// The process writes down what it was started with, the test reads that. It waits for a file of its own first, and
/// passes if the value is the one that the process has, and not `bad`.
fn path(directory: &str) -> String {
    format!(
        "
apiVersion: carto.run/v1alpha1
kind: ClusterConfigTemplate
metadata: {{name: run}}
spec:
  configPath: .status.running
  healthRule: {{singleConditionType: Ready}}
  template:
    apiVersion: pathline.dev/v1alpha1
    kind: Process
    metadata: {{name: $(workload.metadata.name)$}}
    spec:
      env: [{{name: DEBUG, value: $(params.debug)$}}]
      command: [sh, -c, 'echo \"$DEBUG\" > {directory}/started; while [ ! -e {directory}/crash ]; do sleep 0.05; done']
---
apiVersion: carto.run/v1alpha1
kind: ClusterTemplate
metadata: {{name: smoke-test}}
spec:
  healthRule: {{singleConditionType: Succeeded}}
  template:
    apiVersion: pathline.dev/v1alpha1
    kind: Task
    metadata: {{name: $(workload.metadata.name)$-smoke-test}}
    spec:
      env: [{{name: GENERATION, value: 'generation $(config.generation)$'}}]
      timeout: 1m
      command:
        - sh
        - -c
        - |
          while [ ! -e {directory}/test ]; do sleep 0.05; done
          rm {directory}/test
          debug=`cat {directory}/started`
          echo \"it says $debug\"
          [ \"$debug\" != bad ]
---
apiVersion: carto.run/v1alpha1
kind: ClusterSupplyChain
metadata: {{name: tested}}
spec:
  selector: {{path: tested}}
  params: [{{name: debug, default: none}}]
  resources:
    - {{name: run, templateRef: {{kind: ClusterConfigTemplate, name: run}}}}
    - {{name: smoke-test, templateRef: {{kind: ClusterTemplate, name: smoke-test}}, configs: [{{name: config, resource: run}}]}}
"
    )
}

fn workload(debug: &str) -> String {
    format!(
        "
---
apiVersion: carto.run/v1alpha1
kind: Workload
metadata: {{name: app, namespace: default, labels: {{path: tested}}}}
spec: {{params: [{{name: debug, value: {debug}}}]}}
"
    )
}

/// A Pathline with the path, and a hand on its test.
struct Scene {
    instance: Instance,
    directory: tempfile::TempDir,
    client: kube::Client,
}

impl Scene {
    async fn start() -> Result<Self> {
        let instance = Instance::start()?;
        let directory = tempfile::tempdir()?;
        instance.apply(&path(directory.path().to_str().context("a path")?))?;
        let client = instance.client().await;
        Ok(Self {
            instance,
            directory,
            client,
        })
    }

    /// Applies a value; its test has not begun to look when this returns, and does not before it is let.
    async fn apply(&self, debug: &str, generation: i64) -> Result<()> {
        self.instance.apply(&workload(debug))?;
        let is_running = |it: &Value| {
            let condition = &it["status"]["conditions"][0];
            condition["observedGeneration"] == generation && condition["status"] == "Unknown"
        };
        await_object(&self.client, TASK, "app-smoke-test", is_running).await;
        Ok(())
    }

    fn touch(&self, name: &str) -> Result<()> {
        Ok(fs::write(self.directory.path().join(name), "")?)
    }

    fn wait(&self, debug: &str, timeout: &str) -> (Option<i32>, String, String) {
        let value = format!("param:debug={debug}");
        let asked = ["wait", "workload/app", "--for", &value, "--live"];
        let more = ["--timeout", timeout, "-o", "json"];
        end(self.instance.ask(&[&asked[..], &more].concat()))
    }

    #[track_caller]
    fn is_not_live(&self, debug: &str) {
        let (code, _, stderr) = self.wait(debug, "1s");
        assert_eq!(code, Some(124), "{stderr}");
    }

    /// Lets the test begin, and waits for the value.
    fn is_live_after_its_test(&self, debug: &str) -> Result<Value> {
        self.is_not_live(debug);
        self.touch("test")?;
        let (code, stdout, stderr) = self.wait(debug, "60s");
        assert_eq!(code, Some(0), "{stderr}");
        Ok(document(&stdout))
    }
}

#[tokio::test]
async fn path_that_ends_with_a_test_is_live_when_the_test_of_that_very_start_has_passed()
-> Result<()> {
    let scene = Scene::start().await?;
    scene.apply("a", 1).await?;
    let answer = scene.is_live_after_its_test("a")?;
    assert_eq!(answer["running"][0]["kind"], "Process", "{answer}");
    scene.apply("b", 2).await?;
    scene.is_live_after_its_test("b")?;
    // It passed for the first `a`, which says nothing of this one.
    scene.apply("a", 3).await?;
    scene.is_live_after_its_test("a")?;

    scene.apply("bad", 4).await?;
    scene.touch("test")?;
    let (code, _, stderr) = scene.wait("bad", "60s");
    assert_eq!(code, Some(1), "{stderr}");
    assert!(stderr.contains("resource `smoke-test` failed"), "{stderr}");
    assert!(stderr.contains("it said: it says bad"), "{stderr}");
    Ok(())
}

#[tokio::test]
async fn what_ends_after_its_test_has_passed_is_no_longer_live() -> Result<()> {
    let scene = Scene::start().await?;
    scene.apply("a", 1).await?;
    scene.is_live_after_its_test("a")?;
    scene.touch("crash")?;
    let kind = ("carto.run/v1alpha1", "Workload");
    let is_lost = |it: &Value| it["status"]["live"] != "True";
    await_object(&scene.client, kind, "app", is_lost).await;
    let (code, _, stderr) = scene.wait("a", "1s");
    assert_ne!(code, Some(0), "{stderr}");
    Ok(())
}
