//! Limits: what hosts say about too many requests.

use std::collections::BTreeMap;

use jiff::fmt::rfc2822::DateTimeParser;
use jiff::{SignedDuration, Timestamp};

use super::jitter::Jitter;
use super::sharing::Fingerprint;

/// The longest time that is added to what a host asks for, so that not everybody is back at once.
const MAX_JITTER: SignedDuration = SignedDuration::from_secs(10);

/// The longest time for which a host is left alone at its word: as long as the longest window of a quota that is known, Docker
/// Hub's. A host that says more is asked once in it, so that a mistake of one answer does not silence it for years.
const MAX_HOLD: SignedDuration = SignedDuration::from_hours(6);

/// A host, and the credentials with which it is asked: its limits are counted by them.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HostKey {
    /// The host.
    pub host: String,
    /// The credentials; nothing for nobody in particular.
    pub credentials: Option<Fingerprint>,
}

/// The requests that a host still allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quota {
    /// All of them.
    pub limit: u64,
    /// Those that are left.
    pub remaining: u64,
    /// The time at which all of them are there again.
    pub reset: Option<Timestamp>,
}

/// The times before which hosts do not want to be asked again.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Floors(BTreeMap<HostKey, Timestamp>);

impl Quota {
    /// Reads the headers of a rate limit, GitHub's or Docker Hub's (`100;w=21600`). Without a limit, what is left is all.
    pub fn read(limit: Option<&str>, remaining: &str, reset: Option<&str>) -> Option<Self> {
        let number = |text: &str| {
            let digits = text.split(';').next().unwrap_or_default();
            digits.trim().parse().ok()
        };
        let remaining = number(remaining)?;
        let reset = reset.and_then(|it| it.trim().parse().ok());
        Some(Self {
            limit: limit.map_or(Some(remaining), number)?,
            remaining,
            reset: reset.and_then(|seconds| Timestamp::from_second(seconds).ok()),
        })
    }

    /// Returns the time before which nothing is allowed, by what was said at a time.
    pub fn floor(&self, now: Timestamp) -> Option<Timestamp> {
        let reset = self.reset.filter(|_| self.remaining == 0)?;
        Some(reset.min(latest(now)))
    }

    /// Returns the interval at which to go on: twice as long when less than a tenth is left.
    pub fn slowed(&self, interval: SignedDuration) -> SignedDuration {
        if self.remaining.saturating_mul(10) < self.limit {
            interval.saturating_mul(2)
        } else {
            interval
        }
    }
}

impl Floors {
    /// Notes that a host does not want to be asked before a time.
    pub fn raise(&mut self, host: HostKey, until: Timestamp, jitter: Jitter) {
        let extra = jitter.between((SignedDuration::ZERO, MAX_JITTER), &host.host, 0);
        let until = until.checked_add(extra).unwrap_or(Timestamp::MAX);
        let floor = self.0.entry(host).or_insert(until);
        *floor = until.max(*floor);
    }

    /// Returns the first time at which a host may be asked that is not before another one.
    pub fn not_before(&self, host: &HostKey, at: Timestamp) -> Timestamp {
        self.0.get(host).map_or(at, |floor| at.max(*floor))
    }

    /// Forgets what is over.
    pub fn forget_before(&mut self, now: Timestamp) {
        self.0.retain(|_, floor| *floor > now);
    }
}

/// Reads the header `Retry-After`: a number of seconds, or a date; hours at most.
pub fn retry_after(header: &str, now: Timestamp) -> Option<Timestamp> {
    let header = header.trim();
    if !header.is_empty() && header.bytes().all(|byte| byte.is_ascii_digit()) {
        // More seconds than fit are more than enough.
        let seconds = header
            .parse()
            .map_or(SignedDuration::MAX, SignedDuration::from_secs);
        return now.checked_add(seconds.min(MAX_HOLD)).ok();
    }
    let date = DateTimeParser::new().parse_timestamp(header).ok()?;
    Some(date.min(latest(now)))
}

/// Returns the latest time until which a host is left alone.
fn latest(now: Timestamp) -> Timestamp {
    now.checked_add(MAX_HOLD).unwrap_or(Timestamp::MAX)
}
