//! Tracking: asks registries and repositories, and lets the rules of `pathline_release` say what follows.
//!
//! One loop ([`run`]) follows the trackers of the ledger, and looks at each when its time has come. A look is a round
//! ([`round`]): the registry first, then the repository, so that a configuration which was committed before an image was
//! pushed is seen with it. What a round finds is applied to the ledger with a compare-and-set, so that whoever else acts
//! (a replacement, a deletion, another leader) makes it void.

mod board;
mod description;
mod followed;
mod gate;
mod images;
mod login;
mod metrics;
mod outcome;
mod places;
mod round;
mod settings;
mod shared;
mod sources;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt as _;
use jiff::Timestamp;
use pathline_ledger::{Error, Ledger, Topic};
use pathline_release::poll::{Agenda, Begin, Ending, Jitter, Round};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

pub use self::board::{PollBoard, Polls};
use self::followed::{Followed, FollowedTracker, Update};
pub use self::metrics::TrackingMetrics;
use self::places::{Parked, Places};
use self::round::{Circumstances, Looked, Looker};
pub use self::settings::{GitHost, RegistryHost, TrackingSettings};
use crate::releasing::environments::EnvironmentsReceiver;
use crate::runtime::clock::Clock;
use crate::runtime::env::Env;
use crate::runtime::part::Part;

/// The most rounds at once; each waits for hosts most of the time.
const MAX_ROUNDS: usize = 512;
/// The longest sleep: a clock that was set forward is noticed after it.
const MAX_SLEEP: Duration = Duration::from_secs(10);
/// The pause after the ledger did not answer.
const LEDGER_PAUSE: Duration = Duration::from_secs(1);

/// The settings of tracking, and the handles by which others see it.
#[derive(Clone, Debug, Default)]
pub struct Tracking {
    /// The settings.
    pub settings: Arc<TrackingSettings>,
    /// The times of polls, for whoever shows trackers.
    pub board: PollBoard,
    /// The metrics.
    pub metrics: TrackingMetrics,
}

/// Returns the part that tracks.
pub(crate) fn part(
    env: &Env,
    tracking: &Tracking,
    data_dir: &std::path::Path,
    mut environments: EnvironmentsReceiver,
) -> Part {
    let (ledger, clock, stop) = (env.ledger.clone(), env.clock.clone(), env.stop.clone());
    let cache = data_dir.join("git-sources");
    // A run that was killed may have left a file with secrets there.
    let _ = std::fs::remove_dir_all(&cache);
    let git = pathline_remote::git::Git::new(cache);
    let tracking = tracking.clone();
    Part::new("tracking", async move {
        // A release is entered into the environments that there are: before they are known there seem to be none.
        let known = environments.wait_for(Option::is_some);
        if stop.run_until_cancelled(known).await.is_none() {
            return;
        }
        match Looker::new(&ledger, &clock, &tracking, git, environments.clone()) {
            Ok(looker) => {
                let tracker = Tracker::new(ledger, clock, tracking, looker);
                Box::pin(tracker.run(stop)).await;
            }
            Err(error) => tracing::error!("nothing is tracked: {error}"),
        }
    })
}

/// The loop.
struct Tracker {
    ledger: Ledger,
    clock: Clock,
    tracking: Tracking,
    looker: Arc<Looker>,
    jitter: Jitter,
    agenda: Agenda,
    followed: Followed,
    places: Arc<Places>,
    /// The rounds that are due, and wait for a place at a host.
    parked: Parked,
    changes: watch::Receiver<i64>,
    rounds: JoinSet<Ended>,
}

impl Drop for Tracker {
    fn drop(&mut self) {
        // Whoever leads next knows better.
        self.tracking.board.clear();
    }
}

/// A round that has ended, and what became of each of its trackers.
struct Ended {
    round: Round,
    members: Vec<Looked>,
}

