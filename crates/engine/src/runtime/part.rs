//! The parts of the engine: loops that run side by side.

use futures::FutureExt;
use futures::future::BoxFuture;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::Error;

/// A loop of the engine. It runs beside the others until the engine stops.
pub(crate) struct Part {
    name: &'static str,
    running: BoxFuture<'static, Result<(), Error>>,
}

impl Part {
    /// Makes a part that cannot fail; its name is for logs.
    pub(crate) fn new(
        name: &'static str,
        running: impl Future<Output = ()> + Send + 'static,
    ) -> Self {
        Self::fallible(name, running.map(Ok))
    }

    /// Makes a part whose failure stops the engine.
    pub(crate) fn fallible(
        name: &'static str,
        running: impl Future<Output = Result<(), Error>> + Send + 'static,
    ) -> Self {
        Self {
            name,
            running: running.boxed(),
        }
    }
}

/// Runs all parts until `stop` is cancelled or one of them fails. Dropping it ends all at once.
///
/// # Errors
/// Fails if a part failed or panicked; the others have ended too by then.
pub(crate) async fn run_all(parts: Vec<Part>, stop: &CancellationToken) -> Result<(), Error> {
    let mut running = JoinSet::new();
    for Part {
        name,
        running: part,
    } in parts
    {
        running.spawn(part.inspect(move |_| tracing::debug!(part = name, "has ended")));
    }
    let mut result = Ok(());
    while let Some(ended) = running.join_next().await {
        // Only the first failure is the cause; later ones follow from being stopped.
        result = result.and(ended.map_err(Error::from).flatten());
        if result.is_err() {
            stop.cancel();
        }
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn part_that_panics_stops_the_others() {
        let stop = CancellationToken::new();
        let waiting = Part::new("waiting", stop.clone().cancelled_owned());
        let panicking = Part::new("panicking", async { panic!("as the test wants it") });
        let ended = run_all(vec![waiting, panicking], &stop).await;
        assert!(matches!(ended, Err(Error::Panicked(_))));
    }
}
