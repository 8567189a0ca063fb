//! Tasks that parts start while they run: none outlives the engine.

use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// Starts tasks, and waits for their end. They end by themselves once the engine stops.
pub(crate) struct Tasks {
    tracker: TaskTracker,
    stop: CancellationToken,
}

impl Tasks {
    /// Makes the tasks of an engine that `stop` stops.
    pub(crate) fn new(stop: CancellationToken) -> Self {
        Self {
            tracker: TaskTracker::new(),
            stop,
        }
    }

    /// Starts a task, which has to end when the engine stops.
    pub(crate) fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        self.tracker.spawn(task);
    }

    /// Returns what stops the engine.
    pub(crate) fn stop(&self) -> &CancellationToken {
        &self.stop
    }

    /// Waits, after the engine was stopped, until no task runs any more.
    pub(crate) async fn ended(&self) {
        self.stop.cancelled().await;
        self.tracker.close();
        self.tracker.wait().await;
    }
}
