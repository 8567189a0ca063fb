//! The gate before each host: how many questions it is asked at once, how many requests it is sent in a second, and when
//! it does not want any.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use parking_lot::Mutex;
use pathline_release::poll::{Budget, Floors, HostKey, Jitter, Requests};
use pathline_remote::http::{Pace, Signs, Turn};
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
    /// The time at which the next request may be sent.
    next: Arc<Mutex<Instant>>,
    pace: Duration,
}

/// A question to a host, which holds a place there as long as it lives. Each request that is sent for it waits for its
/// turn, at whichever host it goes to.
pub(super) struct Visit {
    gates: Arc<Gates>,
    key: HostKey,
    sent: Mutex<Requests>,
    _permit: OwnedSemaphorePermit,
}

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

    /// Waits until a host may be asked one more question.
    pub(super) async fn pass(self: &Arc<Self>, mut key: HostKey) -> Arc<Visit> {
        key.host = self.settings.budgeted(&key.host);
        let permit = self.gate(&key.host).room.acquire_owned().await;
        Arc::new(Visit {
            gates: Arc::clone(self),
            key,
            sent: Mutex::default(),
            _permit: permit.expect("the semaphore is never closed"),
        })
    }

    fn gate(&self, host: &str) -> Gate {
        let mut hosts = self.hosts.lock();
        let gate = hosts.entry(host.to_owned()).or_insert_with(|| {
            let budget = self.settings.budget(host);
            Gate::new(budget, self.clock.instant())
        });
        gate.clone()
    }

    /// Returns the time before which a host does not want to be asked, if that is not over.
    fn floor(&self, key: &HostKey) -> Option<Timestamp> {
        let now = self.clock.now();
        let floor = self.floors.lock().not_before(key, now);
        (floor > now).then_some(floor)
    }
}

impl Visit {
    /// Returns the host that is asked.
    pub(super) fn host(&self) -> &str {
        &self.key.host
    }

    /// Returns the requests that were sent so far.
    pub(super) fn requests(&self) -> Requests {
        self.sent.lock().clone()
    }

    /// Takes in what the host says about the number of questions; returns the time before which it wants none.
    pub(super) fn not_before(&self, signs: &Signs) -> Option<Timestamp> {
        let gates = &self.gates;
        let now = gates.clock.now();
        let of_quota = signs.quota.and_then(|it| it.floor(now));
        if let Some(until) = signs.retry_after.max(of_quota).filter(|it| *it > now) {
            let mut floors = gates.floors.lock();
            floors.forget_before(now);
            floors.raise(self.key.clone(), until, gates.jitter);
        }
        gates.floor(&self.key)
    }

    async fn wait(&self, host: &str) -> Result<(), Timestamp> {
        let gates = &self.gates;
        gates.floor(&self.key).map_or(Ok(()), Err)?;
        let host = gates.settings.budgeted(host);
        let turn = gates.gate(&host).turn(gates.clock.instant());
        tokio::time::sleep_until(turn).await;
        // Somebody may have heard otherwise meanwhile.
        gates.floor(&self.key).map_or(Ok(()), Err)?;
        *self.sent.lock().entry(host).or_default() += 1;
        Ok(())
    }
}

impl Pace for Visit {
    fn turn<'a>(&'a self, host: &'a str) -> Turn<'a> {
        Box::pin(self.wait(host))
    }

    /// Whoever answered, a token service perhaps: it is this question that has to wait.
    fn heed(&self, _: &str, signs: &Signs) {
        self.not_before(signs);
    }
}

