use axum::body::Body;
use axum::http::{Method, Request};
use serde_json::json;

use crate::tracked::{Seen, Tracked};
use crate::world::Answer;

fn told(answer: &Answer) -> (u16, &str) {
    (answer.status.as_u16(), answer.code())
}

async fn with_one() -> Tracked {
    let tracked = Tracked::new().await;
    tracked.make(json!({})).await;
    tracked
}

#[tokio::test]
async fn h01_list_of_none_is_empty() {
    let tracked = Tracked::new().await;
    let answer = tracked.get("/trackers/").await;
    assert_eq!((answer.status.as_u16(), answer.body), (200, json!([])));
}

#[tokio::test]
async fn h05_list_is_the_same_with_a_slash_and_without() {
    let tracked = with_one().await;
    tracked.make(json!({"id": "B.a"})).await;
    tracked.make(json!({"id": "a.a"})).await;
    let (plain, slash) = (
        tracked.get("/trackers").await,
        tracked.get("/trackers/").await,
    );
    assert_eq!(plain.status, 200);
    assert_eq!(plain.body, slash.body);
    let ids = plain.body.as_array().unwrap().iter();
    let ids: Vec<_> = ids.map(|it| it["id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["B.a", "a.a", "a.b"], "by their bytes");
}

#[tokio::test]
async fn h06_body_of_a_get_is_ignored() {
    let tracked = with_one().await;
    for path in ["/trackers/", "/trackers/a.b"] {
        let answer = tracked.send_raw(Request::get(path), "{}").await;
        assert_eq!(answer.status, 200, "{path}");
    }
}

#[tokio::test]
async fn h07_tracker_is_shown_without_its_token() {
    let tracked = with_one().await;
    let answer = tracked.get("/trackers/a.b").await;
    assert_eq!(answer.status, 200);
    assert_eq!(answer.headers["etag"], "\"1.1\"");
    let shown = answer.body.as_object().unwrap();
    assert!(!shown.contains_key("token"), "{shown:?}");
    let expected = json!({
        "id": "a.b", "group": "a", "name": "b", "repo": "https://github.com/o/r", "sourcePath": "",
        "hasToken": true, "tokenVersion": 1, "generation": 1, "createdBy": "ci", "updatedBy": "ci",
    });
    for (field, value) in expected.as_object().unwrap() {
        assert_eq!(shown.get(field), Some(value), "{field}");
    }
    assert_eq!(shown["status"]["phase"], "ingesting");
    let upper = tracked.get("/trackers/A.B").await;
    assert_eq!(upper.body["id"], "a.b", "however it is spelled");
    let head = tracked.ask(Method::HEAD, "/trackers/a.b").await;
    assert_eq!(head.status, 200);
    assert_eq!(head.headers["etag"], "\"1.1\"");
    assert_eq!(head.body, "");
}

#[tokio::test]
async fn h08_unknown_name_is_not_found() {
    let tracked = with_one().await;
    let answer = tracked.get("/trackers/a.c").await;
    assert_eq!(told(&answer), (404, "not-found"));
}

#[tokio::test]
async fn h09_name_without_a_dot_is_a_bad_name() {
    let tracked = with_one().await;
    assert_eq!(
        told(&tracked.get("/trackers/ab").await),
        (400, "bad-request")
    );
}

#[tokio::test]
async fn h10_name_with_two_dots_is_a_bad_name() {
    let tracked = with_one().await;
    assert_eq!(
        told(&tracked.get("/trackers/a.b.c").await),
        (400, "bad-request")
    );
}

#[tokio::test]
async fn h11_name_is_decoded() {
    let tracked = with_one().await;
    let answer = tracked.get("/trackers/a%2Eb").await;
    assert_eq!(
        (answer.status.as_u16(), &answer.body["id"]),
        (200, &json!("a.b"))
    );
}

#[tokio::test]
async fn h12_name_is_decoded_once() {
    let tracked = with_one().await;
    let answer = tracked.get("/trackers/a%252Eb").await;
    assert_eq!(told(&answer), (400, "bad-request"));
}

#[tokio::test]
async fn h13_there_is_nothing_at_a_name_with_a_slash() {
    let tracked = with_one().await;
    assert_eq!(
        told(&tracked.get("/trackers/a.b/").await),
        (404, "not-found")
    );
}

#[tokio::test]
async fn h14_other_methods_are_told_which_ones_there_are() {
    let tracked = with_one().await;
    let answer = tracked.ask(Method::PATCH, "/trackers/a.b").await;
    assert_eq!(told(&answer), (405, "method-not-allowed"));
    let allow = answer.headers["allow"].to_str().unwrap();
    let mut allowed: Vec<_> = allow.split(',').map(str::trim).collect();
    allowed.sort_unstable();
    assert_eq!(allowed, ["DELETE", "GET", "HEAD", "PUT"]);
    for path in ["/trackers", "/trackers/"] {
        let answer = tracked.ask(Method::DELETE, path).await;
        assert_eq!(answer.status, 405, "{path}");
        let allow = answer.headers["allow"].to_str().unwrap();
        let mut allowed: Vec<_> = allow.split(',').map(str::trim).collect();
        allowed.sort_unstable();
        assert_eq!(allowed, ["GET", "HEAD", "POST"], "{path}");
    }
}

#[tokio::test]
async fn h15_nothing_is_posted_to_a_name() {
    let tracked = with_one().await;
    let answer = tracked.send_raw(Request::post("/trackers/a.b"), Body::empty());
    assert_eq!(told(&answer.await), (405, "method-not-allowed"));
}

/// Returns the message of a condition that holds.
fn message(answer: &Answer, condition: &str) -> String {
    let conditions = answer.body["status"]["conditions"].as_array();
    let conditions = conditions.expect("it is there");
    let found = conditions.iter().find(|it| it["type"] == condition);
    let found = found.unwrap_or_else(|| panic!("no {condition}: {answer:?}"));
    found["message"].as_str().expect("a text").to_owned()
}

#[tokio::test]
async fn condition_about_versions_names_them() {
    let tracked = with_one().await;
    let seen = |tag| Seen {
        tag,
        ..Seen::new("one", "sha256:1")
    };
    tracked.see("a.b", &seen(None)).await;
    let shown = tracked.get("/trackers/a.b").await;
    let waiting = message(&shown, "AwaitingContainer");
    assert!(
        waiting.ends_with(": there is no ghcr.io/a/b:1.x"),
        "{waiting}"
    );
    tracked.see("a.b", &seen(Some("1.3.0"))).await;
    tracked.see("a.b", &seen(Some("1.2.0"))).await;
    let shown = tracked.get("/trackers/a.b").await;
    let regressed = message(&shown, "VersionRegressed");
    let versions =
        ": ghcr.io/a/b has `1.2.0` as the highest version in `1.x`, and `1.3.0` is released";
    assert!(regressed.contains(versions), "{regressed}");
    assert_eq!(shown.body["status"]["lastRelease"]["tag"], "1.3.0");
    tracked.see("a.b", &seen(None)).await;
    let shown = tracked.get("/trackers/a.b").await;
    let gone = message(&shown, "SelectedTagGone");
    let versions = ": ghcr.io/a/b has nothing that `1.x` selects, and `1.3.0` is released";
    assert!(gone.contains(versions), "{gone}");
}

#[tokio::test]
async fn key_that_means_nothing_is_a_warning_and_its_value_is_not_shown() {
    let tracked = with_one().await;
    let seen = Seen {
        more: ", enviroment: {file: {secret: SENTINEL}}",
        ..Seen::new("one", "sha256:1")
    };
    tracked.see("a.b", &seen).await;
    let shown = tracked.get("/trackers/a.b").await;
    let expected = json!([{
        "path": "a.b.enviroment",
        "line": 1,
        "column": 126,
        "message": "`enviroment` means nothing here; did you mean `environment`?",
    }]);
    assert_eq!(shown.body["status"]["warnings"], expected);
    tracked.see("a.b", &Seen::new("one", "sha256:1")).await;
    let shown = tracked.get("/trackers/a.b").await;
    assert_eq!(shown.body["status"].get("warnings"), None);
}
