//! Handlers of environments, and of what is done to releases in them by hand.

use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use pathline_client::api::{
    Environment, HeldPlace, HoldRequest, PromoteRequest, Promoted, Release, RollbackRequest,
};
use serde::Deserialize;
use utoipa::IntoParams;

use crate::AppState;
use crate::auth::Caller;
use crate::error::ApiError;
use crate::rest::extract::Path;
use crate::rest::openapi::environment_example as example;
use crate::rest::openapi::responses::{
    BadRequest, ClusterForbidden, InvalidBody, InvalidFields, NotFound, Refused, Unauthorized,
    Writing,
};
use crate::rest::trackers::{read_body, read_optional_body};
use crate::views::names::check_subdomain;
use crate::views::{by_hand, environments};

/// Names an environment in a path.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Path)]
pub(crate) struct EnvironmentName {
    /// Its name.
    #[param(example = "prod", max_length = 253)]
    env: String,
}

impl EnvironmentName {
    fn read(self) -> Result<String, ApiError> {
        check_subdomain("environment", &self.env)?;
        Ok(self.env)
    }
}

/// List environments
///
/// In the order in which releases go through them, with their holds and freezes, and with what is on its way there.
#[utoipa::path(
    get, path = "/environments", operation_id = "list_environments", tag = "environments", security(("token" = ["read"])),
    responses(
        (status = 200, description = "The environments, the first one first", body = Vec<Environment>, example = json!([example::environment()])),
        Unauthorized, ClusterForbidden
    )
)]
pub(crate) async fn list(
    State(state): State<AppState>,
) -> Result<Json<Vec<Environment>>, ApiError> {
    environments::list(&state).await.map(Json)
}

/// Promote a release
///
/// Queues one that is held, or that has failed; `now` deploys it at once, without a tick, whether it has soaked or not.
#[utoipa::path(
    post, path = "/environments/{env}/promote", operation_id = "promote_release", tag = "environments", security(("token" = ["write"])),
    params(EnvironmentName),
    request_body(content = PromoteRequest, example = json!(example::promote_request())),
    responses(
        (status = 200, description = "What has changed", body = Promoted, example = json!(example::promoted())),
        Writing, BadRequest, InvalidBody, InvalidFields, NotFound, Refused
    )
)]
pub(crate) async fn promote(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
    Path(name): Path<EnvironmentName>,
    headers: HeaderMap,
    body: Body,
) -> Result<Json<Promoted>, ApiError> {
    let name = name.read()?;
    let body = read_body(&headers, body).await?;
    let promoted = by_hand::promote(&state, &name, &body, &caller.token.name);
    promoted.await.map(Json)
}

/// Hold an environment
///
/// It, or one tracker in it, takes nothing but rollbacks until it is resumed. What is held already gets the new reason.
#[utoipa::path(
    post, path = "/environments/{env}/hold", operation_id = "hold_environment", tag = "environments", security(("token" = ["write"])),
    params(EnvironmentName),
    request_body(content = Option<HoldRequest>, example = json!(example::hold_request())),
    responses(
        (status = 200, description = "The hold", body = HeldPlace, example = json!(example::held_place())),
        Writing, BadRequest, InvalidBody, InvalidFields, NotFound, Refused
    )
)]
pub(crate) async fn hold(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
    Path(name): Path<EnvironmentName>,
    headers: HeaderMap,
    body: Body,
) -> Result<Json<HeldPlace>, ApiError> {
    let name = name.read()?;
    let body = read_optional_body(&headers, body).await?;
    let held = by_hand::hold(&state, &name, &body, &caller.token.name);
    held.await.map(Json)
}

/// Resume an environment
///
/// Ends the hold of the whole environment, or that of one tracker in it.
#[utoipa::path(
    post, path = "/environments/{env}/resume", operation_id = "resume_environment", tag = "environments", security(("token" = ["write"])),
    params(EnvironmentName),
    request_body(content = Option<HoldRequest>, example = json!(example::hold_request())),
    responses(
        (status = 200, description = "The hold that has ended", body = HeldPlace, example = json!(example::held_place())),
        Writing, BadRequest, InvalidBody, InvalidFields, NotFound, Refused
    )
)]
pub(crate) async fn resume(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
    Path(name): Path<EnvironmentName>,
    headers: HeaderMap,
    body: Body,
) -> Result<Json<HeldPlace>, ApiError> {
    let name = name.read()?;
    let body = read_optional_body(&headers, body).await?;
    let resumed = by_hand::resume(&state, &name, &body, &caller.token.name);
    resumed.await.map(Json)
}

/// Roll an environment back
///
/// Forms a release with the content of an older one and deploys it there at once, whatever stops the environment; it goes
/// nowhere else, and the tracker is held there until it is resumed.
#[utoipa::path(
    post, path = "/environments/{env}/rollback", operation_id = "roll_back", tag = "environments", security(("token" = ["write"])),
    params(EnvironmentName),
    request_body(content = RollbackRequest, example = json!(example::rollback_request())),
    responses(
        (status = 201, description = "The release that was formed", body = Release, headers(("Location" = String, description = "Its path")),
            example = json!(example::rollback())),
        Writing, BadRequest, InvalidBody, InvalidFields, NotFound, Refused
    )
)]
pub(crate) async fn roll_back(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
    Path(name): Path<EnvironmentName>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, ApiError> {
    let name = name.read()?;
    let body = read_body(&headers, body).await?;
    let formed = by_hand::roll_back(&state, &name, &body, &caller.token.name);
    formed.await.map(created)
}

/// Answers with a release that was formed.
pub(super) fn created(release: Release) -> Response {
    let location = format!("/releases/{}", release.id);
    let location = HeaderValue::try_from(location).expect("ids are hexadecimal digits");
    let mut response = (StatusCode::CREATED, Json(release)).into_response();
    response.headers_mut().insert(header::LOCATION, location);
    response
}
