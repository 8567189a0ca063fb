use axum::http::Method;
use pathline_ledger::Permissions;
use serde_json::json;

use crate::tracked::{TOKEN, Tracked, with};
use crate::world::World;

/// Returns a server whose ledger has no key.
async fn without_key() -> Tracked {
    let world = World::without_cluster().await;
    let writer = world.token("ci", Permissions::WRITE).await;
    Tracked { world, writer }
}

#[tokio::test]
async fn token_is_not_taken_where_it_cannot_be_sealed() {
    let tracked = without_key().await;
    let refused = tracked.post(&with(json!({}))).await;
    let told = (refused.status.as_u16(), refused.code());
    assert_eq!(told, (503, "unavailable"));
    assert!(refused.headers.contains_key("retry-after"));
    let hint = refused.body["error"]["hint"].as_str().unwrap();
    assert!(hint.contains("--seal-key"), "{hint}");
    assert_eq!(tracked.get("/trackers").await.body, json!([]));
    let changes = tracked.world.ledger.trackers().changes(0, 10).await;
    assert_eq!(changes.unwrap(), [], "nothing is stored");
}

#[tokio::test]
async fn without_a_key_public_repositories_are_tracked_all_the_same() {
    let tracked = without_key().await;
    let made = tracked.make(json!({"token": ""})).await;
    let refused = tracked.put("a.b", &with(json!({}))).await;
    assert_eq!(
        (refused.status.as_u16(), refused.code()),
        (503, "unavailable")
    );
    assert_eq!(tracked.get("/trackers/a.b").await.body, made.body);
    let body = with(json!({"token": "", "branch": "dev"}));
    assert_eq!(tracked.put("a.b", &body).await.status, 200);
}

/// `Tracked` looks for the token in every answer; here it looks in those of one who has it.
#[tokio::test]
async fn token_is_in_no_answer() {
    let tracked = Tracked::new().await;
    tracked.make(json!({})).await;
    tracked.make(json!({"id": "a.c", "token": "other"})).await;
    for path in [
        "/trackers",
        "/trackers?limit=1",
        "/trackers/a.b",
        "/releases",
        "/metrics",
        "/openapi.json",
        "/healthz",
    ] {
        assert_eq!(tracked.get(path).await.status, 200, "{path}");
    }
    let misplaced = [
        json!({"id": TOKEN}),
        json!({"repo": TOKEN}),
        json!({"repo": format!("https://{TOKEN}/o/r")}),
        json!({"repo": format!("https://github.com/o/r?token={TOKEN}")}),
        json!({"sourcePath": format!("/{TOKEN}")}),
        json!({"branch": format!("{TOKEN}..")}),
        json!({"commit": TOKEN}),
    ];
    for change in misplaced {
        let answer = tracked.put("a.b", &with(change.clone())).await;
        assert_eq!(answer.status, 422, "{change}");
    }
    assert_eq!(tracked.post(&with(json!({}))).await.status, 409);
    assert_eq!(
        tracked.ask(Method::DELETE, "/trackers/a.b").await.status,
        204
    );
}

#[tokio::test]
async fn token_is_in_no_file_of_the_ledger() {
    let tracked = Tracked::new().await;
    tracked.make(json!({})).await;
    let directory = std::fs::read_dir(tracked.world.directory.path()).unwrap();
    for file in directory {
        let bytes = std::fs::read(file.unwrap().path()).unwrap();
        let found = bytes.windows(TOKEN.len()).any(|it| it == TOKEN.as_bytes());
        assert!(!found, "it is sealed");
    }
}
