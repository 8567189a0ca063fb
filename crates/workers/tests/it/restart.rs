//! Children of a Pathline that is killed, not stopped.

use std::path::Path;
use std::process::{Command, Stdio};

use pathline_kinds::workers::{Process, Task};
use pathline_testkit::child_of;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::fixture::{House, condition, content_of, is_running};

/// Hangs when it runs for the first time, and succeeds at once afterwards.
const TASK: &str = "
    echo $$ >> $NOTES/task
    test $(wc -l < $NOTES/task) -gt 1 || exec sleep 600
";

/// Starts one grandchild in a session of its own and one without our mark, and looks whether the
/// process before is still there.
const PROCESS: &str = "
    old=$(cat $NOTES/web 2>/dev/null)
    grep -q 'State:.[RSD]' /proc/${old:-none}/status 2>/dev/null && echo yes > $NOTES/overlap
    echo $$ > $NOTES/web
    setsid sh -c 'echo $$ > $NOTES/hidden; exec sleep 600' &
    env -i NOTES=$NOTES sh -c 'echo $$ > $NOTES/unmarked; exec sleep 600' &
    wait
";

/// Runs workers, a task and a process, until they are killed.
async fn run_until_killed(data_dir: &Path) {
    let house = House::open(data_dir).await;
    let spec = |script: &str| {
        let env = json!([{ "name": "NOTES", "value": data_dir }]);
        json!({ "command": ["sh", "-c", script], "env": env })
    };
    house.create::<Task>("interrupted", spec(TASK)).await;
    house.create::<Process>("web", spec(PROCESS)).await;
    house.until::<Process>("web", is_ready).await;
    std::fs::write(data_dir.join("ready"), "yes\n").expect("the data directory is writable");
    std::future::pending::<()>().await;
}

fn is_ready(process: &Value) -> bool {
    condition(process, "Ready").0 == "True"
}

fn parent(pid: &str) -> String {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).expect("it runs");
    let parent = status.lines().find_map(|line| line.strip_prefix("PPid:"));
    parent.expect("everybody has a parent").trim().to_owned()
}

fn signal(name: &str, pids: &[String]) {
    let killed = Command::new("kill")
        .arg(name)
        .args(pids)
        .status()
        .expect("there is kill");
    assert!(killed.success());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_pathline_leaves_nothing_that_the_next_one_does_not_end() {
    let test = "restart::a_killed_pathline_leaves_nothing_that_the_next_one_does_not_end";
    let Some(mut host) = child_of(test) else {
        let here = std::env::current_dir().expect("it is started in the data directory");
        return run_until_killed(&here).await;
    };
    let dir = TempDir::new().unwrap();
    let host = host.current_dir(dir.path()).stdout(Stdio::null());
    let mut host = host.spawn().unwrap();
    content_of(&dir.path().join("ready")).await;
    let mut before = Vec::new();
    for name in ["task", "web", "hidden", "unmarked"] {
        before.push(content_of(&dir.path().join(name)).await);
    }
    // Whoever kills Pathline may well kill the keepers of its commands before they have ended anything.
    let keepers = [parent(&before[0]), parent(&before[1])];
    signal("-STOP", &keepers);
    host.kill().unwrap();
    host.wait().unwrap();
    signal("-KILL", &keepers);
    for pid in &before {
        assert!(
            is_running(pid),
            "a kill of the keepers alone reaches no child"
        );
    }

    let house = House::open(dir.path()).await;
    let again = house
        .until::<Task>("interrupted", |it| condition(it, "Succeeded").0 == "True")
        .await;
    assert_eq!(again["status"]["observedGeneration"], 1);
    let runs = std::fs::read_to_string(dir.path().join("task")).unwrap();
    assert_eq!(runs.lines().count(), 2, "the interrupted task ran again");
    for pid in &before {
        assert!(!is_running(pid), "{pid} is still there");
    }
    let old = before[1].clone();
    let restarted = loop {
        let process = house.until::<Process>("web", is_ready).await;
        let pid = process["status"]["pid"].to_string();
        if pid != old {
            break pid;
        }
    };
    assert!(is_running(&restarted));
    assert!(
        !dir.path().join("overlap").exists(),
        "the old process was there at the same time"
    );
    house.close().await;
    for name in ["web", "hidden", "unmarked"] {
        let pid = content_of(&dir.path().join(name)).await;
        assert!(!is_running(&pid), "{pid} is still there");
    }
}
