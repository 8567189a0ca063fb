//! Bodies of what is done by hand, and what is wrong with them.

use axum::http::{Request, header};
use serde_json::{Value, json};

use super::{Releasing, told};
use crate::tracked::details;

const PROMOTE: &str = "/environments/prod/promote";
const HOLD: &str = "/environments/prod/hold";
const RESUME: &str = "/environments/prod/resume";
const ROLLBACK: &str = "/environments/prod/rollback";
const REQUEST: &str = "/trackers/a.b/release";
const ALL: [&str; 5] = [PROMOTE, HOLD, RESUME, ROLLBACK, REQUEST];

/// A request, its body, and the fields that are wrong in it with their codes.
type Row = (&'static str, Value, &'static [(&'static str, &'static str)]);

#[tokio::test]
async fn wrong_fields_are_told_all_at_once() {
    let releasing = Releasing::new().await;
    let long = "x".repeat(501);
    let table: [Row; 14] = [
        (PROMOTE, json!({}), &[("tracker", "required")]),
        (
            PROMOTE,
            json!({"tracker": "nobody", "release": 0, "now": "yes", "reason": 1, "more": true}),
            &[
                ("tracker", "malformed"),
                ("release", "malformed"),
                ("now", "wrong-type"),
                ("reason", "wrong-type"),
                ("more", "unknown-field"),
            ],
        ),
        (
            PROMOTE,
            json!({"tracker": "a.b", "release": "1"}),
            &[("release", "wrong-type")],
        ),
        (
            PROMOTE,
            json!({"tracker": "a.b", "release": -1}),
            &[("release", "malformed")],
        ),
        (
            PROMOTE,
            json!({"tracker": "a.b", "release": 1.5}),
            &[("release", "malformed")],
        ),
        (
            PROMOTE,
            json!({"tracker": null}),
            &[("tracker", "wrong-type")],
        ),
        (
            PROMOTE,
            json!({"tracker": "a.b", "release": u64::MAX}),
            &[("release", "malformed")],
        ),
        (HOLD, json!({"tracker": "a"}), &[("tracker", "malformed")]),
        (HOLD, json!({"reason": long}), &[("reason", "too-long")]),
        (HOLD, json!({"reason": "a\nb"}), &[("reason", "malformed")]),
        (RESUME, json!({"now": true}), &[("now", "unknown-field")]),
        (
            ROLLBACK,
            json!({"release": []}),
            &[("tracker", "required"), ("release", "wrong-type")],
        ),
        (
            ROLLBACK,
            json!({"tracker": "a.b", "now": true}),
            &[("now", "unknown-field")],
        ),
        (
            REQUEST,
            json!({"tracker": "a.b"}),
            &[("tracker", "unknown-field")],
        ),
    ];
    for (path, body, expected) in table {
        let answer = releasing.post(path, body.clone()).await;
        assert_eq!(details(&answer), expected, "{path} {body}");
    }
    let most = json!({"reason": "ä".repeat(500)});
    assert_eq!(releasing.post(HOLD, most).await.status, 200);
}

#[tokio::test]
async fn what_is_no_object_of_json_is_refused() {
    let releasing = Releasing::new().await;
    for path in ALL {
        for body in [
            "[]",
            "{",
            "null",
            "{\"reason\": \"a\", \"reason\": \"b\"}",
            "\u{1}",
        ] {
            let request = Request::post(path).header(header::CONTENT_TYPE, "application/json");
            let answer = releasing.tracked.send_raw(request, body).await;
            assert_eq!(told(&answer), (400, "bad-request"), "{path} {body}");
        }
        let request = Request::post(path).header(header::CONTENT_TYPE, "text/plain");
        let answer = releasing.tracked.send_raw(request, "{}").await;
        assert_eq!(told(&answer), (415, "not-json"), "{path}");
        let request = Request::post(path).header(header::CONTENT_TYPE, "application/json");
        let large = format!("{{\"reason\": \"{}\"}}", "x".repeat(64 << 10));
        let answer = releasing.tracked.send_raw(request, large).await;
        assert_eq!(told(&answer), (413, "too-large"), "{path}");
    }
}

#[tokio::test]
async fn body_may_be_left_out_where_all_fields_may() {
    let releasing = Releasing::new().await;
    let held = releasing.tracked.send_raw(Request::post(HOLD), "").await;
    assert_eq!(held.status, 200, "{held:?}");
    let resumed = releasing.tracked.send_raw(Request::post(RESUME), "").await;
    assert_eq!(resumed.status, 200, "{resumed:?}");
    let requested = releasing.tracked.send_raw(Request::post(REQUEST), "").await;
    assert_eq!(told(&requested), (409, "conflict"), "nothing waits");
}

#[tokio::test]
async fn unknown_environment_is_not_found_and_those_there_are_are_named() {
    let releasing = Releasing::new().await;
    let body = json!({"tracker": "a.b"});
    for verb in ["promote", "hold", "resume", "rollback"] {
        let answer = releasing
            .post(&format!("/environments/staging/{verb}"), body.clone())
            .await;
        assert_eq!(told(&answer), (404, "not-found"), "{verb}");
        let hint = answer.body["error"]["hint"].as_str().unwrap();
        assert_eq!(hint, "there are `dev`, `prod`", "{verb}");
        let answer = releasing
            .post(&format!("/environments/NO%20NAME/{verb}"), body.clone())
            .await;
        assert_eq!(told(&answer), (400, "bad-request"), "{verb}");
    }
    for path in [
        "/releases/board?environment=staging",
        "/trackers/a.b/why?environment=staging",
        "/trackers/a.b/wait?commit=c0ffee0&environment=staging",
    ] {
        let answer = releasing.get(path).await;
        assert_eq!(told(&answer), (404, "not-found"), "{path}");
        let hint = answer.body["error"]["hint"].as_str().unwrap();
        assert!(hint.contains("`prod`"), "{path} {hint}");
    }
}

#[tokio::test]
async fn unknown_tracker_is_not_found() {
    let releasing = Releasing::new().await;
    let body = json!({"tracker": "no.body"});
    for verb in ["promote", "hold", "resume", "rollback"] {
        let answer = releasing
            .post(&format!("/environments/prod/{verb}"), body.clone())
            .await;
        assert_eq!(told(&answer), (404, "not-found"), "{verb}");
        assert!(answer.message().contains("`no.body`"), "{answer:?}");
    }
    let answer = releasing.post("/trackers/no.body/release", json!({})).await;
    assert_eq!(told(&answer), (404, "not-found"));
    for path in [
        "/trackers/no.body/why",
        "/trackers/no.body/wait?release=1&environment=prod",
        "/releases/board?tracker=no.body",
    ] {
        assert_eq!(
            told(&releasing.get(path).await),
            (404, "not-found"),
            "{path}"
        );
    }
}
