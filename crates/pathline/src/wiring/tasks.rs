//! Parts that run until they are told to stop.

use pathline_workers::explain;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

/// Tasks that run until they are told to stop, and what they were told with.
#[derive(Default)]
pub(crate) struct Tasks {
    pub(crate) shutdown: CancellationToken,
    running: JoinSet<anyhow::Result<()>>,
}

impl Tasks {
    /// Starts a task, which ends when `shutdown` is cancelled.
    pub(crate) fn run<E>(&mut self, task: impl Future<Output = Result<(), E>> + Send + 'static)
    where
        E: Into<anyhow::Error>,
    {
        self.running.spawn(async { task.await.map_err(Into::into) });
    }

    /// Waits for the first task to end; none should, while nobody has asked.
    pub(crate) async fn ended(&mut self) -> anyhow::Error {
        match self.running.join_next().await {
            Some(Ok(Err(error))) => error,
            Some(Err(panicked)) => anyhow::Error::new(panicked).context("a part of Pathline broke"),
            Some(Ok(Ok(()))) | None => anyhow::Error::msg("a part of Pathline ended unasked"),
        }
    }

    /// Tells all tasks to stop and waits until they have.
    pub(crate) async fn stop(mut self) {
        self.shutdown.cancel();
        while let Some(ended) = self.running.join_next().await {
            match ended {
                Ok(Ok(())) => {}
                Ok(Err(error)) => tracing::warn!("while stopping: {}", explain(error.as_ref())),
                Err(panicked) => tracing::error!("while stopping: {panicked}"),
            }
        }
    }
}
