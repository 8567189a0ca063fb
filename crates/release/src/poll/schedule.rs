//! Schedules: when a tracker is looked at next.

use jiff::{SignedDuration, Timestamp};

use super::jitter::Jitter;

/// The time between two polls, unless told otherwise.
pub const INTERVAL: SignedDuration = SignedDuration::from_secs(120);

/// The shortest time between two polls.
pub const MIN_INTERVAL: SignedDuration = SignedDuration::from_secs(15);

/// The wait after a first failure; it doubles with each that follows.
const FIRST_BACK_OFF: SignedDuration = SignedDuration::from_secs(5);

/// The longest wait before a poll that somebody asked for.
const MAX_HINT_DELAY: SignedDuration = SignedDuration::from_secs(10);

/// The kind of a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The host refuses, or does not have what is asked for: that takes somebody to mend it.
    Refused,
    /// Anything else, which may pass by itself.
    Passing,
}

/// The times at which one tracker is looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schedule {
    /// The time of the next poll.
    pub next: Timestamp,
    /// The number of failures since the last success.
    pub failures: u32,
    /// The number of delays that were drawn so far.
    drawn: u64,
}

impl Failure {
    /// Returns the longest wait after failures of this kind.
    const fn max_back_off(self) -> SignedDuration {
        match self {
            Self::Refused => SignedDuration::from_mins(60),
            Self::Passing => SignedDuration::from_mins(30),
        }
    }

    /// Returns the bounds of the wait after so many failures before this one.
    pub fn back_off(self, failures: u32) -> (SignedDuration, SignedDuration) {
        let factor = 1_i32.checked_shl(failures).filter(|it| *it > 0);
        let doubled = factor.and_then(|factor| FIRST_BACK_OFF.checked_mul(factor));
        let most = doubled.map_or(self.max_back_off(), |it| it.min(self.max_back_off()));
        (most / 2, most)
    }
}

impl Schedule {
    /// Returns the schedule of a tracker that is new or was changed: it is looked at at once.
    pub const fn at_once(now: Timestamp) -> Self {
        Self {
            next: now,
            failures: 0,
            drawn: 0,
        }
    }

    /// Returns the schedule of a tracker after a start: all of them are spread over one interval.
    pub fn after_start(
        now: Timestamp,
        interval: SignedDuration,
        jitter: Jitter,
        who: &str,
    ) -> Self {
        let mut schedule = Self::at_once(now);
        schedule.wait(now, (SignedDuration::ZERO, interval), jitter, who);
        schedule
    }

    /// Notes that a poll went well.
    pub fn succeed(&mut self, now: Timestamp, interval: SignedDuration, jitter: Jitter, who: &str) {
        self.failures = 0;
        let interval = interval.max(MIN_INTERVAL);
        let tenth = interval / 10;
        self.wait(now, (interval - tenth, interval + tenth), jitter, who);
    }

    /// Notes that a poll failed.
    pub fn fail(&mut self, now: Timestamp, failure: Failure, jitter: Jitter, who: &str) {
        let bounds = failure.back_off(self.failures);
        self.failures = self.failures.saturating_add(1);
        self.wait(now, bounds, jitter, who);
    }

    /// Brings the next poll forward, because somebody says that something has changed.
    pub fn hint(&mut self, now: Timestamp, jitter: Jitter, who: &str) {
        let before = self.next;
        self.wait(now, (SignedDuration::ZERO, MAX_HINT_DELAY), jitter, who);
        self.next = self.next.min(before);
    }

    fn wait(
        &mut self,
        now: Timestamp,
        bounds: (SignedDuration, SignedDuration),
        jitter: Jitter,
        who: &str,
    ) {
        let delay = jitter.between(bounds, who, self.drawn);
        self.drawn += 1;
        self.next = now.checked_add(delay).unwrap_or(Timestamp::MAX);
    }
}
