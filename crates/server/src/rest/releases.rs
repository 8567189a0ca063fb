//! Handlers of releases.

use axum::Json;
use axum::extract::State;
use pathline_client::api::{ReleaseDetail, ReleasePage};
use pathline_ledger::Page;
use pathline_ledger::releases::ReleaseFilter;
use serde::Deserialize;
use utoipa::IntoParams;

use crate::AppState;
use crate::error::ApiError;
use crate::rest::extract::{Path, Query};
use crate::rest::openapi::responses::{BadRequest, NotFound, Unauthorized};
use crate::rest::openapi::tracker_example as example;
use crate::views::{releases, trackers};

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
    /// At most so many.
    #[param(minimum = 1, maximum = 500)]
    #[serde(default = "usual_limit")]
    limit: u32,
    /// Go on after a page.
    r#continue: Option<String>,
}

/// Names a release in a path.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Path)]
pub(crate) struct ReleaseId {
    /// Its id, or 7 of its first digits or more.
    #[param(example = "9b1d4c7", pattern = "^[0-9a-f]{7,64}$")]
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
    let filter = ReleaseFilter {
        tracker: tracker.transpose()?,
        commit: commit.transpose()?,
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
    let id = digits("id", &id)?;
    releases::get(&state, &id).await.map(Json)
}

fn digits(field: &str, text: &str) -> Result<String, ApiError> {
    let is_digit = |byte: u8| byte.is_ascii_hexdigit();
    if text.len() < MIN_DIGITS || text.len() > 64 || !text.bytes().all(is_digit) {
        let message = format!("{field}: {MIN_DIGITS} to 64 hexadecimal digits are expected");
        return Err(ApiError::bad_request(message));
    }
    Ok(text.to_ascii_lowercase())
}

fn usual_limit() -> u32 {
    100
}
