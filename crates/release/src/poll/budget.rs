//! Budgets: how many requests a host is sent.

use jiff::SignedDuration;

/// The requests that a host is sent at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// The requests in a second.
    pub per_second: u32,
    /// The requests at the same time.
    pub in_flight: u32,
}

/// The interval at which a host can be polled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stretch {
    /// The interval.
    pub interval: SignedDuration,
    /// Whether it is longer than wanted, since the budget holds no more.
    pub is_stretched: bool,
}

impl Default for Budget {
    fn default() -> Self {
        Self {
            per_second: 10,
            in_flight: 4,
        }
    }
}

impl Budget {
    /// Returns the interval at which so many requests can be made: the wanted one, or the shortest that the budget holds.
    pub fn stretch(self, interval: SignedDuration, requests: u64) -> Stretch {
        let requests = i64::try_from(requests).unwrap_or(i64::MAX);
        let needed = requests.saturating_mul(1000) / i64::from(self.per_second.max(1));
        let needed = SignedDuration::from_millis(needed);
        Stretch {
            interval: interval.max(needed),
            is_stretched: needed > interval,
        }
    }
}
