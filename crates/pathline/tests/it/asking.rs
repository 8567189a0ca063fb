//! A Pathline that runs `examples/hello`, asked what things are made of and whether they arrived.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use kube::Api;
use kube::api::{ApiResource, DynamicObject, GroupVersionKind};
use kube::runtime::wait::await_condition;
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::hello::{copy_objects, make_repositories};
use crate::program::{Ended, Running, pathline, stderr, stdout};
use crate::up::{client, start};

/// Far longer than anything here takes.
const LIMIT: Duration = Duration::from_secs(180);

/// `pathline up` with the example applied, and the commit it runs.
pub(crate) struct Example {
    pub(crate) up: Running,
    ready: Value,
    pub(crate) commit: String,
}

impl Example {
    /// Starts it, and waits until the commit is written to the manifest repository.
    pub(crate) async fn start() -> Result<Self> {
        let (up, ready) = start();
        let home = up.directory().canonicalize()?.join("hello");
        fs::create_dir(&home)?;
        let port = pathline_testkit::free_port();
        copy_objects(&home, port)?;
        let commit = make_repositories(&home)?;
        let example = Self { up, ready, commit };
        let applied = example.ask(&["apply", "-f", "hello"]);
        ensure!(applied.status.success(), "{}", stderr(&applied));
        example.await_ready("Workload").await?;
        Ok(example)
    }

    /// Runs the binary as somebody does who stands beside the data directory.
    pub(crate) fn ask(&self, arguments: &[&str]) -> Output {
        let mut command = pathline();
        command.current_dir(self.up.directory()).args(arguments);
        command.output().expect("the binary runs")
    }

    /// Stops it, and starts it again over what it has kept.
    pub(crate) fn restart(self) -> Self {
        self.restart_after(|| ())
    }

    /// Stops it, lets something happen, and starts it again over what it has kept.
    pub(crate) fn restart_after(self, meanwhile: impl FnOnce()) -> Self {
        self.up.signal(Signal::TERM);
        let Ended {
            code,
            stderr,
            leash,
        } = self.up.wait();
        assert_eq!(code, Some(0), "{stderr}");
        meanwhile();
        let any = "127.0.0.1:0";
        let up = ["up", "--listen", any, "--kube-listen", any, "-o", "json"];
        let mut up = Running::start_in(leash, &up);
        let ready = up.json();
        Self { up, ready, ..self }
    }

    /// Stops it in order, so that the site it runs ends too.
    pub(crate) fn stop(self) {
        stop(self.up);
    }

    pub(crate) fn ask_json(&self, arguments: &[&str]) -> Result<Value> {
        let output = self.ask(&[arguments, &["-o", "json"]].concat());
        ensure!(
            output.status.success(),
            "{arguments:?}: {} {}",
            stdout(&output),
            stderr(&output)
        );
        serde_json::from_slice(&output.stdout).context("nothing but JSON")
    }

    async fn await_ready(&self, kind: &str) -> Result<()> {
        let gvk = GroupVersionKind::gvk("carto.run", "v1alpha1", kind);
        let kind = ApiResource::from_gvk(&gvk);
        let owners =
            Api::<DynamicObject>::namespaced_with(client(&self.ready).await, "default", &kind);
        let ready = |owner: Option<&DynamicObject>| owner.is_some_and(is_ready);
        let waiting = await_condition(owners, "hello", ready);
        tokio::time::timeout(LIMIT, waiting).await??;
        Ok(())
    }
}

fn stop(up: Running) {
    up.signal(Signal::TERM);
    let Ended { code, stderr, .. } = up.wait();
    assert_eq!(code, Some(0), "{stderr}");
}

fn is_ready(owner: &DynamicObject) -> bool {
    let conditions = owner.data["status"]["conditions"].as_array();
    let mut conditions = conditions.into_iter().flatten();
    conditions.any(|it| it["type"] == "Ready" && it["status"] == "True")
}

/// Returns what a node of the tree is made of, by type.
pub(crate) fn made_of<'a>(node: &'a Value, kind: &str) -> &'a Value {
    let from = node["from"].as_array().into_iter().flatten();
    let mut found = from.filter(|it| it["type"] == kind);
    found.next().unwrap_or(&Value::Null)
}

