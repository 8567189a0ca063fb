//! The objects of a release in an environment.

use serde_json::{Value, json};

use super::{Releasing, told};
use crate::tracked::{SECRET, Seen};

#[tokio::test]
async fn objects_are_those_of_the_environment_and_secrets_have_no_values() {
    let releasing = Releasing::with(&[
        ("dev", json!({"type": "dev"})),
        ("prod", json!({"type": "prod", "namespace": "shop"})),
    ])
    .await;
    let seen = Seen {
        secret: Some(SECRET),
        more: ", in: {prod: {environment: {variable: {SETTING: prod-only}}}}",
        ..Seen::new("one", "sha256:1")
    };
    releasing.release_of("a.b", &seen).await;

    let answer = releasing
        .get("/releases/a.b@1/objects?environment=prod")
        .await;

    assert_eq!(answer.status, 200, "{answer:?}");
    assert_eq!(answer.body["namespace"], "shop");
    assert_eq!(answer.body["release"], 1);
    assert_eq!(answer.body.get("state"), None, "it has not got there");
    let objects = answer.body["objects"].as_array().unwrap();
    let kinds: Vec<&Value> = objects.iter().map(|it| &it["kind"]).collect();
    assert_eq!(kinds, ["Secret", "Workload"]);
    assert_eq!(objects[0]["data"]["a"], "[redacted]");
    assert_eq!(objects[1]["metadata"]["name"], "a-b");
    assert!(objects[1].to_string().contains("prod-only"));
    let dev = releasing
        .get("/releases/a.b@1/objects?environment=dev")
        .await;
    assert_eq!(dev.body["state"], "queued");
    assert!(!dev.body.to_string().contains("prod-only"));
}

#[tokio::test]
async fn objects_of_what_is_not_there_are_refused() {
    let releasing = Releasing::with(&[
        ("dev", json!({"type": "dev"})),
        ("bad", json!({"type": "ha", "soak": "soon"})),
    ])
    .await;
    releasing.release("one", "sha256:1").await;
    for (path, expected) in [
        (
            "/releases/a.b@2/objects?environment=dev",
            (404, "not-found"),
        ),
        (
            "/releases/no.body@1/objects?environment=dev",
            (404, "not-found"),
        ),
        (
            "/releases/a.b@1/objects?environment=prod",
            (404, "not-found"),
        ),
        ("/releases/a.b@1/objects?environment=bad", (409, "conflict")),
        ("/releases/a.b@1/objects", (400, "bad-request")),
        (
            "/releases/a.b@x/objects?environment=dev",
            (400, "bad-request"),
        ),
        (
            "/releases/a.b@/objects?environment=dev",
            (400, "bad-request"),
        ),
        (
            "/releases/a.b@+1/objects?environment=dev",
            (400, "bad-request"),
        ),
        ("/releases/12/objects?environment=dev", (400, "bad-request")),
        (
            "/releases/a.b@1/objects?environment=A",
            (400, "bad-request"),
        ),
    ] {
        assert_eq!(told(&releasing.get(path).await), expected, "{path}");
    }
}