impl fmt::Debug for Visit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Visit").field(&self.key.host).finish()
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

    fn mk_gates(clock: &Clock) -> Arc<Gates> {
        Arc::new(Gates::new(clock.clone(), Jitter::new(1), Arc::default()))
    }

    fn mk_key(host: &str) -> HostKey {
        HostKey {
            host: host.to_owned(),
            credentials: None,
        }
    }

    fn mk_signs(clock: &Clock, seconds: i64) -> Signs {
        let reset = clock.now() + SignedDuration::from_secs(seconds);
        Signs {
            quota: Some(Quota {
                limit: 60,
                remaining: 0,
                reset: Some(reset),
            }),
            ..Signs::default()
        }
    }

    #[tokio::test(start_paused = true)]
    async fn host_is_sent_ten_requests_a_second_at_most_whoever_asks() {
        let gates = mk_gates(&Clock::system());
        let begin = Clock::system().instant();
        // One question of many requests, and one that comes by on behalf of another host.
        let list = gates.pass(mk_key("a.example")).await;
        let other = gates.pass(mk_key("b.example")).await;
        for _ in 0..10 {
            list.turn("a.example").await.unwrap();
            other.turn("a.example").await.unwrap();
        }
        list.turn("a.example").await.unwrap();
        assert_eq!(begin.elapsed(), Duration::from_secs(2));
        other.turn("b.example").await.unwrap();
        assert_eq!(begin.elapsed(), Duration::from_secs(2), "another host");
        let sent = [("a.example".to_owned(), 10), ("b.example".to_owned(), 1)];
        assert_eq!(other.requests(), Requests::from(sent));
    }

    #[tokio::test(start_paused = true)]
    async fn host_is_asked_four_questions_at_once_at_most() {
        let gates = mk_gates(&Clock::system());
        let pass = || gates.pass(mk_key("a.example"));
        let mut held = Vec::new();
        for _ in 0..4 {
            held.push(pass().await);
        }
        let fifth = tokio::time::timeout(Duration::from_secs(60), pass()).await;
        assert!(fifth.is_err());
        held.pop();
        pass().await;
    }

    #[tokio::test(start_paused = true)]
    async fn p07_host_that_wants_to_be_left_alone_is_not_asked() {
        let clock = Clock::standing(Timestamp::UNIX_EPOCH);
        let gates = mk_gates(&clock);
        let visit = gates.pass(mk_key("a.example")).await;
        let signs = mk_signs(&clock, 600);
        let until = visit.not_before(&signs).unwrap();
        assert!(until >= clock.now() + SignedDuration::from_secs(600));
        assert_eq!(visit.not_before(&Signs::default()), Some(until));
        let later = gates.pass(mk_key("a.example")).await;
        assert_eq!(later.turn("a.example").await, Err(until));
        assert_eq!(later.requests(), Requests::default(), "nothing was sent");
        let other = gates.pass(mk_key("b.example")).await;
        assert_eq!(other.turn("b.example").await, Ok(()));
        clock.set(until);
        assert_eq!(later.turn("a.example").await, Ok(()));
    }

    #[tokio::test(start_paused = true)]
    async fn p07_limit_that_is_heard_in_the_middle_of_a_question_holds_for_those_who_wait() {
        let clock = Clock::standing(Timestamp::UNIX_EPOCH);
        let gates = mk_gates(&clock);
        let list = gates.pass(mk_key("a.example")).await;
        list.turn("a.example").await.unwrap();
        let next = gates.pass(mk_key("a.example")).await;
        let (waited, ()) = tokio::join!(next.turn("a.example"), async {
            list.heed("a.example", &mk_signs(&clock, 600));
        });
        assert!(waited.is_err(), "it had passed the gate, and sends nothing");
        assert_eq!(waited, list.turn("a.example").await, "nor does the list");
    }

    #[tokio::test(start_paused = true)]
    async fn github_is_one_host_with_its_api_and_docker_hub_with_all_its_names() {
        let gates = mk_gates(&Clock::system());
        let begin = Clock::system().instant();
        for hosts in [
            ["github.com", "api.github.com"],
            ["docker.io", "registry-1.docker.io"],
        ] {
            let visit = gates.pass(mk_key(hosts[1])).await;
            assert_eq!(visit.host(), hosts[0]);
            for _ in 0..10 {
                visit.turn(hosts[0]).await.unwrap();
                visit.turn(hosts[1]).await.unwrap();
            }
            let sent = [(hosts[0].to_owned(), 20)];
            assert_eq!(visit.requests(), Requests::from(sent));
        }
        assert_eq!(begin.elapsed(), Duration::from_millis(3800));
    }
}
