//! The document that describes all of this to programs.

pub(crate) mod environment_example;
pub(crate) mod example;
pub(crate) mod responses;
pub(crate) mod tracker_example;

use std::sync::Arc;

use axum::{Extension, Json};
use pathline_client::api::{
    Begin, Change, HoldEvent, MoveEvent, Problem, ReleaseEvent, TrackerEvent,
};
use utoipa::openapi::OpenApi as Description;
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityScheme};
use utoipa::{Modify, OpenApi};

/// The document without its routes, which add themselves.
#[derive(OpenApi)]
#[openapi(
    info(
        title = "Pathline",
        description = "Follows every change from where it is made to where it runs.\n\n\
            Every error has one shape, `Problem`: a word for programs, a sentence for people and, \
            mostly, what to do next. Every answer carries `x-request-id`, by which the request is \
            found in the log; one that the client sends is kept.",
        license(name = "Apache-2.0", identifier = "Apache-2.0")
    ),
    components(schemas(Begin, Change, HoldEvent, MoveEvent, Problem, ReleaseEvent, TrackerEvent)),
    modifiers(&Bearer),
    tags(
        (name = "owners", description = "Workloads and deliverables: their paths, what they give and what comes out"),
        (name = "artifacts", description = "What it is made of, and where it has got to"),
        (name = "trackers", description = "Applications whose repository and image are followed"),
        (name = "releases", description = "An image with the configuration that belongs to it, and where it went"),
        (name = "environments", description = "The places that releases go to, and what lets them through"),
        (name = "stream", description = "Changes as they happen"),
        (name = "tokens", description = "Who may ask"),
        (name = "health", description = "How Pathline itself is; open to all"),
    )
)]
pub(crate) struct Document;

struct Bearer;

impl Modify for Bearer {
    fn modify(&self, description: &mut Description) {
        let scheme = HttpBuilder::new()
            .scheme(HttpAuthScheme::Bearer)
            .bearer_format("pathline_ and 64 hexadecimal digits")
            .description(Some(
                "A token of `pathline token create`. The scopes are read, write and admin; each \
                 includes the ones before it.",
            ))
            .build();
        let components = description.components.get_or_insert_default();
        components.add_security_scheme("token", SecurityScheme::Http(scheme));
    }
}

/// Describe all routes
///
/// The OpenAPI document itself.
#[utoipa::path(
    get, path = "/openapi.json", operation_id = "describe", tag = "health",
    responses((status = 200, description = "This document", body = serde_json::Value, example = json!({"openapi": "3.1.0"})))
)]
pub(crate) async fn show(
    Extension(document): Extension<Arc<Description>>,
) -> Json<Arc<Description>> {
    Json(document)
}
