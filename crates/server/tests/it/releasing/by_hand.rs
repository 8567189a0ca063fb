//! Releases at once, promotions and holds.

use pathline_ledger::releases::What;
use pathline_release::queue::Report;
use pathline_release::tracker::SourceProblem;
use serde_json::{Value, json};

use super::{Releasing, told};
use crate::tracked::Seen;

async fn with_manual_prod() -> Releasing {
    Releasing::with(&[
        ("dev", json!({"type": "dev"})),
        ("prod", json!({"type": "prod", "promotion": "manual"})),
    ])
    .await
}

/// Returns who has moved a release to a state, and why.
async fn mover(releasing: &Releasing, state: &str) -> (Option<String>, Option<String>) {
    let releases = releasing.tracked.world.ledger.releases();
    let changes = releases.changes(0, 1000).await.expect("a ledger");
    let mut moved = changes.into_iter().rev().filter_map(|it| match it.what {
        What::Moved(moved) if moved.to.as_str() == state => Some((moved.by, moved.reason)),
        _ => None,
    });
    moved.next().expect("it has moved")
}

#[tokio::test]
async fn configuration_that_waits_is_released_at_once_and_who_wanted_it_is_recorded() {
    let releasing = Releasing::new().await;
    releasing.release("one", "sha256:1").await;
    let waiting = Seen::new("two", "sha256:1");
    assert!(releasing.tracked.see("a.b", &waiting).await.is_none());

    let formed = releasing
        .post("/trackers/a.b/release", json!({"reason": "it cannot wait"}))
        .await;

    assert_eq!(formed.status, 201, "{formed:?}");
    let id = formed.body["id"].as_str().unwrap();
    assert_eq!(formed.headers["location"], format!("/releases/{id}"));
    assert_eq!(formed.body["cause"], "requested");
    assert_eq!(formed.body["by"], "ci");
    assert_eq!(formed.body["reason"], "it cannot wait");
    assert_eq!(formed.body["entries"][0]["state"], "queued");
    assert_eq!(
        releasing.get(&format!("/releases/{id}")).await.body["by"],
        "ci"
    );
    let again = releasing.post("/trackers/a.b/release", json!({})).await;
    assert_eq!(told(&again), (409, "conflict"));
    assert!(
        again.message().contains("no configuration waits"),
        "{again:?}"
    );
}

#[tokio::test]
async fn configuration_that_selects_another_image_names_the_tag_that_it_waits_for() {
    let releasing = Releasing::new().await;
    releasing.release("one", "sha256:1").await;
    let waiting = Seen {
        more: ", component: other",
        tag: None,
        ..Seen::new("two", "sha256:1")
    };
    assert!(releasing.tracked.see("a.b", &waiting).await.is_none());
    let answer = releasing.post("/trackers/a.b/release", json!({})).await;
    assert_eq!(told(&answer), (409, "conflict"));
    assert!(answer.message().contains("`1.x`"), "{answer:?}");
}

#[tokio::test]
async fn promotion_queues_what_is_held_and_who_did_it_is_recorded() {
    let releasing = with_manual_prod().await;
    let number = releasing.release("one", "sha256:1").await;
    releasing.deploy("dev", number).await;
    assert_eq!(releasing.state("prod", number).await, "held");

    let body = json!({"tracker": "A.B", "reason": "approved"});
    let promoted = releasing.post("/environments/prod/promote", body).await;

    assert_eq!(promoted.status, 200, "{promoted:?}");
    let moved = json!([{"environment": "prod", "release": 1, "from": "held", "to": "queued"}]);
    assert_eq!(promoted.body, json!({"transitions": moved}));
    assert_eq!(releasing.state("prod", number).await, "queued");
    let approved = (Some("ci".to_owned()), Some("approved".to_owned()));
    assert_eq!(mover(&releasing, "queued").await, approved);
    let again = releasing
        .post(
            "/environments/prod/promote",
            json!({"tracker": "a.b", "release": 1}),
        )
        .await;
    assert_eq!(told(&again), (409, "conflict"));
    assert!(again.message().contains("release 1 is queued"), "{again:?}");
    let unknown = releasing
        .post(
            "/environments/prod/promote",
            json!({"tracker": "a.b", "release": 9}),
        )
        .await;
    assert_eq!(told(&unknown), (404, "not-found"));
}

#[tokio::test]
async fn promotion_now_deploys_without_a_tick_unless_the_environment_is_stopped() {
    let releasing = with_manual_prod().await;
    let number = releasing.release("one", "sha256:1").await;
    releasing.deploy("dev", number).await;
    let now = json!({"tracker": "a.b", "now": true});
    releasing
        .post("/environments/prod/hold", json!({"reason": "a fair"}))
        .await;
    let stopped = releasing
        .post("/environments/prod/promote", now.clone())
        .await;
    assert_eq!(told(&stopped), (409, "conflict"));
    assert!(stopped.message().contains("a fair"), "{stopped:?}");
    releasing.post("/environments/prod/resume", json!({})).await;
    let promoted = releasing.post("/environments/prod/promote", now).await;
    assert_eq!(
        promoted.body["transitions"][0]["to"], "deploying",
        "{promoted:?}"
    );
}

