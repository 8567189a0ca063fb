//! `Process`: keeps a command running and says which inputs it runs with.

mod former;
mod port;
mod probe;
mod readiness;
mod supervise;

pub use former::forget_runs;

use std::sync::Arc;

use pathline_kinds::workers::Process;
use tokio_util::sync::CancellationToken;

use super::context::{Context, Runnable};

impl Runnable for Process {
    /// A process is never done.
    fn is_settled(&self) -> bool {
        false
    }

    fn run(
        self: Arc<Self>,
        context: Arc<Context>,
        stop: CancellationToken,
    ) -> impl Future<Output = ()> + Send + 'static {
        supervise::run(self, context, stop)
    }
}
