//! The delay before what failed is reconciled again.

use std::collections::HashMap;
use std::time::Duration;

use super::Key;
use backon::{BackoffBuilder, ExponentialBackoff, ExponentialBuilder};

const FIRST_DELAY: Duration = Duration::from_millis(250);
const LONGEST_DELAY: Duration = Duration::from_secs(5 * 60);

/// Remembers what failed, and how often in a row.
#[derive(Default)]
pub(super) struct Retries {
    running: HashMap<Key, ExponentialBackoff>,
}

impl Retries {
    /// Returns the time until the next attempt: twice the last one, with jitter.
    pub(super) fn next(&mut self, key: &Key) -> Duration {
        let backoff = self.running.entry(key.clone()).or_insert_with(|| {
            ExponentialBuilder::new()
                .with_min_delay(FIRST_DELAY)
                .with_max_delay(LONGEST_DELAY)
                .with_jitter()
                .without_max_times()
                .build()
        });
        backoff.next().unwrap_or(LONGEST_DELAY)
    }

    /// Starts anew for one that succeeded, or is gone.
    pub(super) fn forget(&mut self, key: &Key) {
        self.running.remove(key);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_in_a_row_wait_longer_and_success_starts_anew() {
        let key = Key::new("dev", "app");
        let mut retries = Retries::default();
        let delays: Vec<Duration> = (0..12).map(|_| retries.next(&key)).collect();
        assert!(delays[0] >= FIRST_DELAY && delays[0] < 3 * FIRST_DELAY);
        assert!(delays[4] > delays[0] && delays[11] >= LONGEST_DELAY);
        retries.forget(&key);
        assert!(retries.next(&key) < 3 * FIRST_DELAY);
        assert_eq!(retries.running.len(), 1);
    }
}
