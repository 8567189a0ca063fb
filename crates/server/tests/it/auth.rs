use axum::body::Body;
use axum::http::{Request, StatusCode, header};
use jiff::{SignedDuration, Timestamp};
use pathline_ledger::Scope;

use crate::world::World;

const GUARDED: [(&str, Scope); 10] = [
    ("/workloads", Scope::Read),
    ("/workloads/dev/web", Scope::Read),
    ("/deliverables", Scope::Read),
    ("/deliverables/dev/web", Scope::Read),
    ("/objects/dev/pod/web-0/lineage", Scope::Read),
    ("/artifacts?contains=source:abc", Scope::Read),
    ("/artifacts/0", Scope::Read),
    ("/stream", Scope::Read),
    ("/tokens", Scope::Admin),
    ("/tokens/ci", Scope::Admin),
];

/// Asks as the route wants to be asked.
fn ask(path: &str) -> axum::http::request::Builder {
    match path {
        "/tokens/ci" => Request::delete(path),
        _ => Request::get(path),
    }
}

#[tokio::test]
async fn without_a_token_every_guarded_route_asks_for_one() {
    let world = World::without_cluster().await;
    for (path, _) in GUARDED {
        let answer = world.send(ask(path), None, Body::empty()).await;
        assert_eq!(answer.status, StatusCode::UNAUTHORIZED, "{path}");
        assert_eq!(answer.code(), "token-missing", "{path}");
        let challenge = &answer.headers[header::WWW_AUTHENTICATE];
        assert!(challenge.to_str().unwrap().starts_with("Bearer"));
        assert!(answer.body["error"]["hint"].is_string());
    }
}

#[tokio::test]
async fn token_of_somebody_else_is_refused_as_unknown() {
    let world = World::without_cluster().await;
    let foreign = format!("pathline_{}", "0".repeat(64));
    for token in [foreign.as_str(), "letmein", "", "pathline_"] {
        for (path, _) in GUARDED {
            let answer = world.send(ask(path), Some(token), Body::empty()).await;
            assert_eq!(answer.status, StatusCode::UNAUTHORIZED, "{path}");
            assert_eq!(answer.code(), "token-unknown", "{path}");
        }
    }
}

#[tokio::test]
async fn other_schemes_count_as_no_token() {
    let world = World::without_cluster().await;
    for value in ["Basic cGF0aGxpbmU6", "pathline_0", "Bearer\u{fe}"] {
        let request = Request::get("/workloads");
        let value = axum::http::HeaderValue::from_bytes(value.as_bytes()).unwrap();
        let request = request.header(header::AUTHORIZATION, value);
        let answer = world.send(request, None, Body::empty()).await;
        assert_eq!(answer.code(), "token-missing");
    }
}

#[tokio::test]
async fn too_small_a_scope_is_named_with_the_one_that_is_needed() {
    let world = World::without_cluster().await;
    let writer = world.token("writer", Scope::Write).await;
    for (path, needed) in GUARDED {
        let answer = world.open(ask(path), Some(&writer), Body::empty()).await;
        let may = needed <= Scope::Write;
        assert_eq!(answer.status() != StatusCode::FORBIDDEN, may, "{path}");
    }

    let answer = world.get("/tokens", &writer).await;

    assert_eq!(answer.status, StatusCode::FORBIDDEN);
    assert_eq!(answer.code(), "scope-too-small");
    assert_eq!(
        answer.message(),
        "this needs the scope `admin`, and the token `writer` has `write`"
    );
}

#[tokio::test]
async fn revoked_and_expired_tokens_are_told_apart() {
    let world = World::without_cluster().await;
    let revoked = world.token("revoked", Scope::Admin).await;
    assert_eq!(world.get("/tokens", &revoked).await.status, StatusCode::OK);
    let now = Timestamp::now();
    world.ledger.revoke_token("revoked", now).await.unwrap();
    let past = now - SignedDuration::from_secs(1);
    let expired = world.token_until("expired", Scope::Admin, Some(past)).await;
    let lasting = now + SignedDuration::from_hours(1);
    let lasting = world
        .token_until("lasting", Scope::Admin, Some(lasting))
        .await;

    assert_eq!(world.get("/tokens", &revoked).await.code(), "token-revoked");
    assert_eq!(world.get("/tokens", &expired).await.code(), "token-expired");
    assert_eq!(world.get("/tokens", &lasting).await.status, StatusCode::OK);
}

#[tokio::test]
async fn what_is_open_needs_no_token() {
    let world = World::without_cluster().await;
    for path in ["/healthz", "/metrics", "/openapi.json"] {
        let answer = world.send(Request::get(path), None, Body::empty()).await;
        assert_eq!(answer.status, StatusCode::OK, "{path}");
    }
}

#[tokio::test]
async fn without_a_ledger_nobody_is_let_in_and_told_to_come_back() {
    let router = pathline_server::app(pathline_server::Doors::new("1.2.3"));
    let token = format!("Bearer pathline_{}", "0".repeat(64));
    let request = Request::get("/workloads").header(header::AUTHORIZATION, token);
    let request = request.body(Body::empty()).unwrap();
    let answer = tower::ServiceExt::oneshot(router, request).await.unwrap();
    assert_eq!(answer.status(), StatusCode::SERVICE_UNAVAILABLE);
    assert!(answer.headers().contains_key(header::RETRY_AFTER));
}
