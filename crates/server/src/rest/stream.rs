//! The handler of changes, as server-sent events.

use std::convert::Infallible;
use std::time::Duration;

use axum::Extension;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Sse;
use axum::response::sse::{Event, KeepAlive};
use futures::Stream;
use serde::{Deserialize, Serialize};
use utoipa::IntoParams;

use crate::AppState;
use crate::auth::Caller;
use crate::error::ApiError;
use crate::rest::extract::Query;
use crate::rest::openapi::example;
use crate::rest::openapi::responses::{BadRequest, Gone, TooManyRequests, Unauthorized};
use crate::views::changes::{ChangeFeed, Item};

/// The interval at which a silent stream says that it is alive.
const HEARTBEAT: Duration = Duration::from_secs(10);

/// The change to begin after.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct Start {
    /// Tell what came after this change; without, and without Last-Event-ID, only what is new.
    #[param(minimum = 0, example = 41)]
    after: Option<i64>,
}

/// Follow changes
///
/// Server-sent events: first `begin`, then everything as it is recorded: a `change` of an owner, a `tracker` to which
/// something has happened, a `release` that was formed, the `move` of one to another state in an environment, a `hold`
/// of an environment or of a tracker there. The id of an event is its number among all changes; a client
/// that comes back with `Last-Event-ID` misses nothing. The stream ends when Pathline stops and when the token ends.
#[utoipa::path(
    get, path = "/stream", operation_id = "follow_changes", tag = "stream", security(("token" = ["read"])),
    params(
        Start,
        ("Last-Event-ID" = Option<i64>, Header, description = "The last event that was seen; wins over `after`", minimum = 0)
    ),
    responses(
        (status = 200, description = "Events until somebody ends it", body = String, content_type = "text/event-stream",
            example = json!(example::stream())),
        Unauthorized, BadRequest, Gone, TooManyRequests
    )
)]
pub(crate) async fn follow(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
    headers: HeaderMap,
    Query(start): Query<Start>,
) -> Result<Sse<impl Stream<Item = Result<Event, Infallible>>>, ApiError> {
    let after = last_seen(&headers)?.or(start.after);
    if after.is_some_and(|after| after < 0) {
        return Err(ApiError::bad_request(
            "after: a number that is not below 0 is expected",
        ));
    }
    let feed = ChangeFeed::start(&state, caller, after).await?;
    let events = futures::stream::unfold(feed, async |mut feed| {
        let item = feed.next().await?;
        Some((Ok(event(&item)), feed))
    });
    Ok(Sse::new(events).keep_alive(KeepAlive::new().interval(HEARTBEAT)))
}

fn last_seen(headers: &HeaderMap) -> Result<Option<i64>, ApiError> {
    let Some(given) = headers.get("last-event-id") else {
        return Ok(None);
    };
    let read = given
        .to_str()
        .ok()
        .and_then(|text| text.trim().parse().ok());
    read.map(Some).ok_or_else(|| {
        ApiError::bad_request("Last-Event-ID: the id of an event is expected, a number")
    })
}

fn event(item: &Item) -> Event {
    match item {
        Item::Begin(begin) => named("begin", begin.sequence, begin),
        Item::Change(change) => named("change", change.sequence, change),
        Item::Tracker(event) => named("tracker", event.sequence, event),
        Item::Release(event) => named("release", event.sequence, event),
        Item::Move(event) => named("move", event.sequence, event),
        Item::Hold(event) => named("hold", event.sequence, event),
    }
}

fn named<T: Serialize>(name: &str, sequence: i64, data: &T) -> Event {
    Event::default()
        .event(name)
        .id(sequence.to_string())
        .json_data(data)
        .expect("the types of the API are JSON")
}
