//! Environments, listed.

use axum::http::Method;
use pathline_ledger::Permissions;
use serde_json::{Value, json};

use super::{Releasing, told};
use crate::tracked::Tracked;
use crate::world::World;

fn names(body: &Value) -> Vec<&str> {
    let all = body.as_array().expect("a list").iter();
    all.filter_map(|it| it["name"].as_str()).collect()
}

#[tokio::test]
async fn environments_are_listed_in_their_order_with_all_that_lets_releases_through() {
    let frozen = json!({"from": "2020-01-01T00:00:00Z", "until": "2120-01-01T00:00:00Z", "reason": "for ever"});
    let releasing = Releasing::with(&[
        ("prod", json!({"type": "prod", "soak": "1h", "accepts": "minor", "onFailure": "restore", "freezes": [frozen],
            "releaseFrequency": {"hour": 9, "minute": 0}, "timeZone": "Europe/Berlin", "namespace": "shop"})),
        ("dev", json!({"type": "dev"})),
        ("mid", json!({"position": 200, "promotion": "manual"})),
    ])
    .await;
    releasing.release("one", "sha256:1").await;
    let held = releasing
        .post("/environments/dev/hold", json!({"reason": "a fair"}))
        .await;
    assert_eq!(held.status, 200, "{held:?}");

    let body = releasing.get("/environments").await.body;

    assert_eq!(names(&body), ["dev", "mid", "prod"]);
    let (dev, mid, prod) = (&body[0], &body[1], &body[2]);
    assert_eq!(dev["type"], "dev");
    assert_eq!(dev["position"], 100);
    assert_eq!(dev["namespace"], "dev");
    assert_eq!(dev["releaseFrequency"], json!({}));
    assert_eq!(
        (&dev["timeZone"], &dev["promotion"], &dev["soak"]),
        (&json!("UTC"), &json!("auto"), &json!("0s"))
    );
    assert_eq!(
        (&dev["readyTimeout"], &dev["onFailure"]),
        (&json!("15m"), &json!("keep"))
    );
    assert_eq!(
        (&dev["hold"]["by"], &dev["hold"]["reason"]),
        (&json!("ci"), &json!("a fair"))
    );
    assert_eq!(
        dev["counts"],
        json!({"queued": 1, "held": 0, "deploying": 0})
    );
    assert!(dev["nextTick"].is_string(), "{dev}");
    assert_eq!(mid["position"], 200);
    assert_eq!(mid["promotion"], "manual");
    assert_eq!(mid.get("type"), None);
    assert_eq!(prod["frozen"]["reason"], "for ever");
    assert_eq!(prod["freezes"].as_array().map(Vec::len), Some(1));
    assert_eq!(prod["accepts"], "minor");
    assert_eq!(prod["namespace"], "shop");
    assert_eq!(prod.get("refused"), None);
}

#[tokio::test]
async fn environment_that_cannot_be_used_says_why_and_keeps_its_place() {
    let releasing = Releasing::with(&[
        ("dev", json!({"type": "dev"})),
        ("ha", json!({"type": "ha", "timeZone": "Europe/Nowhere"})),
        ("prod", json!({"type": "prod"})),
        ("twin", json!({"type": "prod", "namespace": "prod"})),
        ("lost", json!({})),
    ])
    .await;
    let body = releasing.get("/environments").await.body;
    assert_eq!(names(&body), ["dev", "ha", "prod", "twin", "lost"]);
    let reasons: Vec<_> = body
        .as_array()
        .unwrap()
        .iter()
        .map(|it| &it["refused"]["reason"])
        .collect();
    assert_eq!(
        reasons,
        [
            &Value::Null,
            &json!("Invalid"),
            &Value::Null,
            &json!("NamespaceTaken"),
            &json!("Invalid")
        ]
    );
    assert!(
        body[1]["refused"]["message"]
            .as_str()
            .unwrap()
            .contains("Europe/Nowhere")
    );
    assert_eq!(body[1]["nextTick"], Value::Null);
    releasing.release("one", "sha256:1").await;
    let answer = releasing
        .post(
            "/environments/ha/promote",
            json!({"tracker": "a.b", "now": true}),
        )
        .await;
    assert_eq!(told(&answer), (409, "conflict"));
    assert!(answer.message().contains("Europe/Nowhere"), "{answer:?}");
    let answer = releasing
        .post("/environments/ha/rollback", json!({"tracker": "a.b"}))
        .await;
    assert_eq!(told(&answer), (409, "conflict"));
}

#[tokio::test]
async fn cluster_without_the_kind_has_no_environment() {
    let world = World::with_seal_key().await.with_bare_cluster().await;
    let writer = world.token("ci", Permissions::WRITE).await;
    let tracked = Tracked { world, writer };
    let answer = tracked.get("/environments").await;
    assert_eq!((answer.status.as_u16(), answer.body), (200, json!([])));
    let nothing = json!({});
    let answer = tracked.send(Method::POST, "/environments/prod/hold", &nothing);
    let answer = answer.await;
    assert_eq!(told(&answer), (404, "not-found"));
    let hint = answer.body["error"]["hint"].as_str().unwrap();
    assert!(hint.contains("there is none"), "{hint}");
}

#[tokio::test]
async fn nothing_is_known_of_environments_without_a_cluster() {
    let tracked = Tracked::new().await;
    let answer = tracked.get("/environments").await;
    assert_eq!(told(&answer), (503, "unavailable"));
}
