//! A work queue of names that is fair across namespaces.
//!
//! Namespaces take turns, so that many owners in one of them cannot hold up the others. A name is in
//! the queue once, however often it is woken, and is never reconciled twice at the same time.

mod retries;

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;

use futures::StreamExt;
use parking_lot::Mutex;
use tokio::sync::Notify;
use tokio::task::{Id, JoinSet};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::time::{DelayQueue, delay_queue};

use crate::runtime::clock::Clock;
use crate::runtime::metrics::QueueMetrics;
use retries::Retries;

/// Names an object to reconcile.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Key {
    pub(crate) namespace: String,
    pub(crate) name: String,
}

impl Key {
    pub(crate) fn new(namespace: &str, name: &str) -> Self {
        Self {
            namespace: namespace.to_owned(),
            name: name.to_owned(),
        }
    }
}

/// The next step after a reconcile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Next {
    /// Nothing until something changes.
    Wait,
    /// Another try, later each time.
    Retry,
}

/// The queue of one kind. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Queue {
    turns: Arc<Mutex<Turns>>,
    woken: Arc<Notify>,
    metrics: QueueMetrics,
    clock: Clock,
}

/// The names that wait and those that run.
#[derive(Default)]
struct Turns {
    /// The names that wait, by namespace.
    waiting: HashMap<String, VecDeque<String>>,
    /// The namespaces in which someone waits; the first is next.
    order: VecDeque<String>,
    queued: HashSet<Key>,
    running: HashSet<Key>,
    /// Those woken while they ran, to be reconciled once more.
    again: HashSet<Key>,
}

impl Turns {
    fn push(&mut self, key: Key) {
        if self.running.contains(&key) {
            self.again.insert(key);
        } else if self.queued.insert(key.clone()) {
            let waiting = self.waiting.entry(key.namespace.clone()).or_default();
            if waiting.is_empty() {
                self.order.push_back(key.namespace);
            }
            waiting.push_back(key.name);
        }
    }

    fn pop(&mut self) -> Option<Key> {
        let namespace = self.order.pop_front()?;
        let waiting = self.waiting.get_mut(&namespace)?;
        let name = waiting.pop_front()?;
        let key = Key::new(&namespace, &name);
        if waiting.is_empty() {
            self.waiting.remove(&namespace);
        } else {
            self.order.push_back(namespace);
        }
        self.queued.remove(&key);
        self.running.insert(key.clone());
        Some(key)
    }

    fn end(&mut self, key: &Key) {
        self.running.remove(key);
        if self.again.remove(key) {
            self.push(key.clone());
        }
    }
}

impl Queue {
    pub(crate) fn new(metrics: QueueMetrics, clock: Clock) -> Self {
        Self {
            turns: Arc::default(),
            woken: Arc::default(),
            metrics,
            clock,
        }
    }

    /// Queues a name, which is reconciled as soon as it is its turn.
    pub(crate) fn push(&self, key: Key) {
        let mut turns = self.turns.lock();
        turns.push(key);
        self.metrics.waiting(turns.queued.len());
        self.woken.notify_one();
    }

    /// Reconciles one after the other, several side by side, until `stop`.
    ///
    /// Work that has been started is finished, unless the future is dropped: then it is cut off. A
    /// reconcile that panics is tried again like one that failed.
    pub(crate) async fn work<F>(
        &self,
        concurrency: usize,
        stop: CancellationToken,
        reconcile: impl Fn(Key) -> F,
    ) where
        F: Future<Output = Next> + Send + 'static,
    {
        let mut work = Work {
            queue: self,
            reconciles: JoinSet::new(),
            keys: HashMap::new(),
            retries: Retries::default(),
            delayed: DelayQueue::new(),
            timers: HashMap::new(),
        };
        while !stop.is_cancelled() {
            work.fill(concurrency, &reconcile);
            tokio::select! {
                () = stop.cancelled() => {}
                () = self.woken.notified() => {}
                Some(ended) = work.reconciles.join_next_with_id() => work.end(ended),
                Some(due) = work.delayed.next() => work.due(due.into_inner()),
            }
        }
        while work.reconciles.join_next().await.is_some() {}
    }