impl Tracker {
    fn new(ledger: Ledger, clock: Clock, tracking: Tracking, looker: Looker) -> Self {
        let (seed, _) = random();
        let changes = ledger.subscribe(Topic::Trackers);
        let jitter = Jitter::new(seed);
        Self {
            jitter,
            agenda: Agenda::new(jitter, tracking.settings.interval),
            followed: Followed::new(
                Arc::clone(&tracking.settings),
                looker.fingerprints().clone(),
            ),
            places: Arc::clone(looker.places()),
            parked: Parked::default(),
            looker: Arc::new(looker),
            rounds: JoinSet::new(),
            ledger,
            clock,
            tracking,
            changes,
        }
    }

    /// Runs until `stop` is cancelled. Rounds under way are cut off: nothing of them was applied.
    async fn run(mut self, stop: CancellationToken) {
        if stop
            .run_until_cancelled(Box::pin(self.load()))
            .await
            .is_none()
        {
            return;
        }
        loop {
            self.begin_rounds();
            let sleep = self.until_next();
            tokio::select! {
                () = stop.cancelled() => break,
                Ok(()) = self.changes.changed() => self.catch_up().await,
                Some(ended) = self.rounds.join_next() => self.end_round(ended).await,
                () = self.places.freed() => {}
                () = tokio::time::sleep(sleep) => {}
            }
        }
        self.rounds.shutdown().await;
    }

    /// Reads all trackers, as often as it takes.
    async fn load(&mut self) {
        loop {
            self.changes.mark_unchanged();
            match self.followed.load(&self.ledger).await {
                Ok(()) => break,
                Err(error) => {
                    tracing::warn!("the trackers cannot be read: {error}");
                    tokio::time::sleep(LEDGER_PAUSE).await;
                }
            }
        }
        let now = self.clock.now();
        for tracker in self.followed.all() {
            let key = self.followed.source_key(tracker);
            let begin = match tracker.is_new() {
                true => Begin::AtOnce,
                false => Begin::Spread,
            };
            self.agenda.insert(&tracker.stored.uid, key, begin, now);
        }
        self.show_all();
    }

    /// Takes in what others have changed since.
    async fn catch_up(&mut self) {
        let updates = match self.followed.catch_up(&self.ledger).await {
            Ok(updates) => updates,
            // Nobody keeps what was missed: all trackers are read anew.
            Err(Error::Forgotten { .. } | Error::Ahead { .. }) => {
                self.agenda = Agenda::new(self.jitter, self.tracking.settings.interval);
                self.parked = Parked::default();
                self.tracking.board.clear();
                Box::pin(self.load()).await;
                return;
            }
            Err(error) => {
                tracing::warn!("changes of trackers cannot be read: {error}");
                tokio::time::sleep(LEDGER_PAUSE).await;
                self.changes.mark_changed();
                return;
            }
        };
        let now = self.clock.now();
        for (uid, update) in updates {
            match update {
                Update::Changed => self.follow(&uid, now),
                Update::Gone => {
                    self.agenda.remove(&uid);
                    self.tracking.board.forget(&uid);
                }
                Update::Hinted => self.agenda.hint(&uid, now),
                Update::Wanted => self.agenda.poll_now(&uid, now),
            }
            self.show(&uid);
        }
    }

    /// Reads a tracker anew that somebody else has changed; what that change was is told as every other one.
    async fn refresh(&mut self, uid: &str) {
        if let Err(error) = self.followed.refresh(&self.ledger, uid).await {
            tracing::warn!("a tracker cannot be read: {error}");
        }
    }

    fn follow(&mut self, uid: &str, now: Timestamp) {
        if let Some(tracker) = self.followed.get(uid) {
            let key = self.followed.source_key(tracker);
            self.agenda.insert(uid, key, Begin::AtOnce, now);
        }
    }

    fn begin_rounds(&mut self) {
        let now = self.clock.now();
        while self.rounds.len() < MAX_ROUNDS
            && let Some(round) = self.next_round(now)
        {
            self.begin(round, now);
        }
    }

