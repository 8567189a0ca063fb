use axum::http::{Method, StatusCode};
use pathline_server::{Doors, Part, app};
use serde_json::{Value, json};
use tokio::sync::watch;

use crate::{get, send};

#[tokio::test]
async fn process_is_healthy_before_its_parts_are_ready() {
    let router = app(Doors::new("1.2.3"));
    assert_eq!(
        get(&router, "/healthz").await,
        (StatusCode::OK, "ok\n".to_owned())
    );
}

#[tokio::test]
async fn readiness_lists_what_is_missing_in_the_order_of_the_start() {
    let doors = Doors::new("1.2.3");
    let router = app(doors.clone());
    doors.readiness().mark_ready(Part::Crds);

    let (status, body) = get(&router, "/readyz").await;

    assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE);
    let body: Value = serde_json::from_str(&body).unwrap();
    assert_eq!(
        body,
        json!({"ready": false, "not_ready": ["ledger", "cluster", "engine"]})
    );
}

#[tokio::test]
async fn ready_when_every_part_is_and_no_longer_when_one_goes_down() {
    let doors = Doors::new("1.2.3");
    let router = app(doors.clone());
    for part in [Part::Ledger, Part::Cluster, Part::Crds, Part::Engine] {
        doors.readiness().mark_ready(part);
    }
    assert_eq!(get(&router, "/readyz").await.0, StatusCode::OK);

    doors.readiness().mark_down(Part::Engine);

    let (status, body) = get(&router, "/readyz").await;
    assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE);
    assert!(body.contains(r#""not_ready":["engine"]"#), "{body}");
}

#[tokio::test]
async fn hole_11_not_ready_while_a_part_cannot_write() {
    let doors = Doors::new("1.2.3");
    let router = app(doors.clone());
    for part in [Part::Ledger, Part::Cluster, Part::Crds, Part::Engine] {
        doors.readiness().mark_ready(part);
    }
    let disk = watch::Sender::new(true);
    doors.readiness().follow(Part::Ledger, disk.subscribe());
    assert_eq!(get(&router, "/readyz").await.0, StatusCode::OK);

    disk.send_replace(false);
    let (status, body) = get(&router, "/readyz").await;
    assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE);
    assert!(body.contains(r#""not_ready":["ledger"]"#), "{body}");

    disk.send_replace(true);
    assert_eq!(get(&router, "/readyz").await.0, StatusCode::OK);
}

#[tokio::test]
async fn unknown_path_names_the_known_ones() {
    let (status, body) = get(&app(Doors::new("1.2.3")), "/nope").await;
    assert_eq!(status, StatusCode::NOT_FOUND);
    assert!(body.contains("/readyz"), "{body}");
}

#[tokio::test]
async fn health_cannot_be_posted() {
    let (status, _) = send(&app(Doors::new("1.2.3")), Method::POST, "/healthz").await;
    assert_eq!(status, StatusCode::METHOD_NOT_ALLOWED);
}