    /// Returns the names that wait, sorted, as if they had been reconciled.
    #[cfg(test)]
    pub(crate) fn drain(&self) -> Vec<String> {
        let popped: Vec<Key> = std::iter::from_fn(|| self.pop()).collect();
        for key in &popped {
            self.turns.lock().end(key);
        }
        let mut names: Vec<String> = popped.into_iter().map(|key| key.name).collect();
        names.sort();
        names
    }

    fn pop(&self) -> Option<Key> {
        let mut turns = self.turns.lock();
        let key = turns.pop();
        self.metrics.waiting(turns.queued.len());
        key
    }
}

/// The reconciles that run, and the names that wait for their next try.
struct Work<'q> {
    queue: &'q Queue,
    reconciles: JoinSet<Next>,
    keys: HashMap<Id, (Key, Instant)>,
    retries: Retries,
    delayed: DelayQueue<Key>,
    timers: HashMap<Key, delay_queue::Key>,
}

impl Work<'_> {
    fn fill<F>(&mut self, concurrency: usize, reconcile: &impl Fn(Key) -> F)
    where
        F: Future<Output = Next> + Send + 'static,
    {
        while self.reconciles.len() < concurrency {
            let Some(key) = self.queue.pop() else { return };
            let task = self.reconciles.spawn(reconcile(key.clone()));
            self.keys
                .insert(task.id(), (key, self.queue.clock.instant()));
        }
    }

    fn end(&mut self, ended: Result<(Id, Next), tokio::task::JoinError>) {
        let (id, next) = match ended {
            Ok(ended) => ended,
            Err(error) => {
                tracing::error!(%error, "a reconcile ended by a panic; please report this");
                (error.id(), Next::Retry)
            }
        };
        let Some((key, started)) = self.keys.remove(&id) else {
            return;
        };
        let now = self.queue.clock.instant();
        self.queue.metrics.reconciled(now.duration_since(started));
        match next {
            Next::Wait => self.retries.forget(&key),
            Next::Retry => self.delay(&key),
        }
        self.queue.turns.lock().end(&key);
    }

    /// Sets the one timer of a name.
    fn delay(&mut self, key: &Key) {
        let delay = self.retries.next(key);
        match self.timers.get(key) {
            Some(timer) => self.delayed.reset(timer, delay),
            None => {
                let timer = self.delayed.insert(key.clone(), delay);
                self.timers.insert(key.clone(), timer);
            }
        }
    }

    fn due(&mut self, key: Key) {
        self.timers.remove(&key);
        self.queue.push(key);
    }
}

#[cfg(test)]
mod tests {
    use pathline_testkit::cases;
    use proptest::prelude::*;
    use tokio::sync::{Semaphore, mpsc};

    use super::*;
    use crate::runtime::metrics::Metrics;
    use crate::runtime::queues::OwnedKind;

    fn queue() -> Queue {
        Queue::new(
            Metrics::default().queue(OwnedKind::Workload),
            Clock::system(),
        )
    }

    #[test]
    fn issue_929_5000_queued_owners_in_one_namespace_delay_another_by_at_most_one_round() {
        let queue = queue();
        for index in 0..5_000 {
            queue.push(Key::new("crowded", &format!("owner-{index}")));
        }
        for _ in 0..100 {
            queue.pop().unwrap();
        }
        queue.push(Key::new("quiet", "a"));
        queue.push(Key::new("quiet", "b"));
        let round: Vec<String> = (0..4).map(|_| queue.pop().unwrap().namespace).collect();
        assert_eq!(round, ["crowded", "quiet", "crowded", "quiet"]);
    }

