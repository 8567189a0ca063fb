//! The time before something is tried again.

use std::time::Duration;

use super::Restarts;

/// The back-off before the next start: longer every time, unless it ran well for a while.
pub(super) struct Pause {
    first: Duration,
    most: Duration,
    stable_after: Duration,
    next: Duration,
}

impl Pause {
    pub(super) fn new(restarts: &Restarts) -> Self {
        let Restarts {
            first_pause,
            longest_pause,
            stable_after,
        } = *restarts;
        Self {
            first: first_pause,
            most: longest_pause,
            stable_after,
            next: first_pause,
        }
    }

    /// Tells whether what ran so long has not crashed at its start.
    pub(super) fn is_stable(&self, ran_for: Duration) -> bool {
        ran_for >= self.stable_after
    }

    /// Returns how long to wait now, after something ran for so long.
    pub(super) fn after(&mut self, ran_for: Duration) -> Duration {
        if self.is_stable(ran_for) {
            self.next = self.first;
        }
        let now = self.next;
        self.next = (now * 2).min(self.most);
        now
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_to_a_limit_and_start_over_after_a_stable_time() {
        let mut pause = Pause::new(&Restarts::default());
        let crash = Duration::from_millis(20);
        let waits: Vec<_> = (0..8).map(|_| pause.after(crash).as_secs()).collect();
        assert_eq!(waits, [1, 2, 4, 8, 16, 32, 60, 60]);
        assert_eq!(pause.after(Duration::from_secs(61)).as_secs(), 1);
        assert_eq!(pause.after(crash).as_secs(), 2);
    }
}
