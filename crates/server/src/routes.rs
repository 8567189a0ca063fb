//! Every path Pathline answers, and who may come in where.

use std::sync::Arc;

use axum::extract::DefaultBodyLimit;
use axum::http::{Method, StatusCode, Uri};
use axum::middleware::{from_fn, from_fn_with_state};
use axum::{Extension, Router};
use pathline_ledger::Scope;
use utoipa::OpenApi;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::bounds::{Bounds, LARGEST_BODY};
use crate::refusal::Refusal;
use crate::{
    Doors, artifacts, auth, bounds, concern, health, metrics, objects, openapi, owners, requests,
    stream, tokens, wait,
};

/// Returns the router with every path Pathline answers.
pub fn app(doors: Doors) -> Router {
    let (router, document) = OpenApiRouter::with_openapi(openapi::Document::openapi())
        .merge(open())
        .merge(bounded(&doors, Scope::Read, reading()))
        .merge(bounded(&doors, Scope::Admin, administering()))
        .merge(guarded(&doors, Scope::Read, following()))
        .split_for_parts();
    router
        .layer(Extension(Arc::new(document)))
        .fallback(not_found)
        .method_not_allowed_fallback(method_not_allowed)
        .layer(DefaultBodyLimit::max(LARGEST_BODY))
        .layer(from_fn_with_state(
            doors.metrics().clone(),
            metrics::count_requests,
        ))
        .layer(from_fn(requests::name))
        .with_state(doors)
}

/// What needs no token.
fn open() -> OpenApiRouter<Doors> {
    OpenApiRouter::default()
        .routes(routes!(health::healthz))
        .routes(routes!(health::readyz))
        .routes(routes!(metrics::show))
        .routes(routes!(openapi::show))
}

/// What is answered at once to whoever may look.
fn reading() -> OpenApiRouter<Doors> {
    OpenApiRouter::default()
        .routes(routes!(owners::list_workloads))
        .routes(routes!(owners::show_workload))
        .routes(routes!(owners::list_deliverables))
        .routes(routes!(owners::show_deliverable))
        .routes(routes!(objects::lineage))
        .routes(routes!(artifacts::contains))
        .routes(routes!(artifacts::show))
}

/// What is answered for as long as the client listens.
fn following() -> OpenApiRouter<Doors> {
    OpenApiRouter::default()
        .routes(routes!(stream::follow))
        .routes(routes!(wait::for_workload))
        .routes(routes!(concern::wait_for))
        .routes(routes!(wait::for_deliverable))
}

/// What only admins may do.
fn administering() -> OpenApiRouter<Doors> {
    OpenApiRouter::default()
        .routes(routes!(tokens::list, tokens::create))
        .routes(routes!(tokens::revoke))
}

/// Asks for a token of the scope, then answers within bounds.
fn bounded(doors: &Doors, scope: Scope, router: OpenApiRouter<Doors>) -> OpenApiRouter<Doors> {
    let bounds = Bounds::default();
    let router = router.route_layer(from_fn_with_state(bounds, bounds::keep));
    guarded(doors, scope, router)
}

/// Asks for a token of the scope.
fn guarded(doors: &Doors, scope: Scope, router: OpenApiRouter<Doors>) -> OpenApiRouter<Doors> {
    router.route_layer(from_fn_with_state((doors.clone(), scope), auth::require))
}

async fn not_found(uri: Uri) -> Refusal {
    Refusal::not_found(format!("there is nothing at {}", uri.path())).with_hint(
        "GET /openapi.json says what there is; /healthz, /readyz and /metrics are open to all",
    )
}

async fn method_not_allowed(method: Method, uri: Uri) -> Refusal {
    let message = format!("{} does not answer {method}", uri.path());
    Refusal::new(
        StatusCode::METHOD_NOT_ALLOWED,
        "method-not-allowed",
        message,
    )
    .with_hint("the header Allow says what it answers")
}
