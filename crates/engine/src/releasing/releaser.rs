//! The loop that brings releases where they go.
//!
//! Everything that it does is written down in the ledger before, and it follows the changes of the ledger as everybody
//! else does: what somebody promotes at another replica, and what this one has just written, come back the same way. So
//! there is nothing to be remembered but what runs.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use pathline_ledger::releases::{By, QueueAction, QueuesOf, TrackerQueues, TrackerRef, What};
use pathline_ledger::{Error, Topic};
use pathline_release::environment::Environments;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::environments::EnvironmentsReceiver;
use super::metrics::ReleasingMetrics;
use super::tasks::{DeploymentTasks, Next};
use super::ticks::Ticks;
use super::tools::Tools;

/// The longest sleep: a clock that was set forward is noticed after it.
const MAX_SLEEP: Duration = Duration::from_secs(5);
/// The time between two steps after which nobody has watched meanwhile: the process, or the machine, was stopped.
const UNWATCHED: SignedDuration = SignedDuration::from_secs(8);
/// The pause after the ledger did not answer.
const LEDGER_PAUSE: Duration = Duration::from_secs(1);
/// The interval at which it is written down for how long releases have soaked.
const CHECKPOINT_INTERVAL: SignedDuration = SignedDuration::from_secs(60);
/// The number of trackers that are read at once.
const PAGE_SIZE: u32 = 200;
/// The number of changes that are read at once.
const CHANGES: u32 = 1000;
/// The name of whoever does what follows by itself.
pub(super) const BY: &str = "pathline";

/// The loop.
pub(super) struct Releaser {
    tools: Arc<Tools>,
    receiver: EnvironmentsReceiver,
    environments: Arc<Environments>,
    changes: watch::Receiver<i64>,
    /// The last change that was taken in.
    sequence: i64,
    ticks: Ticks,
    /// The instants at which something of a tracker is over.
    due: BTreeMap<String, Timestamp>,
    /// The trackers of which something soaks.
    soaking: BTreeSet<String>,
    next_checkpoint: Timestamp,
    /// The instant of the last step, if it was done.
    stepped: Option<Timestamp>,
    tasks: DeploymentTasks,
}

impl Releaser {
    pub(super) fn new(
        tools: Arc<Tools>,
        receiver: EnvironmentsReceiver,
        metrics: ReleasingMetrics,
    ) -> Self {
        Self {
            changes: tools.ledger.subscribe(Topic::Releases),
            next_checkpoint: tools.clock.now(),
            stepped: None,
            tasks: DeploymentTasks::new(Arc::clone(&tools), receiver.clone(), metrics),
            tools,
            receiver,
            environments: Arc::default(),
            sequence: 0,
            ticks: Ticks::default(),
            due: BTreeMap::new(),
            soaking: BTreeSet::new(),
        }
    }

    /// Runs until `stop` is cancelled. What is under way is cut off, and goes on with whoever leads next.
    pub(super) async fn run(mut self, stop: CancellationToken) {
        if stop
            .run_until_cancelled(Box::pin(self.load()))
            .await
            .is_none()
        {
            return;
        }
        loop {
            Box::pin(self.step()).await;
            let sleep = self.until_next();
            tokio::select! {
                () = stop.cancelled() => break,
                Ok(()) = self.receiver.changed() => Box::pin(self.take_environments()).await,
                Ok(()) = self.changes.changed() => Box::pin(self.catch_up()).await,
                next = self.tasks.next() => match next {
                    Next::Told(uid) => Box::pin(self.look_again(uid)).await,
                    Next::BrokenOff(uid) => {
                        tokio::time::sleep(LEDGER_PAUSE).await;
                        Box::pin(self.look_again(uid)).await;
                    }
                },
                () = tokio::time::sleep(sleep) => {}
            }
        }
        self.tasks.shutdown().await;
    }

    /// Waits for the environments, then takes in all trackers, as often as it takes.
    async fn load(&mut self) {
        let found = self.receiver.wait_for(Option::is_some).await;
        match found.map(|it| it.clone()) {
            Ok(found) => self.environments = found.unwrap_or_default(),
            // Nobody watches them any more: the engine is about to stop.
            Err(_) => return std::future::pending().await,
        }
        self.receiver.mark_unchanged();
        while let Err(error) = self.load_all(true).await {
            tracing::warn!("the releases cannot be read: {error}");
            tokio::time::sleep(LEDGER_PAUSE).await;
        }
    }

