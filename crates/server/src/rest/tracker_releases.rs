//! Handlers of the releases of one tracker: why they are not there yet, when they are, and one at once.

use std::time::Duration;

use axum::Extension;
use axum::Json;
use axum::body::Body;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use pathline_client::api::{Release, ReleaseRequest, ReleaseWait, TrackerWhy};
use serde::Deserialize;
use utoipa::IntoParams;

use crate::AppState;
use crate::auth::Caller;
use crate::error::ApiError;
use crate::rest::extract::{Path, Query};
use crate::rest::openapi::environment_example as example;
use crate::rest::openapi::responses::{
    BadRequest, ClusterForbidden, InvalidBody, InvalidFields, NotFound, Refused, TooManyRequests,
    Unauthorized, Writing,
};
use crate::rest::releases::digits;
use crate::rest::trackers::{TrackerId, read_optional_body};
use crate::rest::{answers, environments, wait};
use crate::views::names::check_subdomain;
use crate::views::release_wait::{AwaitedRelease, ReleaseWaiting};
use crate::views::why::WhyQuestion;
use crate::views::{by_hand, trackers, why};

/// The greatest number of a release that is asked for; all readers of JSON keep it.
const MAX_NUMBER: u64 = (1 << 53) - 1;

/// The release that is asked about, and where.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct WhyQuery {
    /// The number of the release; without, and without `commit`, the newest one.
    #[param(minimum = 1, example = 41)]
    release: Option<u64>,
    /// The newest release whose configuration, or whose image, is of this commit: 7 hexadecimal digits or more.
    #[param(example = "4f0c1d2", pattern = "^[0-9a-f]{7,64}$")]
    commit: Option<String>,
    /// Only this environment.
    #[param(example = "prod", max_length = 253)]
    environment: Option<String>,
}

/// The release that is waited for, and where.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct WaitQuery {
    /// The number of the release; either this or `commit`.
    #[param(minimum = 1, example = 41)]
    release: Option<u64>,
    /// The commit of the configuration, or of the image: 7 hexadecimal digits or more.
    #[param(example = "4f0c1d2", pattern = "^[0-9a-f]{7,64}$")]
    commit: Option<String>,
    /// The environment.
    #[param(example = "prod", max_length = 253)]
    environment: String,
    /// After so many seconds an answer comes in any case. A stream goes on.
    #[param(value_type = Option<u64>, minimum = 0, maximum = 600)]
    timeout: Option<String>,
}

/// Say why a release is not there yet
///
/// For each environment: a sentence, and the earliest time at which the release is taken there. Of a tracker without a
/// release, or of a commit that is in none, what it waits for.
#[utoipa::path(
    get, path = "/trackers/{id}/why", operation_id = "why_tracker", tag = "trackers", security(("token" = ["read"])),
    params(TrackerId, WhyQuery),
    responses(
        (status = 200, description = "The reasons", body = TrackerWhy, example = json!(example::why())),
        Unauthorized, BadRequest, ClusterForbidden, NotFound
    )
)]
pub(crate) async fn why(
    State(state): State<AppState>,
    Path(TrackerId { id }): Path<TrackerId>,
    Query(query): Query<WhyQuery>,
) -> Result<Json<TrackerWhy>, ApiError> {
    let name = trackers::name_in_path(&id)?;
    if query.release.is_some() && query.commit.is_some() {
        return Err(ApiError::bad_request(
            "release and commit: only one of them can be asked for",
        ));
    }
    if let Some(environment) = &query.environment {
        check_subdomain("environment", environment)?;
    }
    let commit = query.commit.as_deref().map(|it| digits("commit", it));
    let asked = WhyQuestion {
        release: number(query.release)?,
        commit: commit.transpose()?,
        environment: query.environment,
    };
    why::why(&state, &name, &asked).await.map(Json)
}

/// Wait for a release in an environment
///
/// Answers when a release of the commit, or the one that is named, is deployed there, or can't be any more (it has failed,
/// another one has taken its place, or it keeps out), or after the time-out with what is known then. A release of a commit
/// that is not formed yet is waited for. With `Accept: text/event-stream`, events `state` tell where it is whenever that
/// changes; the last one decides.
#[utoipa::path(
    get, path = "/trackers/{id}/wait", operation_id = "wait_for_release", tag = "trackers", security(("token" = ["read"])),
    params(TrackerId, WaitQuery),
    responses(
        (status = 200, description = "What can be said", body = ReleaseWait, example = json!(example::release_wait())),
        Unauthorized, BadRequest, ClusterForbidden, NotFound, TooManyRequests
    )
)]
pub(crate) async fn wait(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
    Path(TrackerId { id }): Path<TrackerId>,
    headers: HeaderMap,
    Query(query): Query<WaitQuery>,
) -> Result<Response, ApiError> {
    let name = trackers::name_in_path(&id)?;
    check_subdomain("environment", &query.environment)?;
    let awaited = match (number(query.release)?, &query.commit) {
        (Some(number), None) => AwaitedRelease::Number(number),
        (None, Some(commit)) => AwaitedRelease::Commit(digits("commit", commit)?),
        _ => {
            return Err(ApiError::bad_request(
                "release and commit: one of them is expected",
            ));
        }
    };
    let seconds = query.timeout.as_deref().map(wait::seconds).transpose()?;
    let timeout = Duration::from_secs(seconds.unwrap_or(30));
    // In a box of its own: it takes far more memory to begin than to wait.
    let waiting = ReleaseWaiting::start(&state, caller, &name, query.environment, awaited);
    let waiting = Box::pin(waiting).await?;
    answers::respond(waiting, &headers, timeout).await
}

/// Release a configuration at once
///
/// Forms a release of the configuration that waits with the image that is released, without waiting for another one; 409 if
/// the version of the configuration selects another image, or nothing waits.
#[utoipa::path(
    post, path = "/trackers/{id}/release", operation_id = "request_release", tag = "trackers", security(("token" = ["write"])),
    params(TrackerId),
    request_body(content = Option<ReleaseRequest>, example = json!(example::release_request())),
    responses(
        (status = 201, description = "The release that was formed", body = Release, headers(("Location" = String, description = "Its path")),
            example = json!(example::requested())),
        Writing, BadRequest, InvalidBody, InvalidFields, NotFound, Refused
    )
)]
pub(crate) async fn request(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
    Path(TrackerId { id }): Path<TrackerId>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, ApiError> {
    let name = trackers::name_in_path(&id)?;
    let body = read_optional_body(&headers, body).await?;
    let formed = by_hand::request(&state, &name, &body, &caller.token.name);
    formed.await.map(environments::created)
}

fn number(given: Option<u64>) -> Result<Option<u64>, ApiError> {
    match given {
        Some(number) if !(1..=MAX_NUMBER).contains(&number) => Err(ApiError::bad_request(format!(
            "release: a number from 1 to {MAX_NUMBER} is expected"
        ))),
        given => Ok(given),
    }
}
