//! Whatever is asked, the answer says what is wrong and is never an error of ours.

use axum::body::Body;
use axum::http::{Method, Request, StatusCode, header};
use pathline_ledger::Permissions;

use crate::world::World;

#[tokio::test]
async fn queries_that_make_no_sense_are_refused() {
    let world = World::new().await;
    let token = world.token("reader", Permissions::READ).await;
    for path in [
        "/workloads?limit=0",
        "/workloads?limit=501",
        "/workloads?limit=x",
        "/workloads?limit=99999999999999999999",
        "/workloads?namespace=A",
        "/workloads?namespace=",
        "/workloads?namespace=a%00b",
        "/workloads?unknown=1",
        "/workloads?limit=1&limit=2",
        "/workloads?continue=x",
        "/workloads/A/b",
        "/workloads/dev/..%2Fx",
        "/workloads/dev/%00",
        "/workloads/%ff/x",
        "/deliverables/dev/-",
        "/artifacts",
        "/artifacts?contains=",
        "/artifacts?contains=source:",
        "/artifacts?contains=param:x",
        "/artifacts?contains=source:a%00",
        "/artifacts?contains=source:abc&limit=0",
        "/artifacts?contains=source:abc&continue=x",
        "/artifacts?contains=source:abc&find=1",
        "/artifacts/1234",
        "/artifacts/zz",
        "/stream?after=-1",
        "/stream?after=x",
    ] {
        let answer = world.get(path, &token).await;
        assert_eq!(answer.status, StatusCode::BAD_REQUEST, "{path}: {answer:?}");
        assert_eq!(answer.code(), "bad-request", "{path}");
        assert!(!answer.message().is_empty(), "{path}");
    }
}

#[tokio::test]
async fn unknown_paths_and_methods_are_told_in_the_usual_shape() {
    let world = World::without_cluster().await;
    let token = world.token("reader", Permissions::READ).await;

    let nowhere = world.get("/nope", &token).await;
    assert_eq!(
        (nowhere.status, nowhere.code()),
        (StatusCode::NOT_FOUND, "not-found")
    );

    for (path, allowed) in [
        ("/workloads", "GET,HEAD"),
        ("/tokens", "GET,HEAD,POST"),
        ("/tokens/x", "DELETE"),
    ] {
        let request = Request::builder().method(Method::PUT).uri(path);
        let answer = world.send(request, Some(&token), Body::empty()).await;
        assert_eq!(answer.status, StatusCode::METHOD_NOT_ALLOWED, "{path}");
        assert_eq!(answer.code(), "method-not-allowed");
        assert_eq!(answer.headers[header::ALLOW], allowed);
    }
}

#[tokio::test]
async fn bodies_that_are_too_large_or_no_json_are_refused() {
    let world = World::without_cluster().await;
    let token = world.token("admin", Permissions::ADMIN).await;
    let post = || Request::post("/tokens");
    let json = || post().header(header::CONTENT_TYPE, "application/json");

    let large = world
        .send(json(), Some(&token), Body::from("x".repeat(20_000)))
        .await;
    assert_eq!(
        (large.status, large.code()),
        (StatusCode::PAYLOAD_TOO_LARGE, "too-large")
    );
    let plain = world.send(post(), Some(&token), Body::from("{}")).await;
    assert_eq!(
        (plain.status, plain.code()),
        (StatusCode::UNSUPPORTED_MEDIA_TYPE, "not-json")
    );
    let broken = world.send(json(), Some(&token), Body::from("{")).await;
    assert_eq!(
        (broken.status, broken.code()),
        (StatusCode::BAD_REQUEST, "bad-request")
    );
}

#[tokio::test]
async fn without_a_cluster_owners_cannot_be_asked_for_yet() {
    let world = World::without_cluster().await;
    let token = world.token("reader", Permissions::READ).await;
    for path in ["/workloads", "/deliverables/dev/web"] {
        let answer = world.get(path, &token).await;
        assert_eq!(answer.status, StatusCode::SERVICE_UNAVAILABLE, "{path}");
        assert!(answer.headers.contains_key(header::RETRY_AFTER));
        assert_eq!(answer.code(), "unavailable");
    }
}

#[tokio::test]
async fn closed_ledger_is_unavailable() {
    let world = World::without_cluster().await;
    let token = world.token("reader", Permissions::READ).await;
    world.ledger.close().await;
    let answer = world.get("/artifacts?contains=source:abc", &token).await;
    assert_eq!(answer.status, StatusCode::SERVICE_UNAVAILABLE);
    assert!(answer.headers.contains_key(header::RETRY_AFTER));
}

#[tokio::test]
async fn every_answer_names_its_request() {
    let world = World::without_cluster().await;
    let named = Request::get("/healthz").header("x-request-id", "from-the-client-1");
    let named = world.send(named, None, Body::empty()).await;
    assert_eq!(named.headers["x-request-id"], "from-the-client-1");

    for value in ["", "a b", &"x".repeat(65)] {
        let request = Request::get("/nope").header("x-request-id", value);
        let answer = world.send(request, None, Body::empty()).await;
        let id = answer.headers["x-request-id"].to_str().unwrap();
        assert!(id.len() == 16 && id != value, "{id}");
    }
}
