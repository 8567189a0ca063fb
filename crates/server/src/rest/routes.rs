//! The routes, and the scope that each needs.

use std::sync::Arc;

use axum::extract::DefaultBodyLimit;
use axum::http::{Method, Uri};
use axum::middleware::{from_fn, from_fn_with_state};
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
    artifacts, bounds, concern, guard, health, metrics, objects, openapi, owners, requests, stream,
    tokens, wait,
};

/// Returns the router with every path Pathline answers.
pub fn app(state: AppState) -> Router {
    let (router, document) = OpenApiRouter::with_openapi(openapi::Document::openapi())
        .merge(open())
        .merge(bounded(&state, Permission::Read, reading()))
        .merge(bounded(&state, Permission::Admin, administering()))
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
}

/// The routes that are answered for as long as the client listens.
fn following() -> OpenApiRouter<AppState> {
    OpenApiRouter::default()
        .routes(routes!(stream::follow))
        .routes(for_workloads(routes!(wait::for_owner)))
        .routes(routes!(concern::wait_for))
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
    let bounds = Bounds::default();
    let router = router.route_layer(from_fn_with_state(bounds, bounds::keep));
    guarded(state, permission, router)
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