#[tokio::test]
async fn example_is_explained_from_its_commit_to_its_manifest_and_back() -> Result<()> {
    let example = Example::start().await?;
    let commit = example.commit.as_str();

    let tree = example.ask(&["lineage", "workload/hello"]);
    let text = stdout(&tree);
    assert_eq!(tree.status.code(), Some(0), "{}", stderr(&tree));
    assert!(
        text.contains(&format!("source main@sha1:{commit}")),
        "{text}"
    );
    assert!(text.contains("GitCommit/hello"), "{text}");
    assert!(!text.contains("assumed"), "all of it is proven:\n{text}");

    let owner = example.ask_json(&["lineage", "workload/hello"])?;
    let image = made_of(&owner["outputs"][0], "image");
    let source = made_of(image, "source");
    assert_eq!(image["passed"], json!(["build"]));
    assert_eq!(source["passed"], json!(["source", "test"]));

    let carriers =
        example.ask_json(&["lineage", "--contains", &format!("source={}", &commit[..7])])?;
    let found = carriers["carriers"].as_array().context("carriers")?;
    let resources: Vec<_> = found
        .iter()
        .filter_map(|it| it["resource"].as_str())
        .collect();
    for resource in ["build", "manifest"] {
        assert!(
            resources.contains(&resource),
            "{resource} is not in {resources:?}"
        );
    }
    assert!(found.iter().all(|it| it["proven"] == true), "{carriers}");

    let reference = image["value"].as_str().context("a reference")?;
    let explained = stdout(&example.ask(&["lineage", reference]));
    assert!(explained.contains(commit), "{explained}");
    assert!(
        explained.contains("workload default/hello manifest"),
        "{explained}"
    );
    let id = image["id"].as_str().context("an id")?;
    let by_id = example.ask_json(&["lineage", id])?;
    assert_eq!(by_id["artifacts"][0]["value"], reference);
    example.stop();
    Ok(())
}

#[tokio::test]
async fn waiting_ends_when_it_is_true_and_when_it_cannot_be() -> Result<()> {
    let example = Example::start().await?;
    let source = format!("source={}", &example.commit[..7]);

    let held = example.ask(&[
        "wait",
        "workload/hello",
        "--for",
        &source,
        "--for",
        "current",
    ]);
    assert_eq!(held.status.code(), Some(0), "{}", stderr(&held));
    assert!(stdout(&held).contains("workload default/hello is made of what was asked for"));
    let told = example.ask_json(&["wait", "workload/hello", "--for", &source])?;
    assert_eq!(told["state"], "holds");

    let live = example.ask(&["wait", "workload/hello", "--for", &source, "--live"]);
    assert_eq!(live.status.code(), Some(0), "{}", stderr(&live));
    assert!(stdout(&live).contains("workload default/hello runs with what was asked for"));
    let process = example.ask_json(&["lineage", "process/hello"])?;
    assert_eq!(process["revision"], "current", "{process}");
    assert_eq!(process["owner"]["kind"], "Deliverable", "{process}");
    assert_eq!(process["above"], json!([]), "it was stamped itself");
    assert_eq!(
        made_of(&process["made"], "source")["passed"][0],
        "manifests"
    );
    let applied = example.ask(&["apply", "-f", "hello", "--wait"]);
    assert_eq!(applied.status.code(), Some(0), "{}", stderr(&applied));
    let told = stdout(&applied);
    assert!(
        told.contains("deliverable default/hello runs with"),
        "{told}"
    );

    let unused = example.ask(&["wait", "workload/hello", "--for", "param:colour=red"]);
    assert_eq!(unused.status.code(), Some(1), "{}", stderr(&unused));
    assert!(
        stderr(&unused).contains("nothing on the path reads"),
        "{}",
        stderr(&unused)
    );

    let impossible = ["--for", "source=ffffffff", "--timeout", "1s"];
    let late = example.ask(&[&["wait", "workload/hello"][..], &impossible].concat());
    assert_eq!(late.status.code(), Some(124), "{}", stderr(&late));
    assert!(
        stderr(&late).contains("after 1s it has not happened yet"),
        "{}",
        stderr(&late)
    );
    example.stop();
    Ok(())
}

