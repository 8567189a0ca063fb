//! Copies of a data directory, and what only looks like one.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use futures::StreamExt;
use kube::Client;
use kube::runtime::{WatchStreamExt, watcher};
use parking_lot::Mutex;
use pathline_testkit::{Leash, is_nightly, skip};
use rustix::process::Signal;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::task::JoinHandle;

use crate::asking::{Example, git};
use crate::program::{Running, pathline, stderr};
use crate::story::objects::{await_object, objects, text};
use crate::up::{UP, client};

const PROCESS: (&str, &str) = ("pathline.dev/v1alpha1", "Process");
const GIT_COMMIT: (&str, &str) = ("pathline.dev/v1alpha1", "GitCommit");

/// Starts `up` on a data directory, on free ports.
fn up(data_dir: &Path, more: &[&str]) -> (Running, Value) {
    let data_dir = text(data_dir);
    let mut up = Running::start(&[&UP, more, &["--data-dir", &data_dir]].concat());
    let ready = up.json();
    (up, ready)
}

/// Stops it in order, and returns what it has said.
fn stop(up: Running) -> String {
    up.signal(Signal::TERM);
    let ended = up.wait();
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    ended.stderr
}

/// Copies a directory with all it has, as a person does.
fn copy(from: &Path, to: &Path) {
    let copied = Command::new("cp").arg("-a").args([from, to]).status();
    assert!(copied.expect("there is cp").success());
}

/// Returns the reason of the condition `Ready`.
fn reason(object: &Value) -> &str {
    let conditions = object["status"]["conditions"].as_array();
    let mut conditions = conditions.into_iter().flatten();
    let ready = conditions.find(|it| it["type"] == "Ready");
    ready.and_then(|it| it["reason"].as_str()).unwrap_or("")
}

/// The status of a process at a moment when it did not run.
type Troubles = Arc<Mutex<Vec<String>>>;

/// Notes whenever the process of the original ended by itself, or did not get its port.
fn troubles(client: &Client) -> (Troubles, JoinHandle<()>) {
    let troubles = Troubles::default();
    let noted = troubles.clone();
    let named = watcher::Config::default().fields("metadata.name=hello");
    let mut changes = Box::pin(watcher(objects(client, PROCESS), named).applied_objects());
    let watching = tokio::spawn(async move {
        while let Some(process) = changes.next().await {
            let process = process.map(|it| serde_json::to_value(it).expect("an object is JSON"));
            let Ok(process) = process else { continue };
            let status = &process["status"];
            if reason(&process) == "PortTaken" || status["restarts"].as_u64() > Some(0) {
                noted.lock().push(status.to_string());
            }
        }
    });
    (troubles, watching)
}

/// A few commits every day, a minute of them at night.
#[tokio::test(flavor = "multi_thread")]
async fn hole_3_copy_beside_its_original_ends_takes_and_pushes_nothing() -> Result<()> {
    let mut example = Example::start().await?;
    let directory = example.up.directory().canonicalize()?;
    assert_live(&example);
    let kubeconfig = directory.join(".pathline/kubeconfig");
    let original = client(&json!({ "kubeconfig": kubeconfig })).await;
    let before = await_object(&original, PROCESS, "hello", |it| reason(it) == "Answering").await;
    copy(&directory.join(".pathline"), &directory.join("copy"));
    let (mut beside, ready) = up(&directory.join("copy"), &[]);
    let is_copy = format!("is a copy of {}/.pathline", directory.display());
    beside.wait_for_stderr(&is_copy);
    let beside_client = client(&ready).await;
    let waits = |it: &Value| reason(it) == "Waiting" && it["status"].to_string().contains("pid ");
    await_object(&beside_client, PROCESS, "hello", waits).await;
    let still = await_object(&original, PROCESS, "hello", |_| true).await;
    assert_eq!(still["status"]["pid"], before["status"]["pid"]);

    let (troubles, watching) = troubles(&original);
    let (app, begun) = (directory.join("hello/app"), Instant::now());
    let mut rounds = 0;
    while rounds < 3 || (is_nightly() && begun.elapsed() < Duration::from_secs(60)) {
        rounds += 1;
        git(&app, &["commit", "--quiet", "--allow-empty", "-m", "Again"]);
        example.commit = git(&app, &["rev-parse", "HEAD"]);
        assert_live(&example);
    }
    let commit = example.commit.clone();
    let has_seen = |it: &Value| it["spec"].to_string().contains(&commit);
    let held_back = |it: &Value| has_seen(it) && reason(it) == "Suspended";
    await_object(&beside_client, GIT_COMMIT, "hello", held_back).await;

    let manifests = directory.join("hello/manifests.git");
    let log = git(&manifests, &["log", "--format=%B", "main"]);
    assert_eq!(log.matches("Image: ").count(), rounds + 1, "{log}");
    assert!(!log.contains("/copy/"), "{log}");
    watching.abort();
    assert!(troubles.lock().is_empty(), "{:#?}", troubles.lock());
    stop(beside);
    example.stop();
    Ok(())
}

fn assert_live(example: &Example) {
    let source = format!("source={}", example.commit);
    let wait = ["wait", "workload/hello", "--for", &source, "--live"];
    let live = example.ask(&[&wait[..], &["--timeout", "3m"]].concat());
    assert_eq!(live.status.code(), Some(0), "{}", stderr(&live));
}

/// A data directory that was used once.
fn used() -> (TempDir, PathBuf) {
    let home = TempDir::new().expect("a scratch directory");
    let data_dir = home.path().join("data");
    let said = stop(up(&data_dir, &[]).0);
    assert!(!said.contains("is a copy of"), "{said}");
    (home, data_dir)
}

