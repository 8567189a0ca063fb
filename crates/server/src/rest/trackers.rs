//! Handlers of trackers.

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use pathline_client::api::{Tracker, TrackerRequest};
use pathline_ledger::Page;
use pathline_ledger::trackers::Edition;
use pathline_release::request::MAX_BODY;
use serde::Deserialize;
use utoipa::IntoParams;

use crate::AppState;
use crate::auth::Caller;
use crate::error::{ApiError, ErrorKind};
use crate::rest::extract::{Path, Query, read_bytes};
use crate::rest::openapi::responses::{
    BadRequest, Conflict, InvalidBody, InvalidFields, NotFound, Stale, Unauthorized, Writing,
};
use crate::rest::openapi::tracker_example as example;
use crate::views::trackers;

/// Names a tracker in a path.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Path)]
pub(crate) struct TrackerId {
    /// Its name, `GROUP.NAME`.
    #[param(example = "shop.web", max_length = 127)]
    pub(super) id: String,
}

/// The trackers to list.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct ListQuery {
    /// At most so many; without, all of them.
    #[param(minimum = 1, maximum = 500)]
    limit: Option<u32>,
    /// Go on after a page, as its `Link` says.
    r#continue: Option<String>,
}

/// List trackers
///
/// All of them, by name and without their secrets; with `limit` a page, whose `Link` leads to the next.
#[utoipa::path(
    get, path = "/trackers", operation_id = "list_trackers", tag = "trackers", security(("token" = ["read"])), params(ListQuery),
    responses(
        (status = 200, description = "The trackers, by name", body = Vec<Tracker>, headers(("Link" = String, description = "The next page, `rel=\"next\"`")),
            example = json!([example::tracker()])),
        Unauthorized, BadRequest
    )
)]
pub(crate) async fn list(
    State(state): State<AppState>,
    Query(query): Query<ListQuery>,
) -> Result<Response, ApiError> {
    let page = page(&query)?;
    let listed = trackers::list(&state, page.as_ref()).await?;
    let mut response = Json(listed.items).into_response();
    if let (Some(next), Some(page)) = (listed.next, page) {
        let link = format!(
            "</trackers?limit={}&continue={next}>; rel=\"next\"",
            page.limit
        );
        let link = HeaderValue::try_from(link).expect("names are of letters, digits and dashes");
        response.headers_mut().insert(header::LINK, link);
    }
    Ok(response)
}

/// Make a tracker
///
/// From then on the application file and the image are followed. The answer comes at once; what was found out is in
/// `status` a moment later.
#[utoipa::path(
    post, path = "/trackers", operation_id = "create_tracker", tag = "trackers", security(("token" = ["write"])),
    request_body(content = TrackerRequest, example = json!(example::tracker_request())),
    responses(
        (status = 201, description = "The tracker", body = Tracker, headers(("Location" = String, description = "Its path"), ("ETag" = String, description = "Its edition")),
            example = json!(example::tracker())),
        Writing, BadRequest, InvalidBody, InvalidFields, Conflict
    )
)]
pub(crate) async fn create(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, ApiError> {
    let body = read_body(&headers, body).await?;
    let made = trackers::create(&state, &body, &caller.token.name).await?;
    let location = format!("/trackers/{}", made.id);
    let location = HeaderValue::try_from(location).expect("names are of letters and digits");
    let mut response = (StatusCode::CREATED, tagged(made)).into_response();
    response.headers_mut().insert(header::LOCATION, location);
    Ok(response)
}

/// Show a tracker
#[utoipa::path(
    get, path = "/trackers/{id}", operation_id = "get_tracker", tag = "trackers", security(("token" = ["read"])), params(TrackerId),
    responses(
        (status = 200, description = "The tracker", body = Tracker, headers(("ETag" = String, description = "Its edition, for `If-Match`")),
            example = json!(example::tracker())),
        Unauthorized, BadRequest, NotFound
    )
)]
pub(crate) async fn show(
    State(state): State<AppState>,
    Path(TrackerId { id }): Path<TrackerId>,
) -> Result<Response, ApiError> {
    let name = trackers::name_in_path(&id)?;
    trackers::get(&state, &name).await.map(tagged)
}

