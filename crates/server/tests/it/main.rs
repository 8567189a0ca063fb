//! The server, asked as a client asks it.

#![expect(
    clippy::disallowed_methods,
    reason = "the clock and the tasks of a test are the real ones"
)]

mod artifacts;
mod auth;
mod bad_input;
mod first_token;
mod health;
mod ingest;
mod listen;
mod metrics;
mod objects;
mod openapi;
mod owners;
mod releases;
mod releasing;
mod running;
mod serve;
mod story;
mod stream;
mod tokens;
mod tracked;
mod trackers;
mod wait;
mod world;

use axum::Router;
use axum::body::Body;
use axum::http::{Method, Request, StatusCode};
use http_body_util::BodyExt;
use tower::ServiceExt;

/// Sends one request to the router and returns the status and the body.
async fn send(router: &Router, method: Method, path: &str) -> (StatusCode, String) {
    let request = Request::builder()
        .method(method)
        .uri(path)
        .body(Body::empty())
        .expect("a well-formed request");
    let response = router
        .clone()
        .oneshot(request)
        .await
        .expect("the router never fails");
    let status = response.status();
    let body = response
        .into_body()
        .collect()
        .await
        .expect("a body in memory")
        .to_bytes();
    (
        status,
        String::from_utf8(body.to_vec()).expect("the body is text"),
    )
}

async fn get(router: &Router, path: &str) -> (StatusCode, String) {
    send(router, Method::GET, path).await
}
