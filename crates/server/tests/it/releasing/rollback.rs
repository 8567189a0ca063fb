//! Rollbacks.

use serde_json::json;

use super::{Releasing, told};

/// Two releases, one after the other, in both environments.
async fn with_two() -> Releasing {
    let releasing = Releasing::new().await;
    for (setting, digest) in [("one", "sha256:1"), ("two", "sha256:2")] {
        let number = releasing.release(setting, digest).await;
        releasing.deploy("dev", number).await;
        releasing.deploy("prod", number).await;
    }
    releasing
}

#[tokio::test]
async fn rollback_is_a_release_with_old_content_that_stays_until_somebody_resumes() {
    let releasing = with_two().await;

    let body = json!({"tracker": "a.b", "reason": "orders fail"});
    let formed = releasing.post("/environments/prod/rollback", body).await;

    assert_eq!(formed.status, 201, "{formed:?}");
    assert_eq!(formed.body["number"], 3);
    assert_eq!(formed.body["cause"], "rollback");
    assert_eq!(formed.body["by"], "ci");
    assert_eq!(formed.body["reason"], "orders fail");
    assert_eq!(formed.body["image"]["digest"], "sha256:1");
    assert!(
        formed.headers["location"]
            .to_str()
            .unwrap()
            .starts_with("/releases/")
    );
    assert_eq!(releasing.state("dev", 3).await, "skipped");
    assert_eq!(releasing.state("prod", 3).await, "deploying");
    let next = releasing.release("three", "sha256:3").await;
    releasing.deploy("dev", next).await;
    releasing.tick("prod").await;
    assert_eq!(releasing.state("prod", next).await, "queued");
    let why = releasing.get("/trackers/a.b/why?environment=prod").await;
    let sentence = why.body["environments"][0]["sentence"].as_str().unwrap();
    assert!(sentence.contains("orders fail"), "{sentence}");
    assert!(
        sentence.contains("`pathline release resume prod a.b`"),
        "{sentence}"
    );
}

#[tokio::test]
async fn rollback_without_anything_before_is_refused() {
    let releasing = Releasing::new().await;
    let number = releasing.release("one", "sha256:1").await;
    releasing.deploy("dev", number).await;
    let body = json!({"tracker": "a.b"});
    let refused = releasing.post("/environments/dev/rollback", body).await;
    assert_eq!(told(&refused), (409, "conflict"));
    assert!(
        refused.message().contains("nothing else was deployed"),
        "{refused:?}"
    );
    let body = json!({"tracker": "a.b", "release": 7});
    let unknown = releasing.post("/environments/dev/rollback", body).await;
    assert_eq!(told(&unknown), (404, "not-found"));
    assert!(
        unknown.message().contains("there is no release 7"),
        "{unknown:?}"
    );
}

#[tokio::test]
async fn rollback_to_a_named_release_brings_its_content() {
    let releasing = with_two().await;
    let next = releasing.release("three", "sha256:3").await;
    releasing.deploy("dev", next).await;
    releasing.deploy("prod", next).await;
    let body = json!({"tracker": "a.b", "release": 1});
    let formed = releasing.post("/environments/prod/rollback", body).await;
    assert_eq!(formed.body["image"]["digest"], "sha256:1", "{formed:?}");
}
