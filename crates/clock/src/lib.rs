//! The clock: the one place that asks for the time.
//!
//! Whoever decides by the time of day is given a [`Clock`], so that a test can say what time it is. Whoever measures asks
//! for an [`instant`], which follows the time of tokio, so that a test can pause it. `clippy.toml` forbids every other way.

use std::sync::Arc;

use jiff::Timestamp;
use parking_lot::Mutex;
use tokio::time::Instant;

/// The source of time: the machine, or a test that sets it. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct Clock {
    /// The time that was set; none if it is the machine's.
    set: Option<Arc<Mutex<Timestamp>>>,
}

impl Clock {
    /// Returns the clock of the machine.
    pub fn system() -> Self {
        Self::default()
    }

    /// Returns a clock that stands still until it is set.
    pub fn standing(time: Timestamp) -> Self {
        Self {
            set: Some(Arc::new(Mutex::new(time))),
        }
    }

    /// Sets the time of all clones; that of the machine cannot be set.
    pub fn set(&self, time: Timestamp) {
        if let Some(set) = &self.set {
            *set.lock() = time;
        }
    }

    /// Returns the time of day, as objects and the ledger carry it.
    #[expect(
        clippy::disallowed_methods,
        reason = "everybody else asks this clock, which a test can set"
    )]
    pub fn now(&self) -> Timestamp {
        match &self.set {
            Some(set) => *set.lock(),
            None => Timestamp::now(),
        }
    }

    /// Returns an [`instant`].
    pub fn instant(&self) -> Instant {
        instant()
    }
}

/// Returns a point in time that never goes back, to measure and to end waits by.
///
/// It is the runtime's: a test that pauses the time of tokio decides how fast it passes. Outside of a runtime it is the
/// machine's.
#[expect(
    clippy::disallowed_methods,
    reason = "everybody else asks here for instants, which a test can pause"
)]
pub fn instant() -> Instant {
    Instant::now()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clock_that_is_set_says_so_everywhere() {
        let clock = Clock::standing(Timestamp::UNIX_EPOCH);
        let clone = clock.clone();
        assert_eq!(clone.now(), Timestamp::UNIX_EPOCH);
        clock.set(Timestamp::MAX);
        assert_eq!(clone.now(), Timestamp::MAX);
    }

    #[test]
    fn clock_of_the_machine_cannot_be_set() {
        let clock = Clock::system();
        clock.set(Timestamp::UNIX_EPOCH);
        assert!(clock.now() > Timestamp::UNIX_EPOCH);
    }
}
