use axum::body::Body;
use axum::http::{Request, StatusCode, header};
use jiff::Timestamp;
use pathline_client::api::{CreatedToken, Token, TokenList};
use pathline_ledger::Permissions;
use serde_json::{Value, json};

use crate::world::{Answer, World};

async fn create(world: &World, admin: &str, body: &Value) -> Answer {
    let request = Request::post("/tokens").header(header::CONTENT_TYPE, "application/json");
    world
        .send(request, Some(admin), Body::from(body.to_string()))
        .await
}

#[tokio::test]
async fn token_that_was_made_opens_the_doors_until_it_is_revoked() {
    let world = World::without_cluster().await;
    let admin = world.token("admin", Permissions::ADMIN).await;

    let answer = create(&world, &admin, &json!({"name": "ci", "scope": "read"})).await;

    assert_eq!(answer.status, StatusCode::CREATED, "{answer:?}");
    let made: CreatedToken = serde_json::from_value(answer.body).unwrap();
    assert_eq!(
        (made.token.name.as_str(), made.token.scope),
        ("ci", "read".to_owned())
    );
    assert!(made.secret.starts_with("pathline_"));
    let asked = "/artifacts?contains=source:abc";
    assert_eq!(world.get(asked, &made.secret).await.status, StatusCode::OK);

    let request = Request::delete("/tokens/ci");
    let answer = world.send(request, Some(&admin), Body::empty()).await;

    assert_eq!(answer.status, StatusCode::OK);
    let revoked: Token = serde_json::from_value(answer.body).unwrap();
    assert!(revoked.revoked.is_some());
    let answer = world.get(asked, &made.secret).await;
    assert_eq!(answer.code(), "token-revoked");
}

#[tokio::test]
async fn list_tells_everything_but_secrets() {
    let world = World::without_cluster().await;
    let admin = world.token("admin", Permissions::ADMIN).await;
    let body = json!({"name": "ci", "scope": "write", "expiresInSeconds": 60});
    let made = create(&world, &admin, &body).await;
    let secret = made.body["secret"].as_str().unwrap().to_owned();

    let answer = world.get("/tokens", &admin).await;

    assert!(!answer.body.to_string().contains("pathline_"), "{answer:?}");
    assert!(!answer.body.to_string().contains(&secret[20..40]));
    let list: TokenList = serde_json::from_value(answer.body).unwrap();
    let names: Vec<_> = list.items.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(names, ["admin", "ci"]);
    let ends = list.items[1].expires.unwrap();
    let lasts = ends.duration_since(list.items[1].created).as_secs();
    assert_eq!(lasts, 60);
}

#[tokio::test]
async fn use_of_a_token_is_noted() {
    let world = World::without_cluster().await;
    let admin = world.token("admin", Permissions::ADMIN).await;
    let before = Timestamp::now();
    world.get("/tokens", &admin).await;

    // It is noted beside the answer, so the second look may come too early.
    let noted = async {
        loop {
            let tokens = world.ledger.access().tokens().await.unwrap();
            match tokens[0].last_used {
                Some(time) => return time,
                None => tokio::task::yield_now().await,
            }
        }
    };
    let limit = std::time::Duration::from_secs(60);
    let noted = tokio::time::timeout(limit, noted)
        .await
        .expect("it is noted");

    assert!(noted.duration_since(before).as_secs() >= -1);
}

#[tokio::test]
async fn name_is_given_once() {
    let world = World::without_cluster().await;
    let admin = world.token("admin", Permissions::ADMIN).await;
    let body = json!({"name": "ci", "scope": "read"});
    assert_eq!(
        create(&world, &admin, &body).await.status,
        StatusCode::CREATED
    );
    let again = create(&world, &admin, &body).await;
    assert_eq!(
        (again.status, again.code()),
        (StatusCode::CONFLICT, "conflict")
    );
}

#[tokio::test]
async fn token_that_makes_no_sense_is_refused() {
    let world = World::without_cluster().await;
    let admin = world.token("admin", Permissions::ADMIN).await;
    for body in [
        json!({}),
        json!([]),
        json!({"name": "", "scope": "read"}),
        json!({"name": "A b", "scope": "read"}),
        json!({"name": "a\0", "scope": "read"}),
        json!({"name": "x".repeat(64), "scope": "read"}),
        json!({"name": "ci", "scope": "root"}),
        json!({"name": "ci", "scope": "read", "expiresInSeconds": 0}),
        json!({"name": "ci", "scope": "read", "expiresInSeconds": -1}),
        json!({"name": "ci", "scope": "read", "expiresInSeconds": 315_360_001}),
        json!({"name": "ci", "scope": "read", "expiresInSeconds": 1e300}),
        json!({"name": "ci", "scope": "read", "surprise": true}),
    ] {
        let answer = create(&world, &admin, &body).await;
        assert_eq!(answer.status, StatusCode::BAD_REQUEST, "{body}: {answer:?}");
        assert_eq!(answer.code(), "bad-request");
    }
    let tokens = world.ledger.access().tokens().await.unwrap();
    assert_eq!(tokens.len(), 1, "nothing was made");
}

#[tokio::test]
async fn token_that_is_not_there_cannot_be_revoked() {
    let world = World::without_cluster().await;
    let admin = world.token("admin", Permissions::ADMIN).await;
    let request = Request::delete("/tokens/nobody");
    let answer = world.send(request, Some(&admin), Body::empty()).await;
    assert_eq!(
        (answer.status, answer.code()),
        (StatusCode::NOT_FOUND, "not-found")
    );
}