    /// Takes in all trackers; after a start, the time in which nobody watched does not count.
    async fn load_all(&mut self, is_start: bool) -> Result<(), Error> {
        let ledger = self.tools.ledger.clone();
        // Before the trackers: a change in between is taken in twice, not missed.
        self.changes.mark_unchanged();
        let sequence = ledger.releases().newest_change().await?;
        self.ticks = Ticks::new(ledger.releases().handled_ticks().await?);
        // What was begun for a tracker that is deleted ends as it does.
        for tracker in ledger.releases().queues(QueuesOf::Busy).await? {
            self.take_in(tracker).await?;
        }
        let mut after = None;
        loop {
            let which = QueuesOf::All {
                after: after.as_ref(),
                limit: PAGE_SIZE,
            };
            let page = ledger.releases().queues(which).await?;
            let is_last = page.len() < PAGE_SIZE as usize;
            after = page.last().map(|it| it.name.clone()).or(after);
            for tracker in page {
                let work = tracker.queues.work(self.environments.flow(), self.now());
                if is_start && !work.soaking.is_empty() {
                    self.act(&tracker.uid, QueueAction::Restarted).await?;
                    // It counts anew, which no change tells.
                    self.refresh(std::slice::from_ref(&tracker.uid)).await?;
                    continue;
                }
                self.take_in(tracker).await?;
            }
            if is_last {
                break;
            }
        }
        self.sequence = sequence;
        Ok(())
    }

    /// Does what is due.
    async fn step(&mut self) {
        let now = self.now();
        if let Err(error) = self.leave_out_the_unwatched(now).await {
            tracing::warn!("it cannot be written down that nobody watched: {error}");
            return tokio::time::sleep(LEDGER_PAUSE).await;
        }
        let ticks = self.ticks.due(&self.environments, now);
        let due: Vec<_> = self.due.iter().filter(|(_, at)| **at <= now).collect();
        let due: Vec<String> = due.into_iter().map(|(uid, _)| uid.clone()).collect();
        if let Err(error) = self.do_due(&due).await {
            tracing::warn!("what is due cannot be written down: {error}");
            self.ticks.failed(&ticks);
            return tokio::time::sleep(LEDGER_PAUSE).await;
        }
        // After what has soaked by now was entered: a tick at that very instant takes it.
        match self.tick(&ticks, now).await {
            Ok(()) => self.ticks.done(ticks),
            Err(error) => {
                tracing::warn!("a tick cannot be written down: {error}");
                self.ticks.failed(&ticks);
                tokio::time::sleep(LEDGER_PAUSE).await;
            }
        }
    }

    /// Takes the time out of what has soaked in which this process, or the machine, was stopped: nobody has watched then.
    async fn leave_out_the_unwatched(&mut self, now: Timestamp) -> Result<(), Error> {
        let stepped = self.stepped.replace(now);
        let stepped = stepped.filter(|it| now.duration_since(*it) > UNWATCHED);
        let Some(stepped) = stepped else {
            return Ok(());
        };
        let soaking: Vec<String> = self.soaking.iter().cloned().collect();
        for uid in &soaking {
            let left_out = async || {
                // In this order: what was counted until then would be lost otherwise.
                self.act_at(uid, QueueAction::Checkpoint, stepped).await?;
                self.act_at(uid, QueueAction::Restarted, now).await
            };
            if let Err(error) = left_out().await {
                self.stepped = Some(stepped);
                return Err(error);
            }
        }
        self.refresh(&soaking).await
    }

    async fn do_due(&mut self, due: &[String]) -> Result<(), Error> {
        for uid in due {
            self.act(uid, QueueAction::Expire).await?;
            self.act(uid, QueueAction::Advance).await?;
            self.due.remove(uid);
        }
        if self.next_checkpoint <= self.now() {
            for uid in self.soaking.clone() {
                self.act(&uid, QueueAction::Checkpoint).await?;
            }
            let next = self.now().checked_add(CHECKPOINT_INTERVAL);
            self.next_checkpoint = next.unwrap_or(Timestamp::MAX);
        }
        if !due.is_empty() {
            self.refresh(due).await?;
        }
        Ok(())
    }

    async fn tick(&self, ticks: &[(String, Timestamp)], now: Timestamp) -> Result<(), Error> {
        if ticks.is_empty() {
            return Ok(());
        }
        let releases = self.tools.ledger.releases();
        let flow = self.environments.flow();
        while !releases.tick(flow, ticks, now).await?.is_done {}
        Ok(())
    }

