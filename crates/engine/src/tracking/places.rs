//! Places: how many rounds are at a host, so that one which does not answer keeps nobody waiting but its own trackers.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use parking_lot::Mutex;
use pathline_release::poll::Round;
use tokio::sync::Notify;

/// The rounds at a host for each question that it is asked at once: so many that there is always a next one.
const ROUNDS_FOR_EACH: u32 = 4;

/// The number of rounds at each host.
#[derive(Default)]
pub(super) struct Places {
    taken: Mutex<HashMap<String, u32>>,
    freed: Notify,
}

/// A round's place at hosts, until it is dropped.
pub(super) struct Place {
    places: Arc<Places>,
    hosts: Vec<String>,
}

/// The rounds that wait for a place, by the host that has none.
#[derive(Default)]
pub(super) struct Parked(HashMap<String, VecDeque<Round>>);

impl Places {
    /// Tells whether a host that is asked so many questions at once has no place for one more round.
    pub(super) fn is_full(&self, host: &str, in_flight: u32) -> bool {
        let taken = self.taken.lock().get(host).copied().unwrap_or_default();
        taken >= in_flight.saturating_mul(ROUNDS_FOR_EACH)
    }

    /// Takes a place at hosts, also where they are full: a round that is under way goes on.
    pub(super) fn take(self: &Arc<Self>, hosts: Vec<String>) -> Place {
        let mut taken = self.taken.lock();
        for host in &hosts {
            *taken.entry(host.clone()).or_default() += 1;
        }
        Place {
            places: Arc::clone(self),
            hosts,
        }
    }

    /// Waits until somebody leaves.
    pub(super) async fn freed(&self) {
        self.freed.notified().await;
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut taken = self.places.taken.lock();
        for host in &self.hosts {
            if let Some(count) = taken.get_mut(host) {
                *count -= 1;
                if *count == 0 {
                    taken.remove(host);
                }
            }
        }
        self.places.freed.notify_one();
    }
}

impl Parked {
    pub(super) fn push(&mut self, host: String, round: Round) {
        self.0.entry(host).or_default().push_back(round);
    }

    /// Returns a round whose host has a place again, the one that has waited longest there.
    pub(super) fn pop(&mut self, is_full: impl Fn(&str) -> bool) -> Option<Round> {
        let host = self.0.keys().find(|host| !is_full(host))?.clone();
        let waiting = self.0.get_mut(&host)?;
        let round = waiting.pop_front();
        if waiting.is_empty() {
            self.0.remove(&host);
        }
        round
    }
}
