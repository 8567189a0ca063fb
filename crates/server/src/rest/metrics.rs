//! The metrics over HTTP, and those of HTTP itself.

use axum::extract::{MatchedPath, Request, State};
use axum::http::header;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use pathline_clock::instant;

use crate::views::queues;
use crate::{AppState, Metrics};

const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Show metrics
///
/// In the OpenMetrics text format, for Prometheus.
#[utoipa::path(
    get, path = "/metrics", operation_id = "show_metrics", tag = "health",
    responses((
        status = 200, description = "All metrics", body = String,
        content_type = "application/openmetrics-text",
        example = json!("# TYPE pathline_uptime_seconds gauge\npathline_uptime_seconds 61.2\n# EOF\n")
    ))
)]
pub(crate) async fn show(State(state): State<AppState>) -> Response {
    queues::measure(&state).await;
    (
        [(header::CONTENT_TYPE, OPEN_METRICS)],
        state.metrics().render(),
    )
        .into_response()
}

/// Counts every answer, and how long it took, by route rather than by path: a scanner that tries
/// a million paths adds one time series, not a million.
pub(crate) async fn count_requests(
    State(metrics): State<Metrics>,
    matched: Option<MatchedPath>,
    request: Request,
    next: Next,
) -> Response {
    let method = request.method().clone();
    let started = instant();
    let response = next.run(request).await;
    let route = matched.as_ref().map_or("none", MatchedPath::as_str);
    let status = response.status().as_u16();
    metrics.record(method.as_str(), route, status, started.elapsed());
    response
}