#[tokio::test]
async fn release_that_has_failed_is_tried_again() {
    let releasing = Releasing::new().await;
    let number = releasing.release("one", "sha256:1").await;
    releasing.tick("dev").await;
    releasing
        .report("dev", number, Report::Failed("it crashes".to_owned()))
        .await;
    assert_eq!(releasing.state("dev", number).await, "failed");
    let promoted = releasing
        .post("/environments/dev/promote", json!({"tracker": "a.b"}))
        .await;
    assert_eq!(
        promoted.body["transitions"][0]["to"], "queued",
        "{promoted:?}"
    );
}

#[tokio::test]
async fn environment_is_held_as_a_whole_until_it_is_resumed() {
    let releasing = Releasing::new().await;
    let number = releasing.release("one", "sha256:1").await;
    let first = releasing
        .post("/environments/dev/hold", json!({"reason": "a fair"}))
        .await;
    assert_eq!(first.body["hold"]["by"], "ci");
    assert_eq!(first.body.get("tracker"), None);
    let second = releasing
        .post("/environments/dev/hold", json!({"reason": "two fairs"}))
        .await;
    assert_eq!(second.body["hold"]["reason"], "two fairs");
    assert_eq!(second.body["hold"]["since"], first.body["hold"]["since"]);
    assert_eq!(first.body.get("replaced"), None);
    assert_eq!(second.body["replaced"], first.body["hold"]);
    releasing.tick("dev").await;
    assert_eq!(releasing.state("dev", number).await, "queued");

    let resumed = releasing.post("/environments/dev/resume", json!({})).await;

    assert_eq!(resumed.body["hold"]["reason"], "two fairs", "{resumed:?}");
    releasing.tick("dev").await;
    assert_eq!(releasing.state("dev", number).await, "deploying");
    let again = releasing.post("/environments/dev/resume", json!({})).await;
    assert_eq!(told(&again), (409, "conflict"));
    assert!(again.message().contains("not held"), "{again:?}");
}

#[tokio::test]
async fn one_tracker_is_held_and_the_others_go_on() {
    let releasing = Releasing::new().await;
    releasing.tracked.make(json!({"id": "a.c"})).await;
    releasing.release("one", "sha256:1").await;
    releasing
        .release_of("a.c", &Seen::new("one", "sha256:2"))
        .await;
    let body = json!({"tracker": "a.b", "reason": "broken"});
    let held = releasing.post("/environments/dev/hold", body).await;
    assert_eq!(held.body["tracker"], "a.b", "{held:?}");
    assert_eq!(held.body["hold"]["reason"], "broken");
    let body = json!({"tracker": "a.b", "reason": "broken"});
    let again = releasing.post("/environments/dev/hold", body).await;
    assert_eq!(again.body["replaced"]["reason"], "broken", "{again:?}");
    releasing.tick("dev").await;
    let board = releasing.get("/releases/board?environment=dev").await.body;
    let states: Vec<&Value> = board["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| &it["environments"][0]["state"])
        .collect();
    assert_eq!(states, ["queued", "deploying"]);
    let body = json!({"tracker": "a.b"});
    let resumed = releasing
        .post("/environments/dev/resume", body.clone())
        .await;
    assert_eq!(resumed.body["hold"]["reason"], "broken", "{resumed:?}");
    let again = releasing.post("/environments/dev/resume", body).await;
    assert_eq!(told(&again), (409, "conflict"));
}

#[tokio::test]
async fn holds_are_told_by_the_stream_of_changes() {
    let releasing = Releasing::new().await;
    releasing
        .post("/environments/dev/hold", json!({"reason": "a fair"}))
        .await;
    let releases = releasing.tracked.world.ledger.releases();
    let changes = releases.changes(0, 1000).await.expect("a ledger");
    let held = changes
        .iter()
        .any(|it| matches!(&it.what, What::Held(held) if held.by == "ci"));
    assert!(held, "{changes:?}");
}

#[tokio::test]
async fn promotion_of_what_is_queued_names_what_stops_it() {
    let releasing = Releasing::new().await;
    releasing.release("one", "sha256:1").await;
    let body = json!({"tracker": "a.b", "reason": "broken"});
    releasing.post("/environments/dev/hold", body).await;
    for body in [
        json!({"tracker": "a.b"}),
        json!({"tracker": "a.b", "release": 1}),
    ] {
        let refused = releasing.post("/environments/dev/promote", body).await;
        assert_eq!(told(&refused), (409, "conflict"));
        let message = refused.message();
        let stopped = "release 1 is queued in `dev`, and `a.b` is held by ci since ";
        assert!(message.starts_with(stopped), "{message}");
        assert!(message.ends_with(" in `dev`: broken"), "{message}");
    }
}

#[tokio::test]
async fn request_names_what_keeps_a_configuration_from_being_known() {
    let releasing = Releasing::new().await;
    releasing.release("one", "sha256:1").await;
    releasing
        .tracked
        .fail("a.b", SourceProblem::ConfigInvalid)
        .await;
    let refused = releasing.post("/trackers/a.b/release", json!({})).await;
    assert_eq!(told(&refused), (409, "conflict"));
    assert_eq!(
        refused.message(),
        "no configuration waits; ConfigInvalid: the application file is not valid"
    );
}
