use serde_json::json;

use super::*;

const FIRST: &str = "1111111111111111111111111111111111111111";
const SECOND: &str = "2222222222222222222222222222222222222222";
const MANIFEST: &str = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";

fn mk_stamped(stage: Stage, spec: &Value, mut status: Value) -> Value {
    status["observedGeneration"] = json!(1);
    json!({
        "kind": stage.kind(),
        "metadata": {
            "name": format!("hello-{}", stage.resource()),
            "generation": 1,
            "labels": {"carto.run/resource-name": stage.resource()},
        },
        "spec": spec,
        "status": status,
    })
}

fn mk_revision(commit: &str) -> Value {
    json!(format!("main@sha1:{commit}"))
}

fn mk_fetched(commit: &str) -> Value {
    mk_stamped(
        Stage::Fetched,
        &json!({}),
        json!({"artifact": {"revision": mk_revision(commit)}}),
    )
}

/// A task whose last success was on `good` and whose newest run, on `tried`, ended with `succeeded`.
fn mk_task(stage: Stage, tried: &str, good: &str, succeeded: &str) -> Value {
    let status = json!({
        "source": {"revision": mk_revision(good)},
        "conditions": [{"type": "Succeeded", "status": succeeded, "reason": "Exited", "message": "exit code 1"}],
        "logTail": "FAIL  message.txt is empty",
        "logPath": "/data/logs/hello-test.log",
    });
    mk_stamped(
        stage,
        &json!({"source": {"revision": mk_revision(tried)}}),
        status,
    )
}

fn mk_written(commit: &str, ready: &str) -> Value {
    let status = json!({"commit": MANIFEST, "conditions": [{"type": "Ready", "status": ready}]});
    let spec = json!({"files": {"site.yaml": format!("image: file:///x:{commit}@sha256:0a\n")}});
    mk_stamped(Stage::Written, &spec, status)
}

fn mk_running(manifest: &str, ready: &str) -> Value {
    let status = json!({
        "running": {"source": {"revision": mk_revision(manifest)}},
        "conditions": [{"type": "Ready", "status": ready}],
    });
    mk_stamped(Stage::Running, &json!({}), status)
}

fn following(commit: &str, objects: Vec<Value>) -> Story {
    let mut story = Story::default();
    story.follow(commit);
    objects.into_iter().for_each(|object| story.see(object));
    story
}

fn stages(news: &[News]) -> Vec<Stage> {
    news.iter()
        .map(|news| match news {
            News::Reached { stage, .. } | News::Failed { stage, .. } => *stage,
            News::Overtaken { by } => panic!("overtaken by {by}"),
        })
        .collect()
}

#[test]
fn stations_are_told_once_and_in_order() {
    let mut story = following(FIRST, vec![mk_fetched(FIRST)]);
    assert_eq!(stages(&story.news()), [Stage::Fetched]);
    story.see(mk_task(Stage::Built, FIRST, FIRST, "True"));
    assert_eq!(
        stages(&story.news()),
        [Stage::Tested, Stage::Built],
        "building implies tested"
    );
    assert_eq!(story.news(), []);
    assert_eq!(story.next(), Some(Stage::Written));
}

#[test]
fn last_success_of_an_older_commit_is_not_ours() {
    let mut story = following(
        SECOND,
        vec![
            mk_fetched(SECOND),
            mk_task(Stage::Tested, SECOND, FIRST, "Unknown"),
        ],
    );
    assert_eq!(stages(&story.news()), [Stage::Fetched]);
}

#[test]
fn written_needs_our_commit_in_a_manifest_that_is_pushed() {
    assert!(!following(SECOND, vec![mk_written(FIRST, "True")]).is_at(Stage::Written));
    let mut unpushed = following(FIRST, vec![mk_written(FIRST, "False")]);
    assert_eq!(unpushed.news(), []);
    let mut pushed = following(FIRST, vec![mk_written(FIRST, "True")]);
    assert_eq!(stages(&pushed.news()).last(), Some(&Stage::Written));
}

#[test]
fn condition_about_an_older_spec_does_not_count() {
    let mut stale = mk_written(FIRST, "True");
    stale["metadata"]["generation"] = json!(2);
    assert_eq!(following(FIRST, vec![stale]).news(), []);
}

#[test]
fn running_means_the_manifest_commit_of_ours_and_ready() {
    let with = |process| following(FIRST, vec![mk_written(FIRST, "True"), process]).news();
    assert_eq!(
        stages(&with(mk_running(MANIFEST, "True"))).last(),
        Some(&Stage::Running)
    );
    assert_eq!(
        stages(&with(mk_running(MANIFEST, "False"))).last(),
        Some(&Stage::Written)
    );
    assert_eq!(
        stages(&with(mk_running(FIRST, "True"))).last(),
        Some(&Stage::Written)
    );
}

#[test]
fn failed_task_is_told_with_its_log() {
    let mut story = following(
        SECOND,
        vec![
            mk_fetched(SECOND),
            mk_task(Stage::Tested, SECOND, FIRST, "False"),
        ],
    );
    let news = story.news();
    let Some(News::Failed {
        stage: Stage::Tested,
        trouble,
    }) = news.last()
    else {
        panic!("no failure in {news:?}")
    };
    assert_eq!(trouble.object, "Task/hello-test");
    assert_eq!(trouble.message, "Succeeded is False: Exited exit code 1");
    assert_eq!(trouble.log_tail, "FAIL  message.txt is empty");
    assert_eq!(
        trouble.log_path.as_deref(),
        Some("/data/logs/hello-test.log")
    );
}

#[test]
fn failure_on_an_older_commit_is_not_ours() {
    let mut story = following(
        SECOND,
        vec![
            mk_fetched(SECOND),
            mk_task(Stage::Tested, FIRST, FIRST, "False"),
        ],
    );
    assert_eq!(stages(&story.news()), [Stage::Fetched]);
}

#[test]
fn commit_is_overtaken_by_a_newer_one_only_after_it_was_fetched() {
    let mut story = following(SECOND, vec![mk_fetched(FIRST)]);
    assert_eq!(story.news(), []);
    story.see(mk_fetched(SECOND));
    story.news();
    story.see(mk_fetched(FIRST));
    assert_eq!(
        story.news(),
        [News::Overtaken {
            by: FIRST.to_owned()
        }]
    );
}

#[test]
fn station_without_an_object_is_explained_by_its_owner() {
    let mut story = following(FIRST, vec![]);
    assert_eq!(
        story.trouble(Stage::Fetched).message,
        "the Workload is not there"
    );
    story.see(json!({
        "kind": "Workload",
        "metadata": {"name": "hello"},
        "status": {"conditions": [
            {"type": "SupplyChainReady", "status": "False", "reason": "SupplyChainNotFound", "message": "none fits"},
        ]},
    }));
    let trouble = story.trouble(Stage::Tested);
    assert_eq!(trouble.object, "Workload/hello");
    assert_eq!(
        trouble.message,
        "SupplyChainReady is False: SupplyChainNotFound none fits"
    );
}

#[test]
fn following_another_commit_starts_from_the_beginning() {
    let mut story = following(
        FIRST,
        vec![mk_written(FIRST, "True"), mk_running(MANIFEST, "True")],
    );
    story.news();
    assert_eq!(story.next(), None);
    story.follow(SECOND);
    assert_eq!(story.news(), []);
    assert_eq!(story.next(), Some(Stage::Fetched));
}