#[tokio::test]
async fn waiting_goes_on_when_pathline_is_started_again() -> Result<()> {
    let example = Example::start().await?;
    let app = example.up.directory().join("hello/app");
    // A commit that is known before it is on the branch.
    let next = git(
        &app,
        &["commit-tree", "HEAD^{tree}", "-p", "HEAD", "-m", "next"],
    );
    let data_dir = example.up.directory().join(".pathline");
    let data_dir = data_dir.to_str().context("a path")?;
    let wait_for = format!("source={next}");
    let wait = [
        "wait",
        "workload/hello",
        "--for",
        &wait_for,
        "--data-dir",
        data_dir,
    ];
    let mut waiting = Running::start(&wait);
    waiting.wait_for_stderr("not seen yet");

    let address = example.ready["url"].as_str().context("an address")?;
    let listen = address.trim_start_matches("http://").to_owned();
    example.up.signal(Signal::TERM);
    let Ended {
        code,
        stderr,
        leash,
    } = example.up.wait();
    assert_eq!(code, Some(0), "{stderr}");
    waiting.wait_for_stderr("trying again");
    let up = [
        "up",
        "--listen",
        &listen,
        "--kube-listen",
        "127.0.0.1:0",
        "-o",
        "json",
    ];
    let mut again = Running::start_in(leash, &up);
    again.json();
    git(&app, &["update-ref", "refs/heads/main", &next]);

    let Ended { code, stderr, .. } = waiting.wait();
    assert_eq!(code, Some(0), "{stderr}");
    stop(again);
    Ok(())
}

pub(crate) fn git(repository: &Path, arguments: &[&str]) -> String {
    let mut command = Command::new("git");
    command.arg("-C").arg(repository);
    command.args(["-c", "user.name=It", "-c", "user.email=it@localhost"]);
    let output = command.args(arguments).output().expect("git runs");
    assert!(output.status.success(), "{output:?}");
    stdout(&output).trim().to_owned()
}

/// Asks in a directory without any Pathline, and returns exit code and what was said.
fn ask_nowhere(arguments: &[&str]) -> (Option<i32>, String) {
    let nowhere = tempfile::tempdir().expect("a scratch directory");
    let mut command = pathline();
    command.current_dir(&nowhere).args(arguments);
    let output = command.output().expect("the binary runs");
    assert_eq!(stdout(&output), "");
    (output.status.code(), stderr(&output))
}

#[test]
fn no_pathline_is_a_question_without_an_answer() {
    for arguments in [
        &["lineage", "workload/hello"][..],
        &["lineage", "--contains", "source=0123456"],
        &["wait", "workload/hello"],
    ] {
        let (code, told) = ask_nowhere(arguments);
        assert_eq!(code, Some(3), "{told}");
        assert!(told.contains("no Pathline runs on .pathline"), "{told}");
        assert!(
            told.contains("is Pathline running? start it with"),
            "{told}"
        );
    }
    let elsewhere = [
        "lineage",
        "workload/hello",
        "--server",
        "http://127.0.0.1:9",
    ];
    let (code, told) = ask_nowhere(&elsewhere);
    assert_eq!(code, Some(3), "{told}");
    assert!(
        told.contains("there is no token for http://127.0.0.1:9"),
        "{told}"
    );
}

#[test]
fn questions_that_cannot_be_understood_say_what_to_write() {
    for (arguments, expected) in [
        (&["lineage", "hello"][..], "write workload/NAME"),
        (
            &["lineage", "--contains", "source=012"],
            "at least 7 of its digits",
        ),
        (
            &["wait", "pod/hello"],
            "write workload/NAME or deliverable/NAME",
        ),
        (
            &["wait", "workload/hello", "--for", "debug=on"],
            "param:NAME=VALUE",
        ),
    ] {
        let (code, told) = ask_nowhere(arguments);
        assert_eq!(code, Some(2), "{told}");
        assert!(told.contains(expected), "{told}");
    }
}

#[test]
fn what_nobody_knows_and_who_may_not_ask_are_told_apart() {
    let (up, _) = start();
    let ask = |arguments: &[&str], token: Option<&str>| {
        let mut command = pathline();
        command.current_dir(up.directory()).args(arguments);
        if let Some(token) = token {
            command.env("PATHLINE_TOKEN", token);
        }
        let output = command.output().expect("the binary runs");
        (output.status.code(), stderr(&output))
    };
    for arguments in [
        &["lineage", "workload/nobody"][..],
        &["lineage", "pod/nobody"],
        &["lineage", "--contains", "source=0123456"],
        &["lineage", "image=nothing:1"],
        &["lineage", &"0a".repeat(32)],
    ] {
        let (code, told) = ask(arguments, None);
        assert_eq!(code, Some(1), "{arguments:?}: {told}");
        assert!(told.starts_with("error: "), "{arguments:?}: {told}");
        let is_id = arguments[1].len() == 64;
        assert!(is_id || told.contains("hint: "), "{arguments:?}: {told}");
    }
    let (code, told) = ask(&["lineage", "workload/nobody"], Some("wrong"));
    assert_eq!(code, Some(3), "{told}");
    assert!(
        told.contains("the token came from the variable PATHLINE_TOKEN"),
        "{told}"
    );
    assert!(!told.contains("wrong"), "a token is not shown:\n{told}");
}