    #[test]
    fn a_name_waits_once_and_is_looked_at_again_if_woken_meanwhile() {
        let queue = queue();
        let key = Key::new("dev", "app");
        queue.push(key.clone());
        queue.push(key.clone());
        assert_eq!(queue.pop(), Some(key.clone()));
        assert_eq!(queue.pop(), None, "it waited once");
        queue.push(key.clone());
        assert_eq!(queue.pop(), None, "it is being reconciled");
        queue.turns.lock().end(&key);
        assert_eq!(queue.pop(), Some(key.clone()), "it was woken meanwhile");
        queue.turns.lock().end(&key);
        assert_eq!(queue.pop(), None);
        assert!(queue.turns.lock().waiting.is_empty(), "nothing is kept");
    }

    #[tokio::test]
    async fn what_fails_or_panics_is_tried_again_and_disturbs_nobody() {
        let queue = queue();
        let (seen, mut reconciles) = mpsc::unbounded_channel();
        for name in ["panics", "fails", "works"] {
            queue.push(Key::new("dev", name));
        }
        let stop = CancellationToken::new();
        let reconcile = |key: Key| {
            let seen = seen.clone();
            async move {
                seen.send(key.name.clone()).unwrap();
                assert_ne!(key.name, "panics", "as the test wants it");
                if key.name == "works" {
                    Next::Wait
                } else {
                    Next::Retry
                }
            }
        };
        let story = async {
            let mut count: HashMap<String, usize> = HashMap::new();
            while count.get("panics") < Some(&2) || count.get("fails") < Some(&2) {
                *count.entry(reconciles.recv().await.unwrap()).or_default() += 1;
            }
            assert_eq!(count["works"], 1);
            stop.cancel();
        };
        tokio::join!(queue.work(2, stop.clone(), reconcile), story);
    }

    #[tokio::test]
    async fn what_has_been_started_is_finished() {
        let queue = queue();
        queue.push(Key::new("dev", "slow"));
        let (started, mut is_started) = mpsc::unbounded_channel();
        let (ended, mut is_ended) = mpsc::unbounded_channel();
        let (gate, stop) = (Arc::new(Semaphore::new(0)), CancellationToken::new());
        let reconcile = |_| {
            let (started, ended, gate) = (started.clone(), ended.clone(), gate.clone());
            async move {
                started.send(()).unwrap();
                gate.acquire().await.unwrap().forget();
                ended.send(()).unwrap();
                Next::Wait
            }
        };
        let story = async {
            is_started.recv().await.unwrap();
            stop.cancel();
            tokio::task::yield_now().await;
            gate.add_permits(1);
        };
        tokio::join!(queue.work(1, stop.clone(), reconcile), story);
        assert!(is_ended.try_recv().is_ok());
    }

    proptest! {
        #![proptest_config(cases(256))]

        #[test]
        fn everybody_gets_a_turn_before_anybody_gets_two(
            pushed in proptest::collection::vec((0..5_u8, 0..8_u8), 1..60)
        ) {
            let queue = queue();
            let mut expected = HashSet::new();
            for (namespace, name) in pushed {
                let key = Key::new(&namespace.to_string(), &name.to_string());
                queue.push(key.clone());
                expected.insert(key);
            }
            let mut popped = Vec::new();
            while let Some(key) = queue.pop() {
                popped.push(key);
            }
            prop_assert_eq!(popped.iter().cloned().collect::<HashSet<_>>(), expected);
            for (index, key) in popped.iter().enumerate() {
                let rest = &popped[index + 1..];
                let next_own = rest.iter().position(|other| other.namespace == key.namespace);
                let between: HashSet<&str> = rest[..next_own.unwrap_or(0)]
                    .iter()
                    .map(|other| other.namespace.as_str())
                    .collect();
                prop_assert_eq!(between.len(), next_own.unwrap_or(0), "a namespace went twice");
            }
        }
    }
}
