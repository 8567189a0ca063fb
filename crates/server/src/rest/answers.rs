//! Responses that wait: once when it is decided or time is up, or as a stream of server-sent events.

use std::convert::Infallible;
use std::time::Duration;

use axum::Json;
use axum::http::{HeaderMap, header};
use axum::response::sse::{Event, KeepAlive};
use axum::response::{IntoResponse, Response, Sse};
use tokio::time::timeout;

use crate::error::ApiError;
use crate::views::answers::{Answer, Answers};

/// The interval at which a silent stream says that it is alive.
const HEARTBEAT: Duration = Duration::from_secs(10);

/// Answers once or as a stream, as the client wants it.
pub(crate) async fn respond<A: Answers>(
    answers: A,
    headers: &HeaderMap,
    limit: Duration,
) -> Result<Response, ApiError> {
    let accepted = headers.get(header::ACCEPT);
    let accepted = accepted.and_then(|accepted| accepted.to_str().ok());
    if accepted.is_some_and(|accepted| accepted.contains("text/event-stream")) {
        return Ok(stream(answers));
    }
    poll(answers, limit).await.map(IntoResponse::into_response)
}

/// Answers once, when it is decided or time is up.
async fn poll<A: Answers>(mut answers: A, limit: Duration) -> Result<Json<A::Answer>, ApiError> {
    let mut last = answers.next().await?;
    let deciding = async {
        while !last.is_decided() {
            last = answers.next().await?;
        }
        Ok::<_, ApiError>(())
    };
    // Being late is no failure: what is known now is the answer.
    match timeout(limit, deciding).await {
        Ok(decided) => decided?,
        Err(_) => last = answers.last().unwrap_or(last),
    }
    Ok(Json(last))
}

/// Answers whenever something changes, until it is decided.
fn stream<A: Answers>(answers: A) -> Response {
    let events = futures::stream::unfold(Some(answers), async |answers| {
        let mut answers = answers?;
        // Whoever has to leave comes back by itself, and is told why then.
        let answer = answers.next().await.ok()?;
        let event = Event::default().event("state").json_data(&answer);
        let event = event.expect("the types of the API are JSON");
        let event = match answer.id() {
            "" => event,
            id => event.id(id),
        };
        let rest = (!answer.is_decided()).then_some(answers);
        Some((Ok::<_, Infallible>(event), rest))
    });
    Sse::new(events)
        .keep_alive(KeepAlive::new().interval(HEARTBEAT))
        .into_response()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rest::guard;
    use crate::views::wait::OwnerWait;

    fn of_two<A, B, F>(_: impl Fn(A, B) -> F) -> usize {
        size_of::<F>()
    }

    fn of_three<A, B, C, F>(_: impl Fn(A, B, C) -> F) -> usize {
        size_of::<F>()
    }

    #[test]
    fn who_waits_takes_little_memory() {
        let (waiting, guarding) = (of_two(poll::<OwnerWait>), of_three(guard::require));
        assert!(waiting <= 4096, "{waiting} bytes to wait");
        assert!(guarding <= 2048, "{guarding} bytes behind the guard");
    }
}
