//! Attempts that are repeated until one succeeds.

use std::time::Duration;

use backon::{BackoffBuilder, ExponentialBuilder};

/// The longest pause between two attempts.
const MAX_DELAY: Duration = Duration::from_secs(60);

/// Repeats `attempt` until it succeeds, with pauses that begin with `first_delay` and grow.
///
/// `failed` is told every error, to log it. Whoever must stop before drops the future.
pub(crate) async fn until_ok<E, F>(
    first_delay: Duration,
    attempt: impl Fn() -> F,
    failed: impl Fn(E),
) where
    F: Future<Output = Result<(), E>>,
{
    let backoff = ExponentialBuilder::new()
        .with_min_delay(first_delay)
        .with_max_delay(MAX_DELAY)
        .with_jitter()
        .without_max_times();
    for delay in backoff.build() {
        match attempt().await {
            Ok(()) => return,
            Err(error) => failed(error),
        }
        tokio::time::sleep(delay).await;
    }
}

#[cfg(test)]
mod tests {
    use std::cell::{Cell, RefCell};

    use super::*;

    #[tokio::test]
    async fn attempts_are_repeated_until_one_succeeds() {
        let (attempts, errors) = (Cell::new(0), RefCell::new(Vec::new()));
        let attempt = async || {
            attempts.set(attempts.get() + 1);
            if attempts.get() < 4 {
                Err(attempts.get())
            } else {
                Ok(())
            }
        };
        let first_delay = Duration::from_millis(1);
        until_ok(first_delay, attempt, |error| {
            errors.borrow_mut().push(error);
        })
        .await;
        assert_eq!(*errors.borrow(), [1, 2, 3]);
    }
}
