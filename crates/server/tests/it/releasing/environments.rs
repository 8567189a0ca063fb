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
    assert_eq!(dev["nextTick"], Value::Null, "it is held");
    assert!(mid["nextTick"].is_string(), "{mid}");
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

#[tokio::test]
async fn holds_of_trackers_are_listed_beside_that_of_the_environment() {
    let releasing = Releasing::new().await;
    let hold = json!({"tracker": "A.b", "reason": "broken"});
    releasing.post("/environments/prod/hold", hold).await;
    let prod = &releasing.get("/environments").await.body[1];
    let held = &prod["trackerHolds"][0];
    assert_eq!(
        (&held["tracker"], &held["by"], &held["reason"]),
        (&json!("a.b"), &json!("ci"), &json!("broken"))
    );
    assert!(held["since"].is_string(), "{held}");
    assert_eq!(prod.get("hold"), None);
    assert!(prod["nextTick"].is_string(), "others go on");
    let tracker = releasing.get("/trackers/a.b").await.body;
    let there = &tracker["status"]["environments"][1];
    assert_eq!(there["hold"]["reason"], "broken", "{there}");
    assert_eq!(there.get("nextTick"), None);
    assert_eq!(tracker["status"]["environments"][0].get("hold"), None);
}

#[tokio::test]
async fn next_tick_is_after_freezes_and_there_is_none_while_it_is_held() {
    let until = "2120-01-01T00:00:00Z";
    let freeze = json!({"from": "2020-01-01T00:00:00Z", "until": until});
    let releasing = Releasing::with(&[
        ("dev", json!({"type": "dev"})),
        ("prod", json!({"type": "prod", "freezes": [freeze]})),
    ])
    .await;
    releasing.post("/environments/dev/hold", json!({})).await;
    let body = releasing.get("/environments").await.body;
    assert_eq!(
        (&body[0]["nextTick"], &body[1]["nextTick"]),
        (&Value::Null, &json!(until))
    );
    let tracker = releasing.get("/trackers/a.b").await.body;
    let environments = &tracker["status"]["environments"];
    assert_eq!(environments[0].get("nextTick"), None, "{environments}");
    assert_eq!(environments[1]["nextTick"], until);
}