fn note(data_dir: &Path) -> Result<Value> {
    Ok(serde_json::from_slice(&fs::read(
        data_dir.join("instance"),
    )?)?)
}

#[test]
fn hole_3_directory_that_was_moved_mounted_anew_or_restarted_is_no_copy() -> Result<()> {
    let (home, data_dir) = used();
    let id = note(&data_dir)?["id"].clone();
    // The machine was started again: another device number is no part of the note.
    let (again, _) = up(&data_dir, &[]);
    again.signal(Signal::KILL);
    let ended = again.wait();
    assert!(!ended.stderr.contains("is a copy of"), "{}", ended.stderr);

    let moved = home.path().join("moved");
    fs::rename(&data_dir, &moved)?;
    let said = stop(up(&moved, &[]).0);
    assert!(!said.contains("is a copy of"), "{said}");

    // A file system that was restored gives other inodes.
    let restored = home.path().join("restored");
    copy(&moved, &restored);
    fs::remove_dir_all(&moved)?;
    fs::rename(&restored, &moved)?;
    let said = stop(up(&moved, &["--adopt"]).0);
    assert!(said.contains("there is nothing to adopt"), "{said}");
    assert_eq!(note(&moved)?["id"], id);
    Ok(())
}

#[test]
fn hole_3_directory_that_is_mounted_at_another_path_is_no_copy() -> Result<()> {
    let may_mount = Command::new("unshare").args(["-m", "true"]).status();
    if !may_mount.is_ok_and(|status| status.success()) {
        skip("a bind mount", "nothing may be mounted here");
        return Ok(());
    }
    let (home, data_dir) = used();
    let id = note(&data_dir)?["id"].clone();
    let seen = home.path().join("seen");
    fs::create_dir(&seen)?;
    let script = r#"mount --bind "$1" "$2" && shift 2 && exec "$@""#;
    let mut command = Command::new("unshare");
    command.args(["-m", "sh", "-c", script, "sh"]);
    command.args([&data_dir, &seen]);
    command.arg(pathline().get_program()).args(UP);
    command.arg("--data-dir").arg(&seen);
    let mut mounted = Running::spawn(Leash::new("pathline-mounted-")?, command);
    mounted.json();
    let said = stop(mounted);
    assert!(!said.contains("is a copy of"), "{said}");
    assert_eq!(note(&data_dir)?["id"], id);
    Ok(())
}

#[test]
fn hole_3_port_of_the_original_is_not_taken_but_named() -> Result<()> {
    let home = TempDir::new()?;
    let (original, ready) = up(&home.path().join("data"), &[]);
    let listen = ready["url"].as_str().context("an address")?;
    let listen = listen.trim_start_matches("http://").to_owned();
    let beside = home.path().join("copy");
    copy(&home.path().join("data"), &beside);
    assert!(
        beside.join("server.json").exists(),
        "as the original has it"
    );
    let arguments = ["up", "--listen", &listen, "--kube-listen", "127.0.0.1:0"];
    let refused = pathline()
        .args(arguments)
        .arg("--data-dir")
        .arg(&beside)
        .output()?;
    let said = stderr(&refused);
    assert_eq!(refused.status.code(), Some(1), "{said}");
    assert!(said.contains("is a copy of"), "{said}");
    assert!(said.contains("--listen"), "{said}");
    for address in ["server.json", "kubeconfig"] {
        let leads = beside.join(address).exists();
        assert!(!leads, "{address} leads to the original");
    }
    stop(original);
    Ok(())
}

/// Writes one file to a repository.
fn git_commit(repository: &Path) -> Value {
    json!({
        "apiVersion": "pathline.dev/v1alpha1", "kind": "GitCommit",
        "metadata": { "name": "write", "namespace": "default" },
        "spec": {
            "url": format!("file://{}", repository.display()),
            "files": { "a": "b" },
            "message": "Write",
        },
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn hole_3_copy_pushes_nothing_until_it_is_adopted() -> Result<()> {
    let (home, data_dir) = used();
    let repository = home.path().join("repository.git");
    let place = text(&repository);
    git(home.path(), &["init", "--quiet", "--bare", &place]);
    let (first, second) = (home.path().join("first"), home.path().join("second"));
    copy(&data_dir, &first);

    let (running, ready) = up(&first, &[]);
    let file = home.path().join("commit.json");
    fs::write(&file, git_commit(&repository).to_string())?;
    let applied = Running::start(&["apply", "-f", &text(&file), "--data-dir", &text(&first)]);
    let applied = applied.wait();
    assert_eq!(applied.code, Some(0), "{}", applied.stderr);
    let suspended = |it: &Value| reason(it) == "Suspended";
    let held = await_object(&client(&ready).await, GIT_COMMIT, "write", suspended).await;
    assert!(held.to_string().contains("`pathline up --adopt`"), "{held}");
    stop(running);

    // A copy of the copy is another one.
    copy(&first, &second);
    let said = stop(up(&second, &[]).0);
    let of_first = format!("is a copy of {}", first.canonicalize()?.display());
    assert!(said.contains(&of_first), "{said}");
    let said = stop(up(&first, &[]).0);
    let of_original = format!("is a copy of {}", data_dir.canonicalize()?.display());
    assert!(said.contains(&of_original), "it still is: {said}");
    assert_eq!(git(&repository, &["rev-list", "--all"]), "");

    let (running, ready) = up(&first, &["--adopt"]);
    let pushed = |it: &Value| reason(it) == "Succeeded";
    await_object(&client(&ready).await, GIT_COMMIT, "write", pushed).await;
    assert!(stop(running).contains("adopted "));
    assert_ne!(git(&repository, &["rev-list", "--all"]), "");
    let said = stop(up(&first, &[]).0);
    assert!(!said.contains("is a copy of"), "{said}");
    Ok(())
}
