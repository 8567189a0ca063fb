//! Handlers of releases.

use axum::Json;
use axum::extract::State;
use pathline_client::api::{Board, ReleaseDetail, ReleaseObjects, ReleasePage};
use pathline_ledger::Page;
use pathline_ledger::releases::ReleaseFilter;
use serde::Deserialize;
use utoipa::IntoParams;

use crate::AppState;
use crate::error::ApiError;
use crate::rest::extract::{Path, Query};
use crate::rest::openapi::environment_example;
use crate::rest::openapi::responses::{
    BadRequest, ClusterForbidden, Gone, NotFound, Refused, Unauthorized,
};
use crate::rest::openapi::tracker_example as example;
use crate::views::board::{self, BoardQuestion, MAX_ROWS};
use crate::views::names::check_subdomain;
use crate::views::releases::{self, ReleaseName};
use crate::views::{release_objects, trackers};

/// The fewest digits by which a commit or a release is known.
const MIN_DIGITS: usize = 7;

/// The releases to list.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct ListQuery {
    /// Only those of trackers that have this name, or had it.
    #[param(example = "shop.web", max_length = 127)]
    tracker: Option<String>,
    /// Only those whose configuration, or whose image, is of this commit: 7 hexadecimal digits or more.
    #[param(example = "4f0c1d2", pattern = "^[0-9a-f]{7,64}$")]
    commit: Option<String>,
    /// Only those that have got to this environment, whatever became of them there.
    #[param(example = "prod", max_length = 253)]
    environment: Option<String>,
    /// At most so many.
    #[param(minimum = 1, maximum = 500)]
    #[serde(default = "usual_limit")]
    limit: u32,
    /// Go on after a page.
    r#continue: Option<String>,
}

/// The environment whose objects are wanted.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct ObjectsQuery {
    /// The environment.
    #[param(example = "prod", max_length = 253)]
    environment: String,
}

/// The part of the board that is wanted.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct BoardQuery {
    /// Only one tracker.
    #[param(example = "shop.web", max_length = 127)]
    tracker: Option<String>,
    /// Only one environment.
    #[param(example = "prod", max_length = 253)]
    environment: Option<String>,
    /// At most so many trackers.
    #[param(minimum = 1, maximum = 1000)]
    #[serde(default = "board_limit")]
    limit: u32,
    /// Go on after a page.
    r#continue: Option<String>,
}

/// Names a release in a path.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Path)]
pub(crate) struct ReleaseId {
    /// Its id, or 7 of its first digits or more; or `TRACKER@NUMBER`.
    #[param(example = "9b1d4c7", max_length = 150)]
    id: String,
}

/// List releases
///
/// The newest first, with what became of each.
#[utoipa::path(
    get, path = "/releases", operation_id = "list_releases", tag = "releases", security(("token" = ["read"])), params(ListQuery),
    responses(
        (status = 200, description = "Releases, the newest first", body = ReleasePage, example = json!(example::release_page())),
        Unauthorized, BadRequest
    )
)]
pub(crate) async fn list(
    State(state): State<AppState>,
    Query(query): Query<ListQuery>,
) -> Result<Json<ReleasePage>, ApiError> {
    if !(1..=500).contains(&query.limit) {
        return Err(ApiError::bad_request(
            "limit: a number from 1 to 500 is expected",
        ));
    }
    let tracker = query.tracker.as_deref().map(trackers::name_in_path);
    let commit = query.commit.as_deref().map(|it| digits("commit", it));
    if let Some(environment) = &query.environment {
        check_subdomain("environment", environment)?;
    }
    let filter = ReleaseFilter {
        tracker: tracker.transpose()?,
        commit: commit.transpose()?,
        environment: query.environment,
    };
    let page = Page {
        after: query.r#continue,
        limit: query.limit,
    };
    releases::list(&state, &filter, &page).await.map(Json)
}

