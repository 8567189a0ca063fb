//! Answers to why a release is not there yet.

use pathline_release::tracker::SourceProblem;
use serde_json::{Value, json};

use super::{Releasing, told};
use crate::tracked::Seen;

fn sentences(body: &Value) -> Vec<String> {
    let all = body["environments"].as_array().expect("a list").iter();
    all.map(|it| {
        let text = |field: &str| it[field].as_str().unwrap_or("-").to_owned();
        format!(
            "{} {}: {}",
            text("environment"),
            text("state"),
            text("sentence")
        )
    })
    .collect()
}

#[tokio::test]
async fn newest_release_is_told_for_each_environment() {
    let releasing = Releasing::new().await;
    let number = releasing.release("one", "sha256:1").await;
    let why = releasing.get("/trackers/a.b/why").await;
    assert_eq!(why.status, 200, "{why:?}");
    assert_eq!(why.body["tracker"], "a.b");
    assert_eq!(why.body["release"]["number"], 1);
    assert_eq!(why.body["release"]["tag"], "1.0.0");
    let told = sentences(&why.body);
    assert!(
        told[0].starts_with("dev queued: release 1 is queued; `dev` takes it at "),
        "{told:?}"
    );
    assert!(
        told[1].starts_with("prod -: release 1 is queued in `dev`"),
        "{told:?}"
    );
    assert!(why.body["environments"][1]["earliest"].is_string());
    assert_eq!(why.body["environments"][1]["never"], false);
    releasing.deploy("dev", number).await;
    let why = releasing.get("/trackers/A.b/why?environment=dev").await;
    let told = sentences(&why.body);
    assert_eq!(told.len(), 1);
    assert!(
        told[0].starts_with("dev deployed: release 1 is deployed since"),
        "{told:?}"
    );
}

#[tokio::test]
async fn release_is_named_by_its_number_or_its_commit() {
    let releasing = Releasing::new().await;
    for (setting, digest, commit) in [("one", "sha256:1", "1"), ("two", "sha256:2", "2")] {
        let seen = Seen {
            commit: commit.repeat(40),
            revision: Some("a".repeat(40)),
            ..Seen::new(setting, digest)
        };
        releasing.release_of("a.b", &seen).await;
    }
    for (query, number) in [
        ("", 2),
        ("release=1", 1),
        ("commit=1111111", 1),
        ("commit=2222222222", 2),
        ("commit=aaaaaaa", 2),
    ] {
        let why = releasing.get(&format!("/trackers/a.b/why?{query}")).await;
        assert_eq!(why.body["release"]["number"], number, "{query} {why:?}");
    }
    let older = releasing
        .get("/trackers/a.b/why?release=1&environment=dev")
        .await;
    let sentence = older.body["environments"][0]["sentence"].as_str().unwrap();
    assert_eq!(sentence, "release 2 has taken the place of release 1");
    assert_eq!(older.body["environments"][0]["never"], true);
    let missing = releasing.get("/trackers/a.b/why?release=3").await;
    assert_eq!(told(&missing), (404, "not-found"));
    for query in [
        "release=0",
        "release=x",
        "release=1&commit=1111111",
        "commit=12",
        "more=1",
        "release=99999999999999999999",
    ] {
        let wrong = releasing.get(&format!("/trackers/a.b/why?{query}")).await;
        assert_eq!(told(&wrong), (400, "bad-request"), "{query}");
    }
}

#[tokio::test]
async fn tracker_without_a_release_says_what_it_waits_for() {
    let releasing = Releasing::new().await;
    let why = releasing.get("/trackers/a.b/why").await;
    assert_eq!(why.body["environments"], json!([]));
    assert_eq!(why.body.get("release"), None);
    let reasons = why.body["reasons"].as_array().unwrap();
    assert!(!reasons.is_empty(), "{why:?}");
    let seen = Seen {
        tag: None,
        ..Seen::new("one", "sha256:1")
    };
    assert!(releasing.tracked.see("a.b", &seen).await.is_none());
    let why = releasing.get("/trackers/a.b/why?commit=c0ffee0").await;
    let reasons = format!("{}", why.body["reasons"]);
    assert!(
        reasons.contains("there is no release of commit c0ffee0"),
        "{reasons}"
    );
    assert!(reasons.contains("waits for ghcr.io/a/b:1.x"), "{reasons}");
    assert!(reasons.contains("AwaitingContainer"), "{reasons}");
}

#[tokio::test]
async fn configuration_that_waits_is_told_beside_the_newest_release() {
    let releasing = Releasing::new().await;
    releasing.release("one", "sha256:1").await;
    let waiting = Seen::new("two", "sha256:1");
    assert!(releasing.tracked.see("a.b", &waiting).await.is_none());
    let why = releasing.get("/trackers/a.b/why").await;
    assert_eq!(why.body["release"]["number"], 1);
    let reasons = why.body["reasons"][0].as_str().unwrap();
    assert!(reasons.contains("waits for"), "{reasons}");
    let queued = why.body["reasons"][1].as_str().unwrap();
    assert!(queued.starts_with("ConfigQueued: "), "{queued}");
    assert!(queued.contains("`pathline release now a.b`"), "{queued}");
}

#[tokio::test]
async fn conditions_of_the_tracker_are_told_beside_its_release() {
    let releasing = Releasing::new().await;
    releasing.release("one", "sha256:1").await;
    releasing
        .tracked
        .fail("a.b", SourceProblem::ConfigInvalid)
        .await;
    let why = releasing.get("/trackers/a.b/why").await;
    assert_eq!(why.body["release"]["number"], 1);
    let invalid = json!(["ConfigInvalid: the application file is not valid"]);
    assert_eq!(why.body["reasons"], invalid);
}

#[tokio::test]
async fn release_that_has_nowhere_to_go_says_so() {
    let releasing = Releasing::with(&[]).await;
    releasing.release("one", "sha256:1").await;
    let why = releasing.get("/trackers/a.b/why").await;
    assert_eq!(why.body["release"]["number"], 1);
    let reason = why.body["reasons"][0].as_str().unwrap();
    assert!(
        reason.starts_with("NoEnvironment: there is no Environment"),
        "{reason}"
    );
}
