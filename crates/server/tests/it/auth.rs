use axum::body::Body;
use axum::http::{Request, StatusCode, header};
use jiff::{SignedDuration, Timestamp};
use pathline_clock::Clock;
use pathline_ledger::{Permission, Permissions};

use crate::world::World;

const GUARDED: [(&str, Permission); 10] = [
    ("/workloads", Permission::Read),
    ("/workloads/dev/web", Permission::Read),
    ("/deliverables", Permission::Read),
    ("/deliverables/dev/web", Permission::Read),
    ("/objects/dev/pod/web-0/lineage", Permission::Read),
    ("/artifacts?contains=source:abc", Permission::Read),
    ("/artifacts/0", Permission::Read),
    ("/stream", Permission::Read),
    ("/tokens", Permission::Admin),
    ("/tokens/ci", Permission::Admin),
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
    let writer = world.token("writer", Permissions::WRITE).await;
    for (path, needed) in GUARDED {
        let answer = world.open(ask(path), Some(&writer), Body::empty()).await;
        let may = Permissions::WRITE.contains(needed);
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
    let revoked = world.token("revoked", Permissions::ADMIN).await;
    assert_eq!(world.get("/tokens", &revoked).await.status, StatusCode::OK);
    let now = Timestamp::now();
    world
        .ledger
        .access()
        .revoke_token("revoked", now)
        .await
        .unwrap();
    let past = now - SignedDuration::from_secs(1);
    let expired = world
        .token_until("expired", Permissions::ADMIN, Some(past))
        .await;
    let lasting = now + SignedDuration::from_hours(1);
    let lasting = world
        .token_until("lasting", Permissions::ADMIN, Some(lasting))
        .await;

    assert_eq!(world.get("/tokens", &revoked).await.code(), "token-revoked");
    assert_eq!(world.get("/tokens", &expired).await.code(), "token-expired");
    assert_eq!(world.get("/tokens", &lasting).await.status, StatusCode::OK);
}

/// Makes a server on which it is the epoch until the clock is set.
async fn with_standing_clock() -> (World, Clock) {
    let world = World::without_cluster().await;
    let clock = Clock::standing(Timestamp::UNIX_EPOCH);
    let state = world.state.clone().with_clock(clock.clone());
    let router = pathline_server::app(state.clone());
    let world = World {
        state,
        router,
        ..world
    };
    (world, clock)
}

#[tokio::test]
async fn token_ends_when_the_clock_says_so() {
    let (world, clock) = with_standing_clock().await;
    let end = Timestamp::UNIX_EPOCH + SignedDuration::from_hours(1);
    let token = world.token_until("brief", Permissions::ADMIN, Some(end));
    let token = token.await;

    clock.set(end - SignedDuration::from_secs(1));
    assert_eq!(world.get("/tokens", &token).await.status, StatusCode::OK);
    clock.set(end);
    assert_eq!(world.get("/tokens", &token).await.code(), "token-expired");
}

#[tokio::test]
async fn use_of_a_token_is_noted_before_the_server_has_ended() {
    let (world, clock) = with_standing_clock().await;
    let used = Timestamp::UNIX_EPOCH + SignedDuration::from_hours(1);
    clock.set(used);
    let token = world.token("ci", Permissions::ADMIN).await;
    assert_eq!(world.get("/tokens", &token).await.status, StatusCode::OK);

    world.state.ended().await;

    let tokens = world.ledger.access().tokens().await.unwrap();
    assert_eq!(tokens[0].last_used, Some(used));
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
    let router = pathline_server::app(pathline_server::AppState::new("1.2.3"));
    let token = format!("Bearer pathline_{}", "0".repeat(64));
    let request = Request::get("/workloads").header(header::AUTHORIZATION, token);
    let request = request.body(Body::empty()).unwrap();
    let answer = tower::ServiceExt::oneshot(router, request).await.unwrap();
    assert_eq!(answer.status(), StatusCode::SERVICE_UNAVAILABLE);
    assert!(answer.headers().contains_key(header::RETRY_AFTER));
}
