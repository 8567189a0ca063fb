//! The age of queues, as metrics have it.

use std::time::Duration;

use tokio::time::timeout;

use crate::AppState;

/// The time that the ledger may take; whoever measures wants the other metrics too.
const LEDGER_TIMEOUT: Duration = Duration::from_secs(2);

/// Measures for how long something has been queued in each environment.
pub(crate) async fn measure(state: &AppState) {
    let Ok(ledger) = state.ledger() else {
        return;
    };
    let asked = timeout(LEDGER_TIMEOUT, ledger.releases().oldest_queued()).await;
    // What is not known is not told.
    let oldest = asked.ok().and_then(Result::ok).unwrap_or_default();
    let now = state.clock().now();
    let ages = oldest.into_iter().map(|(environment, since)| {
        let age = now.duration_since(since).as_secs_f64().max(0.0);
        (environment, age)
    });
    state.metrics().set_queue_ages(ages);
}
