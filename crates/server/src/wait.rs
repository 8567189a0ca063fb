//! Has my change arrived, is it live? Answered as soon as it can be, by whichever replica.
//!
//! Whoever waits follows the owner's track in the ledger; nobody polls.

mod asked;
mod id;
mod owner_watch;
mod replaced;
mod waiting;

use std::convert::Infallible;
use std::time::Duration;

use axum::extract::State;
use axum::http::{HeaderMap, header};
use axum::response::sse::{Event, KeepAlive};
use axum::response::{IntoResponse, Response, Sse};
use axum::{Extension, Json};
use pathline_blueprint::owner::OwnerKind;
use tokio::time::timeout;

use self::asked::Asked;
pub(crate) use self::owner_watch::OwnerWatches;
use self::waiting::Waiting;
use crate::Doors;
use crate::api::{Waited, example};
use crate::auth::Caller;
use crate::extract::{Path, Query};
use crate::names::OwnerName;
use crate::openapi::refusals::{Crowded, Guarded, Picky};
use crate::refusal::Refusal;

/// How often a silent stream says that it is alive.
const HEARTBEAT: Duration = Duration::from_secs(10);

/// Wait for a workload
///
/// Answers when everything that is asked `for` is true of the workload in one state, or can't become
/// true any more, or after the time-out with what is known then. A workload that is not there yet is
/// waited for, which the first answer of a stream says; one that is deleted meanwhile is `gone`. With `Accept: text/event-stream`,
/// server-sent events `state` tell where everything is whenever that changes; the last one decides.
#[utoipa::path(
    get, path = "/workloads/{namespace}/{name}/wait", tag = "owners", security(("token" = ["read"])),
    params(OwnerName, Asked, ("Last-Event-ID" = Option<String>, Header, description = "The id of the last answer or event, to go on with what was learned", pattern = "^[0-9]{1,18}(-[01]{1,512})?([.][0-9a-f]{8})?$")),
    responses(
        (status = 200, description = "What can be said", body = Waited, example = json!(example::waited())),
        Guarded, Picky, Crowded
    )
)]
pub(crate) async fn for_workload(
    State(doors): State<Doors>,
    Extension(caller): Extension<Caller>,
    Path(name): Path<OwnerName>,
    headers: HeaderMap,
    Query(asked): Query<Vec<(String, String)>>,
) -> Result<Response, Refusal> {
    answer(&doors, caller, OwnerKind::Workload, &name, &headers, &asked).await
}

/// Wait for a deliverable
///
/// As for a workload.
#[utoipa::path(
    get, path = "/deliverables/{namespace}/{name}/wait", tag = "owners", security(("token" = ["read"])),
    params(OwnerName, Asked, ("Last-Event-ID" = Option<String>, Header, description = "The id of the last answer or event, to go on with what was learned", pattern = "^[0-9]{1,18}(-[01]{1,512})?([.][0-9a-f]{8})?$")),
    responses(
        (status = 200, description = "What can be said", body = Waited, example = json!(example::waited())),
        Guarded, Picky, Crowded
    )
)]
pub(crate) async fn for_deliverable(
    State(doors): State<Doors>,
    Extension(caller): Extension<Caller>,
    Path(name): Path<OwnerName>,
    headers: HeaderMap,
    Query(asked): Query<Vec<(String, String)>>,
) -> Result<Response, Refusal> {
    let kind = OwnerKind::Deliverable;
    answer(&doors, caller, kind, &name, &headers, &asked).await
}

async fn answer(
    doors: &Doors,
    caller: Caller,
    kind: OwnerKind,
    name: &OwnerName,
    headers: &HeaderMap,
    asked: &[(String, String)],
) -> Result<Response, Refusal> {
    let asked = Asked::read(asked, headers)?;
    // In a box of its own: it takes far more memory to begin than to wait.
    let timeout = asked.timeout();
    let waiting = Box::pin(Waiting::start(doors, caller, kind, name, asked)).await?;
    let accepted = headers.get(header::ACCEPT);
    let accepted = accepted.and_then(|accepted| accepted.to_str().ok());
    if accepted.is_some_and(|accepted| accepted.contains("text/event-stream")) {
        return Ok(stream(waiting));
    }
    poll(waiting, timeout)
        .await
        .map(IntoResponse::into_response)
}

/// Answers once, when it is decided or time is up.
async fn poll(mut waiting: Waiting, patience: Duration) -> Result<Json<Waited>, Refusal> {
    let mut last = waiting.next().await?;
    let deciding = async {
        while !last.is_decided() {
            last = waiting.next().await?;
        }
        Ok::<_, Refusal>(())
    };
    // Being late is no failure: what is known now is the answer.
    if let Ok(decided) = timeout(patience, deciding).await {
        decided?;
    }
    Ok(Json(last))
}

/// Answers whenever something changes, until it is decided.
fn stream(waiting: Waiting) -> Response {
    let events = futures::stream::unfold(Some(waiting), async |waiting| {
        let mut waiting = waiting?;
        // Whoever has to leave comes back by itself, and is told why then.
        let waited = waiting.next().await.ok()?;
        let event = Event::default()
            .event("state")
            .id(&waited.id)
            .json_data(&waited)
            .expect("the types of the API are JSON");
        let rest = (!waited.is_decided()).then_some(waiting);
        Some((Ok::<_, Infallible>(event), rest))
    });
    Sse::new(events)
        .keep_alive(KeepAlive::new().interval(HEARTBEAT))
        .into_response()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::auth;

    fn of_two<A, B, F>(_: impl Fn(A, B) -> F) -> usize {
        size_of::<F>()
    }

    fn of_three<A, B, C, F>(_: impl Fn(A, B, C) -> F) -> usize {
        size_of::<F>()
    }

    #[test]
    fn who_waits_takes_little_memory() {
        let (waiting, guarding) = (of_two(poll), of_three(auth::require));
        assert!(waiting <= 4096, "{waiting} bytes to wait");
        assert!(guarding <= 2048, "{guarding} bytes behind the guard");
    }
}
