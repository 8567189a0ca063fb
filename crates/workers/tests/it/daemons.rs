//! Daemons: they left the group, the session and the environment of their command, and their parents.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use pathline_kinds::workers::{Process, Task};
use pathline_testkit::child_of;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::fixture::{House, condition, content_of, is_ready, is_running, text};

/// A script that starts a daemon, waits until that has noted its number, and does `then`.
fn script(note: &Path, then: &str) -> Value {
    let note = note.display();
    let daemon = format!("sh -c \"echo \\$\\$ > {note}; exec sleep 600\" &");
    let start =
        format!("env -i setsid sh -c '{daemon}'; until test -s {note}; do sleep 0.05; done");
    json!(["sh", "-c", format!("{start}; {then}")])
}

/// A data directory and the place of a note.
fn scratch() -> (TempDir, PathBuf) {
    let dir = TempDir::new().expect("a scratch directory");
    let note = dir.path().join("daemon");
    (dir, note)
}

fn is_over(task: &Value) -> bool {
    matches!(condition(task, "Succeeded").0, "True" | "False")
}

#[tokio::test(flavor = "multi_thread")]
async fn hole_10_daemon_of_a_task_ends_with_it() {
    let (dir, note) = scratch();
    let house = House::open(dir.path()).await;
    let spec = json!({ "command": script(&note, "echo done") });
    house.create::<Task>("task", spec).await;
    let task = house.until::<Task>("task", is_over).await;
    assert_eq!(condition(&task, "Succeeded"), ("True", "Succeeded"));
    assert_eq!(text(&task["status"]["logTail"]), "done\n");
    let daemon = content_of(&note).await;
    assert!(!is_running(&daemon), "{daemon} is still there");
    house.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn hole_10_daemon_of_a_task_ends_at_its_time_out() {
    let (dir, note) = scratch();
    let house = House::open(dir.path()).await;
    let spec = json!({ "command": script(&note, "sleep 600"), "timeout": "3s" });
    house.create::<Task>("task", spec).await;
    let task = house.until::<Task>("task", is_over).await;
    assert_eq!(condition(&task, "Succeeded"), ("False", "TimedOut"));
    let daemon = content_of(&note).await;
    assert!(!is_running(&daemon), "{daemon} is still there");
    house.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn hole_10_daemon_of_a_process_ends_when_that_is_replaced_deleted_or_stopped() {
    let (dir, _) = scratch();
    let house = House::open(dir.path()).await;
    let notes = ["first", "second", "third"].map(|name| dir.path().join(name));
    let spec = |note: &Path| json!({ "command": script(note, "sleep 600") });
    house.create::<Process>("web", spec(&notes[0])).await;
    let first = content_of(&notes[0]).await;
    let process = house.until::<Process>("web", is_ready).await;
    let pid = process["status"]["pid"].to_string();
    let command = std::fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap();
    assert!(command.starts_with("sh\0-c\0"), "{pid} is {command:?}");

    let change = json!({ "spec": spec(&notes[1]) });
    house.patch::<Process>("web", change).await;
    let second = content_of(&notes[1]).await;
    assert!(!is_running(&first), "{first} is still there");
    assert!(is_running(&second));
    house.delete::<Process>("web").await;
    assert!(!is_running(&second), "{second} is still there");

    house.create::<Process>("web", spec(&notes[2])).await;
    let third = content_of(&notes[2]).await;
    house.close().await;
    assert!(!is_running(&third), "{third} is still there");
}

/// Runs workers, and a process with a daemon, until they are killed.
async fn run_until_killed(data_dir: &Path) {
    let house = House::open(data_dir).await;
    let spec = json!({ "command": script(&data_dir.join("daemon"), "sleep 600") });
    house.create::<Process>("web", spec).await;
    std::future::pending::<()>().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn hole_10_daemon_of_a_killed_pathline_is_gone_when_the_next_one_starts_anything() {
    let test =
        "daemons::hole_10_daemon_of_a_killed_pathline_is_gone_when_the_next_one_starts_anything";
    let Some(mut host) = child_of(test) else {
        let here = std::env::current_dir().expect("it is started in the data directory");
        return run_until_killed(&here).await;
    };
    let (dir, note) = scratch();
    let host = host.current_dir(dir.path()).stdout(Stdio::null());
    let mut host = host.spawn().unwrap();
    let daemon = content_of(&note).await;
    host.kill().unwrap();
    host.wait().unwrap();
    std::fs::remove_file(&note).unwrap();

    let house = House::open(dir.path()).await;
    let next = content_of(&note).await;
    assert_ne!(next, daemon);
    assert!(!is_running(&daemon), "{daemon} is still there");
    house.close().await;
}
