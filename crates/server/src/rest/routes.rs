//! The routes, and the scope that each needs.

use std::sync::Arc;

use axum::extract::DefaultBodyLimit;
use axum::http::{Method, Uri};
use axum::middleware::{from_fn, from_fn_with_state};
use axum::routing::{get, post};
use axum::{Extension, Router};
use pathline_ledger::Permission;
use utoipa::OpenApi;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::AppState;
use crate::error::{ApiError, ErrorKind};
use crate::rest::bounds::{Bounds, MAX_BODY_BYTES};
use crate::rest::owner_routes::{Differences, for_deliverables, for_workloads};
use crate::rest::{
    artifacts, bounds, concern, environments, guard, health, ingest, metrics, objects, openapi,
    owners, releases, requests, stream, tokens, tracker_releases, trackers, wait,
};

/// Returns the router with every path Pathline answers.
pub fn app(state: AppState) -> Router {
    let (router, document) = OpenApiRouter::with_openapi(openapi::Document::openapi())
        .merge(open())
        .merge(bounded(&state, Permission::Read, reading()))
        .merge(bounded(&state, Permission::Write, writing()))
        .merge(bounded(&state, Permission::Admin, administering()))
        .merge(within_bounds(ingesting()))
        .merge(guarded(&state, Permission::Read, following()))
        .split_for_parts();
    router
        .layer(Extension(Arc::new(document)))
        .fallback(not_found)
        .method_not_allowed_fallback(method_not_allowed)
        .layer(DefaultBodyLimit::max(MAX_BODY_BYTES))
        .layer(from_fn_with_state(
            state.metrics().clone(),
            metrics::count_requests,
        ))
        .layer(from_fn(requests::name))
        .with_state(state)
}

/// The routes that need no token.
fn open() -> OpenApiRouter<AppState> {
    OpenApiRouter::default()
        .routes(routes!(health::healthz))
        .routes(routes!(health::readyz))
        .routes(routes!(metrics::show))
        .routes(routes!(openapi::show))
}

/// The routes that are answered at once to whoever may read.
fn reading() -> OpenApiRouter<AppState> {
    OpenApiRouter::default()
        .routes(for_workloads(routes!(owners::list)))
        .routes(for_workloads(routes!(owners::show)))
        .routes(for_deliverables(
            routes!(owners::list),
            Differences::default(),
        ))
        .routes(for_deliverables(
            routes!(owners::show),
            owners::SHOW_DELIVERABLE,
        ))
        .routes(routes!(objects::lineage))
        .routes(routes!(artifacts::contains))
        .routes(routes!(artifacts::show))
        .routes(routes!(trackers::list))
        .routes(routes!(trackers::show))
        .routes(routes!(releases::list))
        .routes(routes!(releases::show))
        .routes(routes!(releases::board))
        .routes(routes!(releases::objects))
        .routes(routes!(tracker_releases::why))
        .routes(routes!(environments::list))
        // The seed has the slash.
        .route("/trackers/", get(trackers::list))
}

/// The routes that change something.
fn writing() -> OpenApiRouter<AppState> {
    OpenApiRouter::default()
        .routes(routes!(trackers::create))
        .routes(routes!(trackers::replace, trackers::delete))
        .routes(routes!(trackers::poll))
        .routes(routes!(tracker_releases::request))
        .routes(routes!(environments::promote))
        .routes(routes!(environments::hold))
        .routes(routes!(environments::resume))
        .routes(routes!(environments::roll_back))
        .route("/trackers/", post(trackers::create))
        .layer(DefaultBodyLimit::disable())
}

/// The routes of those who show a secret of their own.
fn ingesting() -> OpenApiRouter<AppState> {
    OpenApiRouter::default()
        .routes(routes!(ingest::take))
        .layer(DefaultBodyLimit::disable())
}

/// The routes that are answered for as long as the client listens.
fn following() -> OpenApiRouter<AppState> {
    OpenApiRouter::default()
        .routes(routes!(stream::follow))
        .routes(for_workloads(routes!(wait::for_owner)))
        .routes(routes!(concern::wait_for))
        .routes(routes!(tracker_releases::wait))
        .routes(for_deliverables(
            routes!(wait::for_owner),
            wait::FOR_DELIVERABLE,
        ))
}

/// The routes of admins.
fn administering() -> OpenApiRouter<AppState> {
    OpenApiRouter::default()
        .routes(routes!(tokens::list, tokens::create))
        .routes(routes!(tokens::revoke))
}

/// Asks for a token of the permission, then answers within bounds.
fn bounded(
    state: &AppState,
    permission: Permission,
    router: OpenApiRouter<AppState>,
) -> OpenApiRouter<AppState> {
    guarded(state, permission, within_bounds(router))
}

/// Answers within bounds.
fn within_bounds(router: OpenApiRouter<AppState>) -> OpenApiRouter<AppState> {
    router.route_layer(from_fn_with_state(Bounds::default(), bounds::keep))
}

/// Asks for a token with the permission.
fn guarded(
    state: &AppState,
    permission: Permission,
    router: OpenApiRouter<AppState>,
) -> OpenApiRouter<AppState> {
    router.route_layer(from_fn_with_state(
        (state.clone(), permission),
        guard::require,
    ))
}

async fn not_found(uri: Uri) -> ApiError {
    ApiError::not_found(format!("there is nothing at {}", uri.path())).with_hint(
        "GET /openapi.json says what there is; /healthz, /readyz and /metrics are open to all",
    )
}

async fn method_not_allowed(method: Method, uri: Uri) -> ApiError {
    let message = format!("{} does not answer {method}", uri.path());
    ApiError::new(ErrorKind::MethodNotAllowed, "method-not-allowed", message)
        .with_hint("the header Allow says what it answers")
}
