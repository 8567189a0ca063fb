use axum::body::Body;
use axum::http::{Method, Request, header};
use serde_json::json;

use crate::tracked::{Tracked, with};
use crate::world::Answer;

fn told(answer: &Answer) -> (u16, &str) {
    (answer.status.as_u16(), answer.code())
}

async fn post_raw(tracked: &Tracked, body: impl Into<Body>) -> Answer {
    let request = Request::post("/trackers").header(header::CONTENT_TYPE, "application/json");
    tracked.send_raw(request, body).await
}

async fn is_empty(tracked: &Tracked) -> bool {
    tracked.get("/trackers").await.body == json!([])
}

#[tokio::test]
async fn h02_tracker_is_made_and_says_where_it_is() {
    let tracked = Tracked::new().await;
    for (path, id) in [("/trackers/", "a.b"), ("/trackers", "a.c")] {
        let body = with(json!({"id": id}));
        let answer = tracked.send(Method::POST, path, &body).await;
        assert_eq!(answer.status, 201, "{answer:?}");
        assert_eq!(answer.headers["location"], format!("/trackers/{id}"));
        assert_eq!(answer.headers["etag"], "\"1.1\"");
        assert_eq!(answer.body.get("token"), None);
        assert_eq!(answer.body["hasToken"], true);
        assert_eq!(answer.body["generation"], 1);
        assert_eq!(answer.body["createdBy"], "ci", "who did it is recorded");
    }
}

#[tokio::test]
async fn h03_tracker_is_made_once() {
    let tracked = Tracked::new().await;
    let first = tracked.make(json!({})).await;
    let again = tracked.post(&with(json!({}))).await;
    assert_eq!(told(&again), (409, "conflict"));
    assert_eq!(tracked.get("/trackers/a.b").await.body, first.body);
}

#[tokio::test]
async fn h04_case_makes_no_second_tracker() {
    let tracked = Tracked::new().await;
    tracked.make(json!({})).await;
    let other = with(json!({"id": "A.B", "repo": "o/other"}));
    let refused = tracked.post(&other).await;
    assert_eq!(told(&refused), (409, "conflict"));
    assert!(refused.message().contains("`a.b`"), "{refused:?}");
    let hint = refused.body["error"]["hint"].as_str().unwrap_or_default();
    assert!(hint.contains("`pathline tracker set a.b`"), "{refused:?}");
    let shown = tracked.get("/trackers/a.b").await;
    assert_eq!(shown.body["repo"], "https://github.com/o/r");
}

#[tokio::test]
async fn tracker_whose_objects_are_those_of_another_is_refused() {
    let tracked = Tracked::new().await;
    tracked.make(json!({"id": "a.b-c"})).await;
    let other = tracked.post(&with(json!({"id": "a-b.c"}))).await;
    assert_eq!(told(&other), (409, "conflict"));
    let message = other.message();
    assert!(message.contains("`a.b-c`"), "{message}");
    assert!(message.contains("`a-b-c`"), "{message}");
    assert_eq!(tracked.get("/trackers/a-b.c").await.status, 404);
}

#[tokio::test]
async fn h16_body_has_to_be_said_to_be_json() {
    let tracked = Tracked::new().await;
    for media in [Some("text/plain"), Some("application/jsonx"), None] {
        let mut request = Request::post("/trackers");
        if let Some(media) = media {
            request = request.header(header::CONTENT_TYPE, media);
        }
        let answer = tracked.send_raw(request, with(json!({})).to_string()).await;
        assert_eq!(told(&answer), (415, "not-json"), "{media:?}");
    }
    assert!(is_empty(&tracked).await);
    for media in ["application/json; charset=utf-8", "Application/JSON"] {
        let request = Request::post("/trackers").header(header::CONTENT_TYPE, media);
        let answer = tracked.send_raw(request, "{}").await;
        assert_eq!(answer.status, 422, "{media}");
    }
}

#[tokio::test]
async fn h17_body_has_to_be_an_object() {
    let tracked = Tracked::new().await;
    let bodies: [&[u8]; 8] = [
        b"[1]",
        b"{",
        b"",
        b"null",
        b"\"tok-SENTINEL\"",
        b"{\"id\": \"\xff\"}",
        b"{} {}",
        b"{\"token\": tok-SENTINEL}",
    ];
    for body in bodies {
        let answer = post_raw(&tracked, body).await;
        let shown = String::from_utf8_lossy(body);
        assert_eq!(told(&answer), (400, "bad-request"), "{shown}");
    }
    let deep = format!("{}{}", "[".repeat(30_000), "]".repeat(30_000));
    assert_eq!(told(&post_raw(&tracked, deep).await), (400, "bad-request"));
    assert!(is_empty(&tracked).await);
}

#[tokio::test]
async fn h18_body_has_at_most_64_kib() {
    let tracked = Tracked::new().await;
    let body = |length: usize| {
        let text = with(json!({})).to_string();
        format!("{text}{}", " ".repeat(length - text.len()))
    };
    let large = post_raw(&tracked, body(65_537)).await;
    assert_eq!(told(&large), (413, "too-large"));
    assert!(large.message().contains("65536"), "{large:?}");
    let chunks = body(65_537).into_bytes();
    let chunks = futures::stream::iter([Ok::<_, std::io::Error>(chunks)]);
    let unannounced = post_raw(&tracked, Body::from_stream(chunks)).await;
    assert_eq!(told(&unannounced), (413, "too-large"));
    assert!(is_empty(&tracked).await);
    assert_eq!(post_raw(&tracked, body(65_536)).await.status, 201);
}

#[tokio::test]
async fn h18_body_that_is_announced_as_too_large_is_not_read() {
    let tracked = Tracked::new().await;
    let request = Request::post("/trackers")
        .header(header::CONTENT_TYPE, "application/json")
        .header(header::CONTENT_LENGTH, "65537");
    let never = futures::stream::pending::<Result<Vec<u8>, std::io::Error>>();
    let answer = tracked.send_raw(request, Body::from_stream(never)).await;
    assert_eq!(told(&answer), (413, "too-large"));
}

#[tokio::test]
async fn h19_key_is_given_once() {
    let tracked = Tracked::new().await;
    let body = r#"{"id":"a.b","id":"a.c","token":"tok-SENTINEL","repo":"o/r","sourcePath":""}"#;
    let answer = post_raw(&tracked, body).await;
    assert_eq!(told(&answer), (400, "bad-request"));
    assert!(is_empty(&tracked).await);
}

#[tokio::test]
async fn name_whose_objects_would_be_those_of_another_is_taken() {
    let tracked = Tracked::new().await;
    tracked.make(json!({"id": "a.b_1"})).await;
    let answer = tracked.post(&with(json!({"id": "a.b-1"}))).await;
    assert_eq!((answer.status.as_u16(), answer.code()), (409, "conflict"));
    assert!(answer.message().contains("`a.b_1`"), "{answer:?}");
    assert!(answer.message().contains("`a-b-1`"), "{answer:?}");
}