    fn next_round(&mut self, now: Timestamp) -> Option<Round> {
        let (places, settings) = (&self.places, &self.tracking.settings);
        let is_full = |host: &str| places.is_full(host, settings.budget(host).in_flight);
        let parked = self.parked.pop(is_full);
        parked.or_else(|| self.agenda.take(now))
    }

    /// Begins a round, or parks it if one of its hosts has no place for it.
    fn begin(&mut self, mut round: Round, now: Timestamp) {
        // Whoever was replaced while it was parked is looked at in a round of its own.
        let is_in = |it: &&FollowedTracker| self.followed.source_key(it) == round.key;
        let members = round.members.iter().filter_map(|it| self.followed.get(it));
        let members: Vec<FollowedTracker> = members.filter(is_in).cloned().collect();
        let settings = &self.tracking.settings;
        let registries = members.iter().flat_map(|it| it.registries(settings));
        let mut first: BTreeSet<String> = registries.collect();
        let source = settings.budgeted(&round.key.source.repository.host);
        let is_full = |it: &&String| self.places.is_full(it, settings.budget(it).in_flight);
        let full = first.iter().chain([&source]).find(is_full).cloned();
        if let Some(host) = full {
            self.parked.push(host, round);
            return;
        }
        if first.is_empty() {
            first.insert(source);
        }
        let place = self.places.take(first.into_iter().collect());
        round.members = members.iter().map(|it| it.stored.uid.clone()).collect();
        self.tracking.metrics.began(now.duration_since(round.due));
        let circumstances = Circumstances {
            interval: self.followed.interval(&round.members),
            is_wanted: round.is_hinted,
        };
        let looker = Arc::clone(&self.looker);
        self.rounds.spawn(async move {
            let looking = looker.poll(members, circumstances, place);
            let members = match AssertUnwindSafe(looking).catch_unwind().await {
                Ok(members) => members,
                // A defect of Pathline, which the log tells; the trackers are looked at again later.
                Err(_) => round::broken_off(&round.members),
            };
            Ended { round, members }
        });
    }

    async fn end_round(&mut self, ended: Result<Ended, tokio::task::JoinError>) {
        let Ok(Ended { round, members }) = ended else {
            return;
        };
        let now = self.clock.now();
        let mut endings = Vec::with_capacity(members.len());
        for looked in members {
            match looked.after {
                Some(after) => self.followed.observe(after),
                None => self.refresh(&looked.uid).await,
            }
            self.followed.learn(looked.requests);
            if looked.ending == Ending::Done {
                self.followed.rest(&looked.uid);
            }
            endings.push((looked.uid, looked.ending));
        }
        self.agenda.finish(&round, &endings, now);
        for (uid, _) in endings {
            self.show(&uid);
        }
    }

    fn until_next(&self) -> Duration {
        let now = self.clock.now();
        let next = match self.agenda.next() {
            // A round has to end before another one begins.
            _ if self.rounds.len() >= MAX_ROUNDS => return MAX_SLEEP,
            None => return MAX_SLEEP,
            Some(next) => next.duration_since(now),
        };
        let next = Duration::try_from(next).unwrap_or_default();
        next.min(MAX_SLEEP)
    }

    fn show_all(&self) {
        for tracker in self.followed.all() {
            self.show(&tracker.stored.uid);
        }
    }

    /// Tells whoever shows trackers how the polls of one go.
    fn show(&self, uid: &str) {
        if let (Some(schedule), Some(tracker)) = (self.agenda.schedule(uid), self.followed.get(uid))
        {
            let interval = self.followed.interval([&tracker.stored.uid]);
            self.tracking.board.set(uid, schedule, interval, tracker);
        }
    }
}

/// Returns a seed for delays, and a key for fingerprints that no other process has.
fn random() -> (u64, [u8; 32]) {
    let mut seed = [0; 8];
    let mut key = [0; 32];
    // Without randomness polls of two processes may coincide, and fingerprints are those of an empty key: they are
    // never shown, so that does no harm.
    let _ = getrandom::fill(&mut seed).and_then(|()| getrandom::fill(&mut key));
    (u64::from_le_bytes(seed), key)
}
