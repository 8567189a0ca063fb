//! `Task`: runs a command in a checked-out source and keeps what it declares as outputs.

mod outputs;
mod run;

use std::sync::Arc;

use pathline_kinds::workers::Task;
use tokio_util::sync::CancellationToken;

use super::context::{Context, Runnable};
use super::status::is_decided;

/// The condition of a task.
const SUCCEEDED: &str = "Succeeded";

impl Runnable for Task {
    fn is_settled(&self) -> bool {
        let status = self.status.as_ref();
        status.is_some_and(|it| is_decided(&it.conditions, SUCCEEDED, self.metadata.generation))
    }

    fn run(
        self: Arc<Self>,
        context: Arc<Context>,
        stop: CancellationToken,
    ) -> impl Future<Output = ()> + Send + 'static {
        run::run(self, context, stop)
    }
}
