use axum::http::{Method, StatusCode};
use pathline_server::{AppState, Part, app};
use serde_json::{Value, json};
use tokio::sync::watch;

use crate::{get, send};

#[tokio::test]
async fn process_is_healthy_before_its_parts_are_ready() {
    let router = app(AppState::new("1.2.3"));
    assert_eq!(
        get(&router, "/healthz").await,
        (StatusCode::OK, "ok\n".to_owned())
    );
}

#[tokio::test]
async fn readiness_lists_what_is_missing_in_the_order_of_the_start() {
    let state = AppState::new("1.2.3");
    let router = app(state.clone());
    state.readiness().mark_ready(Part::Crds);

    let (status, body) = get(&router, "/readyz").await;

    assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE);
    let body: Value = serde_json::from_str(&body).unwrap();
    assert_eq!(
        body,
        json!({"ready": false, "notReady": ["ledger", "cluster", "engine"]})
    );
}

#[tokio::test]
async fn ready_when_every_part_is_and_no_longer_when_one_goes_down() {
    let state = AppState::new("1.2.3");
    let router = app(state.clone());
    for part in [Part::Ledger, Part::Cluster, Part::Crds, Part::Engine] {
        state.readiness().mark_ready(part);
    }
    assert_eq!(get(&router, "/readyz").await.0, StatusCode::OK);

    state.readiness().mark_down(Part::Engine);

    let (status, body) = get(&router, "/readyz").await;
    assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE);
    assert!(body.contains(r#""notReady":["engine"]"#), "{body}");
}

#[tokio::test]
async fn hole_11_not_ready_while_a_part_cannot_write() {
    let state = AppState::new("1.2.3");
    let router = app(state.clone());
    for part in [Part::Ledger, Part::Cluster, Part::Crds, Part::Engine] {
        state.readiness().mark_ready(part);
    }
    let disk = watch::Sender::new(true);
    state.readiness().follow(Part::Ledger, disk.subscribe());
    assert_eq!(get(&router, "/readyz").await.0, StatusCode::OK);

    disk.send_replace(false);
    let (status, body) = get(&router, "/readyz").await;
    assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE);
    assert!(body.contains(r#""notReady":["ledger"]"#), "{body}");

    disk.send_replace(true);
    assert_eq!(get(&router, "/readyz").await.0, StatusCode::OK);
}

#[tokio::test]
async fn unknown_path_names_the_known_ones() {
    let (status, body) = get(&app(AppState::new("1.2.3")), "/nope").await;
    assert_eq!(status, StatusCode::NOT_FOUND);
    assert!(body.contains("/readyz"), "{body}");
}

#[tokio::test]
async fn health_cannot_be_posted() {
    let (status, _) = send(&app(AppState::new("1.2.3")), Method::POST, "/healthz").await;
    assert_eq!(status, StatusCode::METHOD_NOT_ALLOWED);
}
