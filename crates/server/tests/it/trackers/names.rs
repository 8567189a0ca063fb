use axum::http::Method;
use serde_json::json;

use crate::tracked::{Tracked, details, with};

/// Names as they are in a path, none of which is one.
const PATHS: [&str; 18] = [
    "..%2F..",
    "a.%2E%2E",
    "a..b",
    ".b",
    "a.",
    "a.b%00",
    "%00",
    "a.b%0A",
    "a.b%2F",
    "a%2Fb.c",
    "%E2%80%AEa.b",
    "a.b%E2%80%AE",
    "%D7%90.%D7%91",
    "a%20.b",
    "-a.b",
    "a.b_",
    "a.b%3Fx",
    "a.group",
];

#[tokio::test]
async fn what_is_no_name_is_refused_everywhere() {
    let tracked = Tracked::new().await;
    let body = with(json!({}));
    for name in PATHS {
        let path = format!("/trackers/{name}");
        for method in [Method::GET, Method::PUT, Method::DELETE] {
            let answer = tracked.send(method.clone(), &path, &body).await;
            let told = (answer.status.as_u16(), answer.code());
            assert_eq!(told, (400, "bad-request"), "{method} {name}");
        }
        let poll = tracked.ask(Method::POST, &format!("{path}/poll")).await;
        assert_eq!(poll.status, 400, "{name}");
        let releases = tracked.get(&format!("/releases?tracker={name}")).await;
        assert_eq!(releases.status, 400, "{name}");
    }
    assert_eq!(tracked.get("/trackers").await.body, json!([]));
}

#[tokio::test]
async fn bytes_that_are_no_text_are_refused() {
    let tracked = Tracked::new().await;
    for name in ["%ff", "a.%ff", "a.b%C3"] {
        let answer = tracked.get(&format!("/trackers/{name}")).await;
        let told = (answer.status.as_u16(), answer.code());
        assert_eq!(told, (400, "bad-request"), "{name}");
    }
}

#[tokio::test]
async fn long_name_is_refused_and_not_repeated() {
    let tracked = Tracked::new().await;
    let long = format!("a.{}", "x".repeat(10_000));
    let answer = tracked.get(&format!("/trackers/{long}")).await;
    assert_eq!(answer.status, 400);
    assert!(answer.body.to_string().len() < 1000, "{answer:?}");
    let answer = tracked.post(&with(json!({"id": long}))).await;
    assert_eq!(details(&answer), [("id", "malformed")]);
    assert!(answer.body.to_string().len() < 1000, "{answer:?}");
    let mut body = with(json!({}));
    body["x".repeat(10_000)] = json!("SENTINEL");
    let answer = tracked.post(&body).await;
    assert!(answer.body.to_string().len() < 1000, "{answer:?}");
    let longest = format!("{}.{}", "a".repeat(63), "b".repeat(63));
    tracked.make(json!({"id": longest})).await;
    let shown = tracked.get(&format!("/trackers/{longest}")).await;
    assert_eq!(shown.body["id"], longest);
}

#[tokio::test]
async fn what_is_no_name_makes_no_tracker() {
    let tracked = Tracked::new().await;
    for id in [
        "",
        ".",
        "a",
        "a.b.c",
        "..",
        "a.b\0",
        "\u{202e}a.b",
        "a.\u{5d0}",
        "a b.c",
        "a/b.c",
    ] {
        let answer = tracked.post(&with(json!({"id": id}))).await;
        assert_eq!(details(&answer), [("id", "malformed")], "{id:?}");
    }
}
