//! How long to wait before a failed owner is looked at again.

use std::collections::HashMap;
use std::time::Duration;

use backon::{BackoffBuilder, ExponentialBackoff, ExponentialBuilder};
use parking_lot::Mutex;

use crate::wakeups::OwnerRef;

const FIRST_DELAY: Duration = Duration::from_millis(250);
const LONGEST_DELAY: Duration = Duration::from_secs(5 * 60);

/// Remembers how often owners failed in a row.
#[derive(Default)]
pub(super) struct Retries {
    running: Mutex<HashMap<OwnerRef, ExponentialBackoff>>,
}

impl Retries {
    /// Returns the time until the next attempt: twice the last one, with jitter.
    pub(super) fn next(&self, owner: &OwnerRef) -> Duration {
        let mut running = self.running.lock();
        let backoff = running.entry(owner.clone()).or_insert_with(|| {
            ExponentialBuilder::new()
                .with_min_delay(FIRST_DELAY)
                .with_max_delay(LONGEST_DELAY)
                .with_jitter()
                .without_max_times()
                .build()
        });
        backoff.next().unwrap_or(LONGEST_DELAY)
    }

    /// Starts anew for an owner that succeeded, or is gone.
    pub(super) fn forget(&self, owner: &OwnerRef) {
        self.running.lock().remove(owner);
    }
}

#[cfg(test)]
mod tests {
    use kube::runtime::reflector::ObjectRef;
    use pathline_blueprint::owner::OwnerKind;

    use super::*;
    use crate::wakeups::owner_resource;

    #[test]
    fn failures_in_a_row_wait_longer_and_success_starts_anew() {
        let owner = ObjectRef::new_with("app", owner_resource(OwnerKind::Workload)).within("dev");
        let retries = Retries::default();
        let delays: Vec<Duration> = (0..12).map(|_| retries.next(&owner)).collect();
        assert!(delays[0] >= FIRST_DELAY && delays[0] < 3 * FIRST_DELAY);
        assert!(delays[4] > delays[0] && delays[11] >= LONGEST_DELAY);
        retries.forget(&owner);
        assert!(retries.next(&owner) < 3 * FIRST_DELAY);
        assert_eq!(retries.running.lock().len(), 1);
    }
}
