//! Environments in the status of trackers, in lists of releases and in metrics.

use axum::http::Method;
use pathline_ledger::releases::QueueAction;
use pathline_release::queue::Report;
use serde_json::{Value, json};

use super::{Releasing, told};
use crate::tracked::{Seen, Tracked};

fn conditions(tracker: &Value) -> Vec<&str> {
    let all = tracker["status"]["conditions"].as_array().expect("a list");
    all.iter().filter_map(|it| it["type"].as_str()).collect()
}

#[tokio::test]
async fn tracker_tells_its_place_in_each_environment_and_the_next_tick() {
    let releasing = Releasing::new().await;
    releasing.release("one", "sha256:1").await;
    releasing.tick("dev").await;
    releasing
        .report("dev", 1, Report::Failed("it crashes".to_owned()))
        .await;
    let tracker = releasing.get("/trackers/a.b").await.body;
    let environments = &tracker["status"]["environments"];
    assert_eq!(environments[0]["name"], "dev");
    assert_eq!(environments[0]["failed"], 1);
    assert!(environments[0]["nextTick"].is_string(), "{environments}");
    assert_eq!(environments[1]["name"], "prod");
    assert_eq!(environments[1].get("deployed"), None);
    releasing.release("two", "sha256:2").await;
    releasing.deploy("dev", 2).await;
    let tracker = releasing.get("/trackers/a.b").await.body;
    let dev = &tracker["status"]["environments"][0];
    assert_eq!(dev["deployed"], 2);
    assert_eq!(dev.get("failed"), None, "a newer one was deployed");
}

#[tokio::test]
async fn tracker_without_any_environment_says_so() {
    let releasing = Releasing::empty().await;
    releasing.tracked.make(json!({})).await;
    let tracker = releasing.get("/trackers/a.b").await.body;
    assert_eq!(conditions(&tracker), ["NoEnvironment"]);
    let tracked = Tracked::new().await;
    tracked.make(json!({})).await;
    let tracker = tracked.get("/trackers/a.b").await.body;
    assert_eq!(
        conditions(&tracker),
        [""; 0],
        "nobody knows without a cluster"
    );
}

#[tokio::test]
async fn deployment_that_no_blueprint_takes_is_a_condition() {
    let releasing = Releasing::new().await;
    releasing.release("one", "sha256:1").await;
    releasing.tick("dev").await;
    let note = |message: &str| QueueAction::Note {
        environment: "dev".to_owned(),
        release: 1,
        attempt: 0,
        message: Some(message.to_owned()),
    };
    releasing.act(note("2 of 3 pods run")).await;
    assert!(conditions(&releasing.get("/trackers/a.b").await.body).is_empty());
    releasing
        .act(note("NoPath: no blueprint selects the Workload"))
        .await;
    let tracker = releasing.get("/trackers/a.b").await.body;
    assert_eq!(conditions(&tracker), ["NoPath"]);
    let message = tracker["status"]["conditions"][0]["message"]
        .as_str()
        .unwrap();
    assert_eq!(
        message,
        "release 1 in `dev`: no blueprint selects the Workload"
    );
}

#[tokio::test]
async fn releases_of_an_environment_are_listed() {
    let releasing = Releasing::new().await;
    for (setting, digest) in [("one", "sha256:1"), ("two", "sha256:2")] {
        let seen = Seen {
            commit: "1".repeat(40),
            ..Seen::new(setting, digest)
        };
        releasing.release_of("a.b", &seen).await;
    }
    releasing.deploy("dev", 2).await;
    for (query, numbers) in [
        ("environment=dev", vec![2, 1]),
        ("environment=prod", vec![2]),
        ("environment=prod&tracker=a.b", vec![2]),
        ("environment=prod&commit=1111111", vec![2]),
        ("environment=dev&commit=1111111&tracker=a.b", vec![2, 1]),
        ("environment=dev&commit=2222222&tracker=a.b", vec![]),
    ] {
        let answer = releasing.get(&format!("/releases?{query}")).await;
        let items = answer.body["items"].as_array().unwrap().iter();
        let found: Vec<_> = items.filter_map(|it| it["number"].as_u64()).collect();
        assert_eq!(found, numbers, "{query}");
    }
    let unknown = releasing.get("/releases?environment=nowhere").await;
    assert_eq!(told(&unknown), (404, "not-found"));
    let hint = unknown.body["error"]["hint"].as_str().unwrap();
    assert_eq!(hint, "there are `dev`, `prod`");
    let wrong = releasing.get("/releases?environment=A").await;
    assert_eq!(told(&wrong), (400, "bad-request"));
}

#[tokio::test]
async fn metrics_tell_how_old_the_queue_of_each_environment_is() {
    let releasing = Releasing::new().await;
    let line = "pathline_release_queue_age_seconds{environment=\"dev\"}";
    let text = async || {
        let answer = releasing.tracked.ask(Method::GET, "/metrics").await;
        answer.body.as_str().expect("a text").to_owned()
    };
    assert!(!text().await.contains(line));
    releasing.release("one", "sha256:1").await;
    assert!(text().await.contains(line), "{}", text().await);
    releasing.tick("dev").await;
    assert!(!text().await.contains(line), "nothing is queued any more");
}

#[tokio::test]
async fn environment_that_was_removed_is_no_place_of_a_tracker() {
    let releasing = Releasing::new().await;
    releasing.release("one", "sha256:1").await;
    releasing.deploy("dev", 1).await;
    releasing.remove_environment("dev").await;
    let tracker = releasing.get("/trackers/a.b").await.body;
    let environments = tracker["status"]["environments"].as_array().unwrap();
    let names: Vec<_> = environments.iter().map(|it| &it["name"]).collect();
    assert_eq!(names, ["prod"]);
    let listed = releasing.get("/releases?environment=dev").await;
    assert_eq!(listed.body["items"][0]["number"], 1, "its releases stay");
}

#[tokio::test]
async fn release_was_replaced_by_the_next_one_that_was_deployed() {
    let releasing = Releasing::new().await;
    for (setting, digest) in [
        ("one", "sha256:1"),
        ("two", "sha256:2"),
        ("three", "sha256:3"),
    ] {
        let number = releasing.release(setting, digest).await;
        releasing.deploy("dev", number).await;
    }
    let list = releasing.get("/releases?environment=dev").await;
    let replaced = list.body["items"].as_array().unwrap().iter();
    let replaced: Vec<_> = replaced
        .map(|it| it["entries"][0]["replacedBy"].as_u64())
        .collect();
    assert_eq!(replaced, [None, Some(3), Some(2)]);
    let why = releasing
        .get("/trackers/a.b/why?release=1&environment=dev")
        .await;
    assert_eq!(
        why.body["environments"][0]["sentence"],
        "release 1 was deployed; release 2 has replaced it"
    );
}
