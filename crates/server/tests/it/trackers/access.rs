use axum::http::Method;
use pathline_ledger::Permissions;
use serde_json::json;

use crate::tracked::{Tracked, with};

const WRITES: [(Method, &str); 9] = [
    (Method::POST, "/trackers"),
    (Method::PUT, "/trackers/a.b"),
    (Method::DELETE, "/trackers/a.b"),
    (Method::POST, "/trackers/a.b/poll"),
    (Method::POST, "/trackers/a.b/release"),
    (Method::POST, "/environments/prod/promote"),
    (Method::POST, "/environments/prod/hold"),
    (Method::POST, "/environments/prod/resume"),
    (Method::POST, "/environments/prod/rollback"),
];

const READS: [&str; 5] = [
    "/trackers",
    "/trackers/",
    "/trackers/a.b",
    "/releases",
    "/stream",
];

#[tokio::test]
async fn whoever_may_only_read_changes_nothing() {
    let tracked = Tracked::new().await;
    tracked.make(json!({})).await;
    let before = tracked.get("/trackers").await.body;
    let reader = Tracked {
        writer: tracked.world.token("ide", Permissions::READ).await,
        world: tracked.world,
    };
    let body = with(json!({"branch": "dev"}));
    for (method, path) in WRITES.into_iter().chain([(Method::POST, "/trackers/")]) {
        let answer = reader.send(method.clone(), path, &body).await;
        let told = (answer.status.as_u16(), answer.code());
        assert_eq!(told, (403, "scope-too-small"), "{method} {path}");
    }
    assert_eq!(reader.get("/trackers").await.body, before);
    for path in READS.iter().filter(|it| **it != "/stream") {
        assert_eq!(reader.get(path).await.status, 200, "{path}");
    }
}

#[tokio::test]
async fn nothing_is_told_without_a_token() {
    let tracked = Tracked::new().await;
    tracked.make(json!({})).await;
    let reads = READS.into_iter().chain([
        "/environments",
        "/releases/board",
        "/releases/0000000/objects?environment=prod",
        "/trackers/a.b/why",
        "/trackers/a.b/wait?release=1&environment=prod",
    ]);
    let reads = reads.map(|path| (Method::GET, path));
    for (method, path) in WRITES.into_iter().chain(reads) {
        let request = axum::http::Request::builder().method(method).uri(path);
        let answer = tracked.world.send(request, None, axum::body::Body::empty());
        assert_eq!(answer.await.code(), "token-missing", "{path}");
    }
}
