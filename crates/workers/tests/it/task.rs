use pathline_kinds::workers::Task;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::fixture::{House, condition, content_of, is_running, message, text};

fn is_over(task: &Value) -> bool {
    let (status, _) = condition(task, "Succeeded");
    let is_current = task["metadata"]["generation"] == task["status"]["observedGeneration"];
    is_current && matches!(status, "True" | "False")
}

fn shell(script: &str) -> Value {
    json!({ "command": ["sh", "-c", script] })
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_runs_in_its_source_and_publishes_its_outputs() {
    let dir = TempDir::new().unwrap();
    let house = House::open(dir.path()).await;
    let source = house.source(
        &[
            (
                "build.sh",
                "mkdir public; echo $GREETING > public/a; cat word",
            ),
            ("word", "42"),
        ],
        "main@sha1:abc",
    );
    let spec = json!({
        "source": source,
        "command": ["sh", "-c", "sh build.sh > answer; echo $PATHLINE_SOURCE_REVISION; test -x $PATHLINE_BIN"],
        "env": [{ "name": "GREETING", "value": "hello" }],
        "outputs": [{ "name": "answer", "file": "answer" }, { "name": "site", "directory": "public" }],
    });
    let created: Task = house.create("build", spec).await;
    assert_eq!(
        created.spec.timeout.duration().as_secs(),
        600,
        "the default"
    );
    let task = house.until::<Task>("build", is_over).await;
    assert_eq!(
        condition(&task, "Succeeded"),
        ("True", "Succeeded"),
        "{task:#}"
    );
    let status = &task["status"];
    assert_eq!(status["exitCode"], 0);
    assert_eq!(status["source"], serde_json::to_value(&source).unwrap());
    assert_eq!(status["outputs"]["answer"], "42");
    assert_eq!(status["logTail"], "main@sha1:abc\n");
    assert_eq!(
        std::fs::read_to_string(text(&status["logPath"])).unwrap(),
        "main@sha1:abc\n"
    );
    let site = text(&status["outputs"]["site"])
        .strip_prefix("file://")
        .unwrap();
    assert!(
        site.contains("/artifacts/sha256-") && std::path::Path::new(site).exists(),
        "{site}"
    );
    let work = std::fs::read_dir(dir.path().join("work")).unwrap().count();
    assert_eq!(work, 0, "nothing is left of the run");
    house.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failure_keeps_what_the_last_success_produced() {
    let dir = TempDir::new().unwrap();
    let house = House::open(dir.path()).await;
    let mut spec = shell("echo one > out");
    spec["outputs"] = json!([{ "name": "out", "file": "out" }]);
    house.create::<Task>("task", spec).await;
    house.until::<Task>("task", is_over).await;
    let change = json!({ "spec": shell("echo went wrong >&2; exit 3") });
    house.patch::<Task>("task", change).await;
    let task = house.until::<Task>("task", is_over).await;
    assert_eq!(condition(&task, "Succeeded"), ("False", "Failed"));
    assert_eq!(message(&task, "Succeeded"), "exit code 3");
    let status = &task["status"];
    assert_eq!(
        (&status["exitCode"], &status["logTail"]),
        (&json!(3), &json!("went wrong\n"))
    );
    assert_eq!(status["observedGeneration"], 2);
    assert_eq!(status["succeededGeneration"], 1);
    assert_eq!(status["outputs"]["out"], "one");
    house.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_succeed_says_why() {
    let dir = TempDir::new().unwrap();
    let house = House::open(dir.path()).await;
    let mut no_output = shell("true");
    no_output["outputs"] = json!([{ "name": "site", "directory": "public" }]);
    for (name, spec, reason, part) in [
        (
            "program",
            json!({ "command": ["./no-such"] }),
            "CannotStart",
            "No such file",
        ),
        (
            "variable",
            json!({ "command": ["true"], "env": [{ "name": "DEBUG", "value": "a\u{0}b" }] }),
            "CannotStart",
            "the variable `DEBUG` has a NUL",
        ),
        ("output", no_output, "OutputMissing", "`public`"),
        (
            "archive",
            json!({ "command": ["true"], "source": { "url": "file:///nowhere.tar.gz" } }),
            "SourceUnavailable",
            "/nowhere.tar.gz",
        ),
        (
            "scheme",
            json!({ "command": ["true"], "source": { "url": "https://example.org/a.tar.gz" } }),
            "SourceUnavailable",
            "file://",
        ),
    ] {
        house.create::<Task>(name, spec).await;
        let task = house.until::<Task>(name, is_over).await;
        assert_eq!(condition(&task, "Succeeded"), ("False", reason), "{name}");
        assert!(
            message(&task, "Succeeded").contains(part),
            "{}",
            message(&task, "Succeeded")
        );
    }
    house.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_time_out_kills_the_whole_group() {
    let dir = TempDir::new().unwrap();
    let house = House::open(dir.path()).await;
    let note = dir.path().join("grandchild");
    let mut spec = shell(&format!(
        "sh -c 'trap \"\" TERM; echo $$ > {}; while :; do sleep 1; done' & trap '' TERM; wait; wait",
        note.display()
    ));
    spec["timeout"] = "1s".into();
    house.create::<Task>("slow", spec).await;
    let task = house.until::<Task>("slow", is_over).await;
    assert_eq!(condition(&task, "Succeeded"), ("False", "TimedOut"));
    let grandchild = content_of(&note).await;
    assert!(!is_running(&grandchild), "{grandchild} is still there");
    house.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_flood_of_output_is_kept_within_its_limit() {
    let dir = TempDir::new().unwrap();
    let house = House::open(dir.path()).await;
    let mut spec = shell("yes 0123456789 | head -c 8000000; echo the end");
    spec["logLimit"] = "64Ki".into();
    house.create::<Task>("loud", spec).await;
    let task = house.until::<Task>("loud", is_over).await;
    assert_eq!(condition(&task, "Succeeded"), ("True", "Succeeded"));
    assert!(text(&task["status"]["logTail"]).ends_with("the end\n"));
    assert!(text(&task["status"]["logTail"]).len() < 4096);
    let logs = std::path::Path::new(text(&task["status"]["logPath"]))
        .parent()
        .unwrap()
        .to_owned();
    let size: u64 = std::fs::read_dir(logs)
        .unwrap()
        .map(|it| it.unwrap().metadata().unwrap().len())
        .sum();
    assert!(size <= 64 << 10, "{size}");
    house.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_stops_the_run_before_and_a_deletion_stops_the_run() {
    let dir = TempDir::new().unwrap();
    let house = House::open(dir.path()).await;
    let notes = ["first", "second"].map(|name| dir.path().join(name));
    let script =
        |note: &std::path::Path| shell(&format!("echo $$ > {}; exec sleep 600", note.display()));
    house.create::<Task>("long", script(&notes[0])).await;
    let first = content_of(&notes[0]).await;
    house
        .patch::<Task>("long", json!({ "spec": script(&notes[1]) }))
        .await;
    let second = content_of(&notes[1]).await;
    assert!(!is_running(&first), "the run before has ended");
    let task = house
        .until::<Task>("long", |task| task["status"]["observedGeneration"] == 2)
        .await;
    assert_eq!(condition(&task, "Succeeded"), ("Unknown", "Running"));
    assert!(is_running(&second));
    house.delete::<Task>("long").await;
    assert!(!is_running(&second), "{second} outlived its task");
    house.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_finished_task_does_not_run_again_when_its_labels_change_or_pathline_restarts() {
    let dir = TempDir::new().unwrap();
    let count = dir.path().join("count");
    let house = House::open(dir.path()).await;
    house
        .create::<Task>("once", shell(&format!("echo ran >> {}", count.display())))
        .await;
    house.until::<Task>("once", is_over).await;
    house
        .patch::<Task>("once", json!({ "metadata": { "labels": { "a": "b" } } }))
        .await;
    house.close().await;
    let house = House::open(dir.path()).await;
    // A task that comes later has run, so the first one has been looked at.
    house.create::<Task>("later", shell("true")).await;
    house.until::<Task>("later", is_over).await;
    assert_eq!(std::fs::read_to_string(&count).unwrap(), "ran\n");
    house.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn tasks_beyond_the_limit_wait_for_their_turn() {
    let dir = TempDir::new().unwrap();
    let house = House::open(dir.path()).await;
    let gate = dir.path().join("gate");
    let wait = format!("until test -e {}; do sleep 0.1; done", gate.display());
    // More than the fixture lets run at a time.
    for number in 0..4 {
        house
            .create::<Task>(&format!("task-{number}"), shell(&wait))
            .await;
    }
    let reasons = |tasks: &[Task]| {
        let mut reasons: Vec<String> = tasks
            .iter()
            .filter_map(|task| Some(task.status.as_ref()?.conditions.first()?.reason.clone()))
            .collect();
        reasons.sort();
        reasons
    };
    loop {
        let tasks = house
            .api::<Task>()
            .list(&kube::api::ListParams::default())
            .await
            .unwrap();
        let reasons = reasons(&tasks.items);
        assert!(
            reasons.iter().filter(|it| *it == "Running").count() <= 3,
            "{reasons:?}"
        );
        if reasons == ["Running", "Running", "Running", "Waiting"] {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    std::fs::write(gate, "").unwrap();
    for number in 0..4 {
        let task = house
            .until::<Task>(&format!("task-{number}"), is_over)
            .await;
        assert_eq!(condition(&task, "Succeeded").0, "True");
    }
    house.close().await;
}