/// Show a release
///
/// With what its configuration changes since the release before, key by key. Secrets are not shown, only that they change.
#[utoipa::path(
    get, path = "/releases/{id}", operation_id = "get_release", tag = "releases", security(("token" = ["read"])), params(ReleaseId),
    responses(
        (status = 200, description = "The release", body = ReleaseDetail, example = json!(example::release_detail())),
        Unauthorized, BadRequest, NotFound
    )
)]
pub(crate) async fn show(
    State(state): State<AppState>,
    Path(ReleaseId { id }): Path<ReleaseId>,
) -> Result<Json<ReleaseDetail>, ApiError> {
    let name = name_in_path(&id)?;
    releases::get(&state, &name).await.map(Json)
}

/// Show the objects of a release in an environment
///
/// Those that deploying it writes, or would write, with the settings that the environment has now: ConfigMaps, Secrets
/// without their values, and the Workload or Deliverable.
#[utoipa::path(
    get, path = "/releases/{id}/objects", operation_id = "get_release_objects", tag = "releases", security(("token" = ["read"])),
    params(ReleaseId, ObjectsQuery),
    responses(
        (status = 200, description = "The objects, in the order in which they are written", body = ReleaseObjects,
            example = json!(environment_example::release_objects())),
        Unauthorized, BadRequest, ClusterForbidden, NotFound, Refused, Gone
    )
)]
pub(crate) async fn objects(
    State(state): State<AppState>,
    Path(ReleaseId { id }): Path<ReleaseId>,
    Query(query): Query<ObjectsQuery>,
) -> Result<Json<ReleaseObjects>, ApiError> {
    let name = name_in_path(&id)?;
    check_subdomain("environment", &query.environment)?;
    let objects = release_objects::get(&state, &name, &query.environment);
    objects.await.map(Json)
}

/// Show the board
///
/// The places of the releases of all trackers, by environment, and why they are not further; by the names of trackers, the
/// bytes of which decide. A page that is full is followed by another one, which may be empty.
#[utoipa::path(
    get, path = "/releases/board", operation_id = "get_board", tag = "releases", security(("token" = ["read"])), params(BoardQuery),
    responses(
        (status = 200, description = "A page of the board", body = Board, example = json!(environment_example::board())),
        Unauthorized, BadRequest, ClusterForbidden, NotFound
    )
)]
pub(crate) async fn board(
    State(state): State<AppState>,
    Query(query): Query<BoardQuery>,
) -> Result<Json<Board>, ApiError> {
    if !(1..=MAX_ROWS).contains(&query.limit) {
        let message = format!("limit: a number from 1 to {MAX_ROWS} is expected");
        return Err(ApiError::bad_request(message));
    }
    if let Some(environment) = &query.environment {
        check_subdomain("environment", environment)?;
    }
    let tracker = query.tracker.as_deref().map(trackers::name_in_path);
    let after = query.r#continue.as_deref().map(|it| {
        let name = trackers::name_in_path(it);
        name.map_err(|_| ApiError::bad_request("continue: this is not where a page ended"))
    });
    let asked = BoardQuestion {
        tracker: tracker.transpose()?,
        environment: query.environment,
        limit: query.limit,
        after: after.transpose()?,
    };
    board::board(&state, &asked).await.map(Json)
}

/// Reads the name of a release in a path.
fn name_in_path(text: &str) -> Result<ReleaseName, ApiError> {
    let Some((tracker, number)) = text.split_once('@') else {
        return digits("id", text).map(ReleaseName::Id);
    };
    let is_number = |it: &&str| !it.is_empty() && it.bytes().all(|it| it.is_ascii_digit());
    let number = Some(number)
        .filter(is_number)
        .and_then(|it| it.parse().ok());
    let number = number.ok_or_else(|| {
        ApiError::bad_request("id: a number is expected behind `@`, as in shop.web@41")
    })?;
    Ok(ReleaseName::Number(
        trackers::name_in_path(tracker)?,
        number,
    ))
}

pub(super) fn digits(field: &str, text: &str) -> Result<String, ApiError> {
    let is_digit = |byte: u8| byte.is_ascii_hexdigit();
    if text.len() < MIN_DIGITS || text.len() > 64 || !text.bytes().all(is_digit) {
        let message = format!("{field}: {MIN_DIGITS} to 64 hexadecimal digits are expected");
        return Err(ApiError::bad_request(message));
    }
    Ok(text.to_ascii_lowercase())
}

fn board_limit() -> u32 {
    500
}

fn usual_limit() -> u32 {
    100
}
