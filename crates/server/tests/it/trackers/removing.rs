use axum::http::{Method, Request};
use serde_json::json;

use crate::tracked::{Seen, Tracked};
use crate::world::Answer;

fn told(answer: &Answer) -> (u16, &str) {
    (answer.status.as_u16(), answer.code())
}

#[tokio::test]
async fn h42_deleted_tracker_can_be_made_again_and_begins_anew() {
    let tracked = Tracked::new().await;
    tracked.make(json!({})).await;
    for (setting, digest) in [("one", "sha256:1"), ("two", "sha256:2")] {
        tracked.see("a.b", &Seen::new(setting, digest)).await;
    }
    let uid = tracked.stored("a.b").await.uid;
    let deleted = tracked.ask(Method::DELETE, "/trackers/a.b").await;
    assert_eq!((deleted.status.as_u16(), deleted.body), (204, json!("")));
    let again = tracked.ask(Method::DELETE, "/trackers/a.b").await;
    assert_eq!(told(&again), (404, "not-found"));
    assert_eq!(tracked.get("/trackers/a.b").await.status, 404);
    let made = tracked.make(json!({})).await;
    assert_eq!(made.body["status"].get("lastRelease"), None);
    assert_ne!(tracked.stored("a.b").await.uid, uid);
    let formed = tracked.see("a.b", &Seen::new("one", "sha256:1")).await;
    assert_eq!(formed.unwrap().release.number, 1);
    let releases = tracked.get("/releases?tracker=a.b").await.body;
    let numbers = releases["items"].as_array().unwrap().iter();
    let numbers: Vec<_> = numbers.map(|it| it["number"].as_u64().unwrap()).collect();
    assert_eq!(numbers, [1, 2, 1], "those of the deleted one stay");
}

#[tokio::test]
async fn body_of_a_deletion_is_ignored() {
    let tracked = Tracked::new().await;
    tracked.make(json!({})).await;
    let answer = tracked
        .send_raw(Request::delete("/trackers/a.b"), "{}")
        .await;
    assert_eq!(answer.status, 204);
}

#[tokio::test]
async fn who_did_it_is_recorded() {
    let tracked = Tracked::new().await;
    let other = tracked
        .world
        .token("ops", pathline_ledger::Permissions::WRITE);
    let ops = Tracked {
        writer: other.await,
        ..tracked
    };
    ops.make(json!({})).await;
    let polled = ops.ask(Method::POST, "/trackers/a.b/poll").await;
    assert_eq!(polled.status, 202);
    ops.ask(Method::DELETE, "/trackers/a.b").await;
    let changes = ops.world.ledger.trackers().changes(0, 10).await.unwrap();
    let what: Vec<_> = changes.iter().map(|it| format!("{:?}", it.what)).collect();
    let expected = ["Created", "Wanted", "Deleted"].map(|it| format!("{it} {{ by: \"ops\" }}"));
    assert_eq!(what, expected);
    let gone = ops.ask(Method::POST, "/trackers/a.b/poll").await;
    assert_eq!(told(&gone), (404, "not-found"));
}
