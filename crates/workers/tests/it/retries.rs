//! Tasks on a machine that lacks something for a while.

use std::fs;
use std::path::Path;
use std::process::Command;

use pathline_kinds::workers::Task;
use pathline_testkit::is_on_small_disk;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::fixture::{House, condition, keeper, message, text};

fn is_put_off(task: &Value) -> bool {
    condition(task, "Succeeded") == ("Unknown", "Retrying")
}

fn has_succeeded(task: &Value) -> bool {
    condition(task, "Succeeded").0 == "True"
}

/// Waits until a task is put off for a reason, without being stalled.
async fn assert_put_off(house: &House, name: &str, why: &str) {
    let task = house.until::<Task>(name, is_put_off).await;
    let message = message(&task, "Succeeded");
    assert!(
        message.contains(why) && message.contains("; trying again after "),
        "{message}"
    );
    assert_eq!(condition(&task, "Stalled"), ("", ""));
    assert_eq!(task["status"]["completionTime"], Value::Null);
}

#[tokio::test(flavor = "multi_thread")]
async fn hole_8_task_runs_when_a_process_can_be_started_again() {
    let dir = TempDir::new().unwrap();
    let program = dir.path().join("keeper");
    let house = House::open_with(dir.path(), |options| {
        options.keeper.program.clone_from(&program);
    })
    .await;
    house
        .create::<Task>("task", json!({ "command": ["true"] }))
        .await;
    assert_put_off(&house, "task", "no command can be started now: ").await;
    std::os::unix::fs::symlink(keeper().program.canonicalize().unwrap(), &program).unwrap();
    house.until::<Task>("task", has_succeeded).await;
    house.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn hole_8_task_that_was_put_off_is_tried_by_the_next_pathline() {
    let dir = TempDir::new().unwrap();
    let obstacle = dir.path().join("logs/task");
    fs::create_dir_all(obstacle.parent().unwrap()).unwrap();
    fs::write(&obstacle, "no directory").unwrap();
    let house = House::open(dir.path()).await;
    house
        .create::<Task>("task", json!({ "command": ["true"] }))
        .await;
    assert_put_off(&house, "task", "no command can be started now: ").await;
    house.close().await;

    let house = House::open(dir.path()).await;
    assert_put_off(&house, "task", "no command can be started now: ").await;
    fs::remove_file(&obstacle).unwrap();
    house.until::<Task>("task", has_succeeded).await;
    house.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn hole_8_task_whose_keeper_was_killed_runs_again() {
    let dir = TempDir::new().unwrap();
    let house = House::open(dir.path()).await;
    let once = dir.path().join("once");
    // The parent of a command is its keeper.
    let script = format!(
        "mkdir {} || exit 0; kill -9 $PPID; sleep 600",
        once.display()
    );
    let spec = json!({ "command": ["sh", "-c", script] });
    house.create::<Task>("task", spec).await;
    house.until::<Task>("task", has_succeeded).await;
    house.close().await;
}

fn make_room(place: &Path) {
    let mounted = Command::new("mount")
        .args(["-o", "remount,size=8m"])
        .arg(place)
        .status();
    assert!(mounted.expect("there is mount").success());
}

#[tokio::test(flavor = "multi_thread")]
async fn hole_8_task_that_filled_the_disk_succeeds_when_there_is_room() {
    let test = "retries::hole_8_task_that_filled_the_disk_succeeds_when_there_is_room";
    if !is_on_small_disk(test, &[("artifacts", "100k"), ("work", "100k")]) {
        return;
    }
    let here = std::env::current_dir().unwrap();
    let house = House::open(&here).await;
    let large: String = (0..100_000).map(|number| format!("{number}\n")).collect();
    let source = house.source(&[("large", &large)], "main@sha1:abc");
    let unpacks = json!({ "source": source, "command": ["wc", "-c", "large"] });
    house.create::<Task>("unpacks", unpacks).await;
    assert_put_off(&house, "unpacks", "No space left on device").await;
    make_room(&here.join("work"));
    let unpacked = house.until::<Task>("unpacks", has_succeeded).await;
    assert!(text(&unpacked["status"]["logTail"]).starts_with(&large.len().to_string()));

    let packs = json!({
        "command": ["sh", "-c", "mkdir out; head -c 1000000 /dev/urandom > out/noise"],
        "outputs": [{ "name": "out", "directory": "out" }],
    });
    house.create::<Task>("packs", packs).await;
    assert_put_off(&house, "packs", "No space left on device").await;
    make_room(&here.join("artifacts"));
    let packed = house.until::<Task>("packs", has_succeeded).await;
    assert!(text(&packed["status"]["outputs"]["out"]).starts_with("file://"));
    // They cannot be moved to another file system, and go all the same.
    while fs::read_dir(here.join("work")).unwrap().count() > 0 {
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    house.close().await;
}
