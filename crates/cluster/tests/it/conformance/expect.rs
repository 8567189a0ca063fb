//! Expectations of answers and streams.

use std::fmt::Debug;
use std::time::Duration;

use anyhow::{Context, Result};
use futures::{Stream, StreamExt};
use kube::core::Status;
use tokio::time::timeout;

/// Returns the `Status` that a call was refused with.
pub(crate) fn refused<T: Debug>(result: Result<T, kube::Error>) -> Status {
    match result {
        Err(kube::Error::Api(status)) => *status,
        other => panic!("the server has to refuse this with a Status, not {other:?}"),
    }
}

/// Returns a refusal as `CODE REASON: MESSAGE`.
pub(crate) fn refusal<T: Debug>(result: Result<T, kube::Error>) -> String {
    let status = refused(result);
    format!("{} {}: {}", status.code, status.reason, status.message)
}

/// Waits for something that has to happen, but not for ever.
pub(crate) async fn soon<T>(what: &str, future: impl Future<Output = T>) -> Result<T> {
    timeout(Duration::from_secs(30), future)
        .await
        .with_context(|| format!("{what} did not happen within 30 s"))
}

/// Waits until a question is answered with what has to become true, but not for ever.
pub(crate) async fn eventually<T>(
    what: &str,
    mut ask: impl AsyncFnMut() -> Result<Option<T>>,
) -> Result<T> {
    let poll = async {
        loop {
            if let Some(answer) = ask().await? {
                return Ok(answer);
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    };
    soon(what, poll).await?
}

/// Returns the next item of a stream of results.
pub(crate) async fn next<T, E>(stream: &mut (impl Stream<Item = Result<T, E>> + Unpin)) -> Result<T>
where
    E: std::error::Error + Send + Sync + 'static,
{
    let item = soon("the next event", stream.next()).await?;
    Ok(item.context("the stream ended")??)
}
