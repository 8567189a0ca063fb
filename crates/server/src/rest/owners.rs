//! Handlers of workloads and deliverables.

use axum::extract::State;
use axum::{Extension, Json};
use pathline_blueprint::owner::OwnerKind;
use pathline_client::api::{Owner, OwnerPage};
use serde::Deserialize;
use serde_json::json;
use utoipa::IntoParams;

use crate::AppState;
use crate::error::ApiError;
use crate::rest::extract::{Path, Query};
use crate::rest::openapi::example;
use crate::rest::openapi::responses::{BadRequest, Gone, NotFound, Unauthorized};
use crate::rest::owner_routes::Differences;
use crate::views::names::OwnerName;
use crate::views::owners::{self, ListOwners};

/// Names an owner in a path.
#[derive(Clone, Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Path)]
pub(crate) struct OwnerPath {
    /// Its namespace.
    #[param(
        example = "dev",
        pattern = "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$",
        max_length = 63
    )]
    namespace: String,
    /// Its name.
    #[param(
        example = "web",
        pattern = "^[a-z0-9]([-.a-z0-9]*[a-z0-9])?$",
        max_length = 253
    )]
    name: String,
}

impl From<OwnerPath> for OwnerName {
    fn from(OwnerPath { namespace, name }: OwnerPath) -> Self {
        Self { namespace, name }
    }
}

/// The owners to list.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct ListQuery {
    /// Only those of this namespace.
    #[param(
        example = "dev",
        pattern = "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$",
        max_length = 63
    )]
    namespace: Option<String>,
    /// At most so many.
    #[param(minimum = 1, maximum = 500)]
    #[serde(default = "usual_limit")]
    limit: u32,
    /// The `continue` of the page before.
    #[serde(rename = "continue")]
    after: Option<String>,
}

fn usual_limit() -> u32 {
    100
}

/// List workloads
///
/// In the order of the cluster; a page at a time.
#[utoipa::path(
    get, path = "/workloads", operation_id = "list_workloads", tag = "owners", params(ListQuery),
    security(("token" = ["read"])),
    responses(
        (status = 200, description = "Some workloads", body = OwnerPage, example = json!(example::owner_page())),
        Unauthorized, BadRequest, Gone
    )
)]
pub(crate) async fn list(
    State(state): State<AppState>,
    Extension(kind): Extension<OwnerKind>,
    Query(query): Query<ListQuery>,
) -> Result<Json<OwnerPage>, ApiError> {
    let ListQuery {
        namespace,
        limit,
        after,
    } = query;
    let question = ListOwners {
        kind,
        namespace,
        limit,
        after,
    };
    owners::list(&state, &question).await.map(Json)
}

/// Show a workload
///
/// Its path through the supply chain, what it gives and how far that has come, what comes out, and
/// how each of that came to be.
#[utoipa::path(
    get, path = "/workloads/{namespace}/{name}", operation_id = "show_workload", tag = "owners", params(OwnerPath),
    security(("token" = ["read"])),
    responses(
        (status = 200, description = "The workload", body = Owner, example = json!(example::owner())),
        Unauthorized, BadRequest, NotFound
    )
)]
pub(crate) async fn show(
    State(state): State<AppState>,
    Extension(kind): Extension<OwnerKind>,
    Path(name): Path<OwnerPath>,
) -> Result<Json<Owner>, ApiError> {
    owners::show(&state, kind, &name.into()).await.map(Json)
}

/// The description of the route that shows a deliverable.
pub(crate) const SHOW_DELIVERABLE: Differences = Differences {
    description: Some(
        "Its path through the delivery, what it gives and how far that has come, what comes out, and how\n\
         each of that came to be, across git down to what the commit was made of that it runs.",
    ),
    example: Some(|| json!(example::delivery())),
};
