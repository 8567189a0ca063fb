//! Has my change arrived, is it live? Answered as soon as it can be, by whichever replica.
//!
//! Whoever waits follows the owner's track in the ledger; nobody polls.

mod asked;
mod confirm;
mod id;
mod owner_watch;
mod replaced;
mod touched;
mod waiting;

use std::convert::Infallible;
use std::time::Duration;

use axum::extract::State;
use axum::http::{HeaderMap, header};
use axum::response::sse::{Event, KeepAlive};
use axum::response::{IntoResponse, Response, Sse};
use axum::{Extension, Json};
use pathline_blueprint::owner::OwnerKind;
use serde::Serialize;
use tokio::time::timeout;

use self::asked::Asked;
pub(crate) use self::asked::{named, seconds};
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
    respond(waiting, headers, timeout).await
}

/// Somebody who waits for something.
pub(crate) trait Following: Send + 'static {
    /// What they are told.
    type Told: Told;

    /// Returns what can be said as soon as it is something new; a refusal ends the waiting.
    fn next(&mut self) -> impl Future<Output = Result<Self::Told, Refusal>> + Send;

    /// Returns what was found out last. It may be decided although [`Self::next`] has not returned it:
    /// then more was still being looked for.
    fn last(&self) -> Option<Self::Told> {
        None
    }
}

/// Something that is told to those who wait.
pub(crate) trait Told: Serialize + Send {
    /// Tells whether there is nothing more to wait for.
    fn is_decided(&self) -> bool;

    /// Returns what somebody who comes back brings along; empty if nothing is needed.
    fn id(&self) -> &str;
}

impl Told for Waited {
    fn is_decided(&self) -> bool {
        Self::is_decided(self)
    }

    fn id(&self) -> &str {
        &self.id
    }
}

/// Answers once or as a stream, as the client wants it.
pub(crate) async fn respond<F: Following>(
    following: F,
    headers: &HeaderMap,
    patience: Duration,
) -> Result<Response, Refusal> {
    let accepted = headers.get(header::ACCEPT);
    let accepted = accepted.and_then(|accepted| accepted.to_str().ok());
    if accepted.is_some_and(|accepted| accepted.contains("text/event-stream")) {
        return Ok(stream(following));
    }
    poll(following, patience)
        .await
        .map(IntoResponse::into_response)
}

/// Answers once, when it is decided or time is up.
async fn poll<F: Following>(
    mut following: F,
    patience: Duration,
) -> Result<Json<F::Told>, Refusal> {
    let mut last = following.next().await?;
    let deciding = async {
        while !last.is_decided() {
            last = following.next().await?;
        }
        Ok::<_, Refusal>(())
    };
    // Being late is no failure: what is known now is the answer.
    match timeout(patience, deciding).await {
        Ok(decided) => decided?,
        Err(_) => last = following.last().unwrap_or(last),
    }
    Ok(Json(last))
}

/// Answers whenever something changes, until it is decided.
fn stream<F: Following>(following: F) -> Response {
    let events = futures::stream::unfold(Some(following), async |following| {
        let mut following = following?;
        // Whoever has to leave comes back by itself, and is told why then.
        let told = following.next().await.ok()?;
        let event = Event::default().event("state").json_data(&told);
        let event = event.expect("the types of the API are JSON");
        let event = match told.id() {
            "" => event,
            id => event.id(id),
        };
        let rest = (!told.is_decided()).then_some(following);
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
        let (waiting, guarding) = (of_two(poll::<Waiting>), of_three(auth::require));
        assert!(waiting <= 4096, "{waiting} bytes to wait");
        assert!(guarding <= 2048, "{guarding} bytes behind the guard");
    }
}
