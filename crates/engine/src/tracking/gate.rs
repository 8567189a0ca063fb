//! The gate before each host: how many questions it is asked at once, and when it does not want any.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use parking_lot::Mutex;
use pathline_release::poll::{Budget, Floors, HostKey, Jitter};
use pathline_remote::http::Signs;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;

use super::settings::TrackingSettings;
use crate::runtime::clock::Clock;

/// The gates of all hosts.
pub(super) struct Gates {
    clock: Clock,
    jitter: Jitter,
    settings: Arc<TrackingSettings>,
    hosts: Mutex<HashMap<String, Gate>>,
    floors: Mutex<Floors>,
}

/// The gate of one host.
#[derive(Clone)]
struct Gate {
    room: Arc<Semaphore>,
    /// The time at which the next question may be asked.
    next: Arc<Mutex<Instant>>,
    pace: Duration,
}

/// A host that does not want to be asked before a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Held(pub(super) Timestamp);

impl Gates {
    pub(super) fn new(clock: Clock, jitter: Jitter, settings: Arc<TrackingSettings>) -> Self {
        Self {
            clock,
            jitter,
            settings,
            hosts: Mutex::new(HashMap::new()),
            floors: Mutex::new(Floors::default()),
        }
    }

    /// Waits until a host may be asked; holds a place as long as what it returns lives.
    ///
    /// # Errors
    /// If the host said that it does not want to be asked yet.
    pub(super) async fn pass(&self, key: &HostKey) -> Result<OwnedSemaphorePermit, Held> {
        let gate = self.gate(&key.host);
        let permit = gate.room.clone().acquire_owned().await;
        let permit = permit.expect("the semaphore is never closed");
        tokio::time::sleep_until(gate.turn(self.clock.instant())).await;
        let now = self.clock.now();
        match self.floors.lock().not_before(key, now) {
            until if until > now => Err(Held(until)),
            _ => Ok(permit),
        }
    }

    /// Takes in what a host says about the number of questions; returns the time before which it wants none.
    pub(super) fn heed(&self, key: &HostKey, signs: &Signs) -> Option<Timestamp> {
        let now = self.clock.now();
        let of_quota = signs.quota.and_then(|it| it.floor(now));
        let until = signs.retry_after.max(of_quota).filter(|it| *it > now)?;
        let mut floors = self.floors.lock();
        floors.forget_before(now);
        floors.raise(key.clone(), until, self.jitter);
        Some(floors.not_before(key, now))
    }

    fn gate(&self, host: &str) -> Gate {
        let mut hosts = self.hosts.lock();
        let gate = hosts.entry(host.to_owned()).or_insert_with(|| {
            let budget = self.settings.budget(host);
            Gate::new(budget, self.clock.instant())
        });
        gate.clone()
    }
}

impl Gate {
    fn new(budget: Budget, now: Instant) -> Self {
        let room = usize::try_from(budget.in_flight).unwrap_or(usize::MAX);
        Self {
            room: Arc::new(Semaphore::new(room.clamp(1, Semaphore::MAX_PERMITS))),
            next: Arc::new(Mutex::new(now)),
            pace: Duration::from_secs(1) / budget.per_second.max(1),
        }
    }

    /// Takes the next turn, and returns its time.
    fn turn(&self, now: Instant) -> Instant {
        let mut next = self.next.lock();
        let turn = now.max(*next);
        *next = turn + self.pace;
        turn
    }
}

#[cfg(test)]
mod tests {
    use jiff::SignedDuration;
    use pathline_release::poll::Quota;

    use super::*;

    fn mk_gates(clock: &Clock) -> Gates {
        Gates::new(clock.clone(), Jitter::new(1), Arc::default())
    }

    fn mk_key(host: &str) -> HostKey {
        HostKey {
            host: host.to_owned(),
            credentials: None,
        }
    }

    #[tokio::test(start_paused = true)]
    async fn host_is_asked_ten_times_a_second_at_most() {
        let gates = mk_gates(&Clock::system());
        let begin = Clock::system().instant();
        for _ in 0..21 {
            drop(gates.pass(&mk_key("a.example")).await.unwrap());
        }
        assert_eq!(begin.elapsed(), Duration::from_secs(2));
        drop(gates.pass(&mk_key("b.example")).await.unwrap());
        assert_eq!(begin.elapsed(), Duration::from_secs(2), "another host");
    }

    #[tokio::test(start_paused = true)]
    async fn host_is_asked_four_questions_at_once_at_most() {
        let gates = mk_gates(&Clock::system());
        let key = mk_key("a.example");
        let mut held = Vec::new();
        for _ in 0..4 {
            held.push(gates.pass(&key).await.unwrap());
        }
        let fifth = tokio::time::timeout(Duration::from_secs(60), gates.pass(&key)).await;
        assert!(fifth.is_err());
        held.pop();
        assert!(gates.pass(&key).await.is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn p07_host_that_wants_to_be_left_alone_is_not_asked() {
        let clock = Clock::standing(Timestamp::UNIX_EPOCH);
        let gates = mk_gates(&clock);
        let reset = clock.now() + SignedDuration::from_secs(600);
        let signs = Signs {
            quota: Some(Quota {
                limit: 60,
                remaining: 0,
                reset: Some(reset),
            }),
            ..Signs::default()
        };
        let until = gates.heed(&mk_key("a.example"), &signs).unwrap();
        assert!(until >= reset);
        let refused = gates.pass(&mk_key("a.example")).await.unwrap_err();
        assert_eq!(refused, Held(until));
        assert!(gates.pass(&mk_key("b.example")).await.is_ok());
        clock.set(until);
        assert!(gates.pass(&mk_key("a.example")).await.is_ok());
    }
}
