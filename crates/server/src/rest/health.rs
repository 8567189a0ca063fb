//! Is the process alive, and are its parts up?

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde::Serialize;
use utoipa::ToSchema;

use crate::{AppState, Part};

/// The body of `/readyz`.
#[derive(Serialize, ToSchema)]
#[schema(as = Readiness)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Report {
    /// Whether all parts are up.
    ready: bool,
    /// Those that are not, in the order in which they start.
    not_ready: Vec<Part>,
}

/// Say whether the process is alive
#[utoipa::path(
    get, path = "/healthz", tag = "health",
    responses((status = 200, description = "It is alive", body = String, content_type = "text/plain", example = json!("ok\n")))
)]
pub(crate) async fn healthz() -> &'static str {
    "ok\n"
}

/// Say whether all parts are up
///
/// Ready means that the cluster, the ledger and the engine do their work. A cluster or ledger whose
/// disk takes no writes is not ready until it does again, which is found out by itself.
#[utoipa::path(
    get, path = "/readyz", tag = "health",
    responses(
        (status = 200, description = "All parts are up", body = Report, example = json!({"ready": true, "notReady": []})),
        (status = 503, description = "Some are not", body = Report, example = json!({"ready": false, "notReady": ["engine"]}))
    )
)]
pub(crate) async fn readyz(State(state): State<AppState>) -> (StatusCode, Json<Report>) {
    let not_ready = state.readiness().missing();
    let ready = not_ready.is_empty();
    let status = if ready {
        StatusCode::OK
    } else {
        StatusCode::SERVICE_UNAVAILABLE
    };
    (status, Json(Report { ready, not_ready }))
}
