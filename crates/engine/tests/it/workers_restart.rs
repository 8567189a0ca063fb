//! What happens to children when Pathline is killed, not stopped.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use pathline_engine::workers::{Process, Task};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::workers_fixture::{House, condition, content_of, is_running};

/// Tells the test binary, started by itself, where to play Pathline.
const DATA_DIR: &str = "PATHLINE_TEST_DATA_DIR";

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

/// Not a test of its own: the Pathline that is killed.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "started by the test below, in a process of its own"]
async fn host() {
    let Some(data_dir) = std::env::var_os(DATA_DIR) else {
        return;
    };
    let data_dir = Path::new(&data_dir);
    let house = House::open(data_dir).await;
    let spec = |script: &str| {
        let env = json!([{ "name": "NOTES", "value": data_dir }]);
        json!({ "command": ["sh", "-c", script], "env": env })
    };
    house.create::<Task>("interrupted", spec(TASK)).await;
    house.create::<Process>("web", spec(PROCESS)).await;
    house.until::<Process>("web", is_ready).await;
    println!("the process runs");
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
    let dir = TempDir::new().unwrap();
    let mut host = Command::new(std::env::current_exe().unwrap())
        .args([
            "workers_restart::host",
            "--exact",
            "--ignored",
            "--nocapture",
        ])
        .env(DATA_DIR, dir.path())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut output = BufReader::new(host.stdout.take().unwrap())
        .lines()
        .map_while(Result::ok);
    assert!(output.any(|line| line.contains("the process runs")));
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