/// Replace what a tracker reads
///
/// A full replacement: what is left out is not kept, except the secret, and that only while the repository stays the same.
#[utoipa::path(
    put, path = "/trackers/{id}", operation_id = "replace_tracker", tag = "trackers", security(("token" = ["write"])),
    params(TrackerId, ("If-Match" = Option<String>, Header, description = "Replace this edition only, and answer 412 otherwise")),
    request_body(content = TrackerRequest, example = json!(example::tracker_request())),
    responses(
        (status = 200, description = "The tracker after that", body = Tracker, example = json!(example::tracker())),
        Writing, BadRequest, InvalidBody, InvalidFields, NotFound, Stale
    )
)]
pub(crate) async fn replace(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
    Path(TrackerId { id }): Path<TrackerId>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, ApiError> {
    let name = trackers::name_in_path(&id)?;
    let body = read_body(&headers, body).await?;
    let expected = expected(&headers);
    let by = &caller.token.name;
    let replaced = trackers::replace(&state, &name, expected, &body, by).await?;
    Ok(tagged(replaced))
}

/// Delete a tracker
///
/// Nothing is polled any more, what waits in its queues is cancelled, and its secret is erased. Its releases stay, and
/// nothing is removed from clusters.
#[utoipa::path(
    delete, path = "/trackers/{id}", operation_id = "delete_tracker", tag = "trackers", security(("token" = ["write"])),
    params(TrackerId, ("If-Match" = Option<String>, Header, description = "Delete this edition only, and answer 412 otherwise")),
    responses((status = 204, description = "It is deleted"), Writing, BadRequest, NotFound, Stale)
)]
pub(crate) async fn delete(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
    Path(TrackerId { id }): Path<TrackerId>,
    headers: HeaderMap,
) -> Result<StatusCode, ApiError> {
    let name = trackers::name_in_path(&id)?;
    let expected = expected(&headers);
    trackers::delete(&state, &name, expected, &caller.token.name).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Look at a tracker now
///
/// Repository and registry are asked at once, unless they do not want to be.
#[utoipa::path(
    post, path = "/trackers/{id}/poll", operation_id = "poll_tracker", tag = "trackers", security(("token" = ["write"])), params(TrackerId),
    responses((status = 202, description = "It will be looked at"), Writing, BadRequest, NotFound)
)]
pub(crate) async fn poll(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
    Path(TrackerId { id }): Path<TrackerId>,
) -> Result<StatusCode, ApiError> {
    let name = trackers::name_in_path(&id)?;
    trackers::poll(&state, &name, &caller.token.name).await?;
    Ok(StatusCode::ACCEPTED)
}

fn page(query: &ListQuery) -> Result<Option<Page>, ApiError> {
    let after = query.r#continue.as_deref().map(|it| {
        // Pages end with a name.
        let name = trackers::name_in_path(it);
        name.map_err(|_| ApiError::bad_request("continue: this is not where a page ended"))
    });
    let after = after.transpose()?;
    match query.limit {
        Some(limit @ 1..=500) => Ok(Some(Page {
            after: after.map(String::from),
            limit,
        })),
        Some(_) => Err(ApiError::bad_request(
            "limit: a number from 1 to 500 is expected",
        )),
        None if after.is_some() => Err(ApiError::bad_request(
            "continue: it goes on after a page, so `limit` is expected too",
        )),
        None => Ok(None),
    }
}

/// Reads a body that is said to be JSON, or none at all.
pub(super) async fn read_optional_body(headers: &HeaderMap, body: Body) -> Result<Bytes, ApiError> {
    let read = read_bytes(headers, body, MAX_BODY).await?;
    if !read.is_empty() {
        check_type(headers)?;
    }
    Ok(read)
}

/// Reads a body that is said to be JSON; parameters of the type do not matter.
pub(super) async fn read_body(headers: &HeaderMap, body: Body) -> Result<Bytes, ApiError> {
    check_type(headers)?;
    read_bytes(headers, body, MAX_BODY).await
}

fn check_type(headers: &HeaderMap) -> Result<(), ApiError> {
    let given = headers.get(header::CONTENT_TYPE);
    let given = given.and_then(|it| it.to_str().ok()).unwrap_or_default();
    let essence = given.split(';').next().unwrap_or_default().trim();
    if !essence.eq_ignore_ascii_case("application/json") {
        let message = "Expected request with `Content-Type: application/json`";
        return Err(
            ApiError::new(ErrorKind::UnsupportedMediaType, "not-json", message)
                .with_hint("send `Content-Type: application/json`"),
        );
    }
    Ok(())
}

/// Reads the editions that a request is for, a list of strong entity tags (RFC 9110, 13.1.1); `*` is any.
fn expected(headers: &HeaderMap) -> Option<Vec<Edition>> {
    let given = headers.get_all(header::IF_MATCH);
    let given: Vec<&str> = given
        .iter()
        .map(|it| it.to_str().unwrap_or_default().trim())
        .collect();
    if given.is_empty() || given == ["*"] {
        return None;
    }
    // What is no edition of ours is none that there is. None of ours has a comma in it.
    let tags = given.iter().flat_map(|it| it.split(','));
    Some(tags.filter_map(|it| edition(it.trim())).collect())
}

/// Reads an entity tag; a weak one never matches.
fn edition(tag: &str) -> Option<Edition> {
    let numbers = tag.strip_prefix('"')?.strip_suffix('"')?;
    let (generation, token_version) = numbers.split_once('.')?;
    Some(Edition {
        generation: generation.parse().ok()?,
        token_version: token_version.parse().ok()?,
    })
}

fn tagged(tracker: Tracker) -> Response {
    let tag = format!("\"{}.{}\"", tracker.generation, tracker.token_version);
    let tag = HeaderValue::try_from(tag).expect("it is made of digits");
    let mut response = Json(tracker).into_response();
    response.headers_mut().insert(header::ETAG, tag);
    response
}
