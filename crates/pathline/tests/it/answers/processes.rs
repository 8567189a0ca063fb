//! Real processes: what runs, and what still does.

use std::fs;
use std::path::Path;
use std::process::Command;

use pathline_testkit::kube::Binaries;
use pathline_testkit::skip;
use serde_json::{Value, json};

use super::played::Played;
use crate::program::Ended;
use crate::story::objects::await_object;

const PROCESS: (&str, &str) = ("pathline.dev/v1alpha1", "Process");

/// A process that has the param in its name, and takes its time to end.
const CHAIN: &str = "
---
apiVersion: carto.run/v1alpha1
kind: ClusterTemplate
metadata: {name: run}
spec:
  params: [{name: debug, default: 'off'}]
  healthRule: {singleConditionType: Ready}
  template:
    apiVersion: pathline.dev/v1alpha1
    kind: Process
    metadata: {name: app-$(params.debug)$}
    spec:
      stopTimeout: 4s
      command: [sh, -c, 'trap \"\" TERM; while :; do sleep 0.1; done']
---
apiVersion: carto.run/v1alpha1
kind: ClusterSupplyChain
metadata: {name: chain}
spec:
  selector: {played: 'yes'}
  resources: [{name: run, templateRef: {kind: ClusterTemplate, name: run}}]
";

fn workload(debug: &str) -> String {
    super::workload(&json!(debug))
}

async fn pid_of(world: &Played, name: &str) -> i64 {
    let is_running = |it: &Value| it["status"]["pid"].is_i64();
    let process = await_object(&world.client, PROCESS, name, is_running).await;
    process["status"]["pid"].as_i64().unwrap()
}

#[tokio::test]
async fn point_3_nothing_is_live_while_the_former_process_runs() {
    let world = Played::start().await;
    let begun = world.apply_with(&(CHAIN.to_owned() + &workload("a")), &["--wait"]);
    assert_eq!(begun.wait().code, Some(0));
    let former = pid_of(&world, "app-a").await;

    let mut waiting = world.apply_with(&workload("b"), &["--wait"]);
    waiting.wait_for_stderr("Process `app-a`, which nothing stamps any more, is still there");
    let Ended { code, stderr, .. } = waiting.wait();
    let is_there = Path::new(&format!("/proc/{former}")).exists();
    assert_eq!(code, Some(0), "{stderr}");
    assert!(!is_there, "the former process still runs");
    world.stop();
}

/// The recipe of the documentation, while a later generation goes live first.
#[tokio::test]
async fn point_14_recipe_for_kubectl_ends_although_a_later_generation_goes_live_first() {
    let Ok(binaries) = Binaries::find() else {
        skip("the recipe for kubectl", "kubectl is not there");
        return;
    };
    let world = Played::start().await;
    let quick = CHAIN.replace("trap \\\"\\\" TERM; ", "");
    let begun = world.apply_with(&(quick + &workload("a")), &["--wait"]);
    assert_eq!(begun.wait().code, Some(0));
    for debug in ["b", "c"] {
        world.apply(&workload(debug)).await;
    }
    world.owner(|it| it["status"]["liveGeneration"] == 3).await;

    let documentation = pathline_testkit::repository_root().join("docs/waiting.md");
    let documentation = fs::read_to_string(documentation).unwrap();
    let recipe = documentation
        .lines()
        .find(|line| line.starts_with("timeout 5m sh -c "));
    let recipe = recipe.unwrap().replace("workload/hello", "workload/app");
    let script = format!("export generation=2; {recipe}");
    let kubectl = binaries.program("kubectl");
    let path = format!("{}:/usr/bin:/bin", kubectl.parent().unwrap().display());
    let mut command = Command::new("sh");
    command.args(["-ec", &script]).env("PATH", path);
    command.env("KUBECONFIG", world.kubeconfig());
    let leash = pathline_testkit::Leash::new("pathline-it-").unwrap();
    let ended = crate::program::Running::spawn(leash, command).wait();
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    world.stop();
}
