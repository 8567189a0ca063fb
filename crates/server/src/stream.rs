//! Changes as they happen, as server-sent events.
//!
//! A client is a cursor into what the ledger keeps: it owns no queue, so one that stops reading
//! holds no memory, and one that comes back goes on where it was.

use std::convert::Infallible;
use std::time::Duration;

use axum::Extension;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Sse;
use axum::response::sse::{Event, KeepAlive};
use futures::Stream;
use serde::Deserialize;
use utoipa::IntoParams;

use self::follower::Follower;
use crate::Doors;
use crate::api::example;
use crate::auth::Caller;
use crate::extract::Query;
use crate::openapi::refusals::{Crowded, Guarded, Outdated, Picky};
use crate::refusal::Refusal;

mod follower;

/// How often a silent stream says that it is alive.
const HEARTBEAT: Duration = Duration::from_secs(10);

/// Where to begin.
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
/// Server-sent events: first `begin`, then a `change` for everything that is recorded. The id of
/// an event is its place among all changes; a client that comes back with `Last-Event-ID` misses
/// nothing. The stream ends when Pathline stops and when the token ends.
#[utoipa::path(
    get, path = "/stream", operation_id = "follow_changes", tag = "stream", security(("token" = ["read"])),
    params(
        Start,
        ("Last-Event-ID" = Option<i64>, Header, description = "The last event that was seen; wins over `after`", minimum = 0)
    ),
    responses(
        (status = 200, description = "Events until somebody ends it", body = String, content_type = "text/event-stream",
            example = json!(example::stream())),
        Guarded, Picky, Outdated, Crowded
    )
)]
pub(crate) async fn follow(
    State(doors): State<Doors>,
    Extension(caller): Extension<Caller>,
    headers: HeaderMap,
    Query(start): Query<Start>,
) -> Result<Sse<impl Stream<Item = Result<Event, Infallible>>>, Refusal> {
    let after = last_seen(&headers)?.or(start.after);
    if after.is_some_and(|after| after < 0) {
        return Err(Refusal::bad_request(
            "after: a number that is not below 0 is expected",
        ));
    }
    let follower = Follower::start(&doors, caller, after).await?;
    let events = futures::stream::unfold(follower, Follower::next);
    Ok(Sse::new(events).keep_alive(KeepAlive::new().interval(HEARTBEAT)))
}

fn last_seen(headers: &HeaderMap) -> Result<Option<i64>, Refusal> {
    let Some(given) = headers.get("last-event-id") else {
        return Ok(None);
    };
    let read = given
        .to_str()
        .ok()
        .and_then(|text| text.trim().parse().ok());
    read.map(Some).ok_or_else(|| {
        Refusal::bad_request("Last-Event-ID: the id of an event is expected, a number")
    })
}