    /// Takes in that environments are others now.
    async fn take_environments(&mut self) {
        let found = self.receiver.borrow_and_update().clone();
        self.environments = found.unwrap_or_default();
        self.ticks.environments_changed();
        while let Err(error) = self.load_all(false).await {
            tracing::warn!("releases cannot be entered into the environments: {error}");
            tokio::time::sleep(LEDGER_PAUSE).await;
        }
    }

    /// Takes in what the ledger was told since.
    async fn catch_up(&mut self) {
        let caught_up = match self.changed_trackers().await {
            Ok(uids) => self.refresh(&uids).await,
            // Nobody keeps what was missed: all trackers are read anew.
            Err(Error::Forgotten { .. } | Error::Ahead { .. }) => self.load_all(false).await,
            Err(error) => Err(error),
        };
        if let Err(error) = caught_up {
            tracing::warn!("changes of releases cannot be read: {error}");
            tokio::time::sleep(LEDGER_PAUSE).await;
            self.changes.mark_changed();
        }
    }

    async fn changed_trackers(&mut self) -> Result<Vec<String>, Error> {
        let mut uids = BTreeSet::new();
        let mut sequence = self.sequence;
        loop {
            let releases = self.tools.ledger.releases();
            let changes = releases.changes(sequence, CHANGES).await?;
            let is_last = changes.len() < CHANGES as usize;
            for change in changes {
                sequence = change.sequence;
                match change.what {
                    What::Formed(formed) => uids.insert(formed.tracker_uid),
                    What::Moved(moved) => uids.insert(moved.tracker_uid),
                    // Nothing that is under way ends by a hold.
                    What::Held(_) | What::Resumed(_) => false,
                };
            }
            if is_last {
                break;
            }
        }
        self.sequence = sequence;
        Ok(uids.into_iter().collect())
    }

    async fn refresh(&mut self, uids: &[String]) -> Result<(), Error> {
        for uids in uids.chunks(PAGE_SIZE as usize) {
            let which = QueuesOf::Uids(uids);
            let trackers = self.tools.ledger.releases().queues(which).await?;
            for tracker in trackers {
                self.take_in(tracker).await?;
            }
        }
        Ok(())
    }

    /// Takes in the queues of a tracker: enters what has got further, and begins and ends tasks.
    async fn take_in(&mut self, tracker: TrackerQueues) -> Result<(), Error> {
        let now = self.now();
        let flow = self.environments.flow();
        let mut advanced = tracker.queues.clone();
        advanced.advance(flow, now);
        if advanced != tracker.queues {
            // The change that this makes brings the tracker here again.
            self.act(&tracker.uid, QueueAction::Advance).await?;
        }
        let work = advanced.work(flow, now);
        match work.next {
            Some(next) => self.due.insert(tracker.uid.clone(), next),
            None => self.due.remove(&tracker.uid),
        };
        match work.soaking.is_empty() {
            false => self.soaking.insert(tracker.uid.clone()),
            true => self.soaking.remove(&tracker.uid),
        };
        self.tasks.reconcile(&tracker, &work, &self.environments);
        Ok(())
    }

    /// Takes in a tracker of which the ledger tells no change.
    async fn look_again(&mut self, uid: String) {
        if let Err(error) = self.refresh(&[uid]).await {
            tracing::warn!("a release cannot be read: {error}");
            self.changes.mark_changed();
        }
    }

    /// Does something to the queues of a tracker that follows by itself.
    async fn act(&self, uid: &str, action: QueueAction) -> Result<(), Error> {
        self.act_at(uid, action, self.now()).await
    }

    async fn act_at(&self, uid: &str, action: QueueAction, at: Timestamp) -> Result<(), Error> {
        let releases = self.tools.ledger.releases();
        let tracker = TrackerRef::Uid(uid.to_owned());
        let (flow, by) = (self.environments.flow(), By::new(BY, None));
        let acted = releases.act(tracker, flow, action, &by, at);
        acted.await.map(drop)
    }

    fn now(&self) -> Timestamp {
        self.tools.clock.now()
    }

    fn until_next(&self) -> Duration {
        let checkpoint = (!self.soaking.is_empty()).then_some(self.next_checkpoint);
        let due = self.due.values().min().copied();
        let next = [self.ticks.next(), due, checkpoint];
        let Some(next) = next.into_iter().flatten().min() else {
            return MAX_SLEEP;
        };
        let next = next.duration_since(self.now());
        Duration::try_from(next).unwrap_or_default().min(MAX_SLEEP)
    }
}
