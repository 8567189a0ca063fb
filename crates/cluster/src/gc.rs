//! The garbage collector: what is deleted as a consequence of a deletion, and what namespaces hold.
//!
//! It follows the store's events, so it works within moments of a change, and begins by examining
//! everything, so that nothing is forgotten when the process stops in between. It also removes
//! Events that have grown old.

mod collector;
mod expiry;
mod graph;
mod locate;
mod namespaces;
mod remaining;
#[cfg(test)]
mod tests;
mod verdict;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use futures::{StreamExt, stream};
use pathline_clock::Clock;
use tokio_util::sync::CancellationToken;

use self::collector::Next;
use self::graph::Graph;
use self::namespaces::Namespaces;
use crate::store::{Expired, Key, Refused, Store, Watch};

/// The number of objects that are worked on at a time; their writes share commits.
const AT_ONCE: usize = 64;

/// The pause after the disk refused.
const PAUSE: Duration = Duration::from_secs(1);

/// Deletes what has lost its owners, and looks after namespaces.
pub(crate) struct Collector {
    store: Store,
    clock: Clock,
    namespaces: Namespaces,
    graph: Graph,
    objects: BTreeSet<Key>,
    concerned: BTreeSet<Arc<str>>,
}

impl Collector {
    /// Makes the namespaces every cluster has. They trust `root_certificate`.
    ///
    /// # Errors
    /// Fails if the disk refuses.
    pub(crate) async fn start(
        store: Store,
        root_certificate: Arc<str>,
        clock: Clock,
    ) -> Result<Self, Refused> {
        let namespaces = Namespaces::new(store.clone(), root_certificate, clock.clone());
        namespaces.found().await?;
        Ok(Self {
            store,
            clock,
            namespaces,
            graph: Graph::default(),
            objects: BTreeSet::new(),
            concerned: BTreeSet::new(),
        })
    }

    /// Collects garbage until `shutdown`.
    pub(crate) async fn run(mut self, shutdown: CancellationToken) {
        let (store, clock) = (self.store.clone(), self.clock.clone());
        let work = async {
            loop {
                let watch = self.scan();
                if let Err(Expired { floor }) = self.follow(watch).await {
                    tracing::warn!(floor, "the garbage collector was too slow; it starts again");
                }
            }
        };
        tokio::select! {
            () = shutdown.cancelled() => {}
            () = work => {}
            () = expiry::run(&store, &clock) => {}
        }
    }

    /// Looks at everything there is.
    fn scan(&mut self) -> Result<Watch, Expired> {
        let everything = self.store.everything();
        self.graph = Graph::default();
        for stored in &everything.items {
            self.graph.add(stored);
            self.note(&stored.key);
        }
        self.store.watch_everything(everything.revision)
    }

    async fn follow(&mut self, watch: Result<Watch, Expired>) -> Result<(), Expired> {
        let mut watch = watch?;
        loop {
            if self.objects.is_empty() && self.concerned.is_empty() {
                let event = watch.next().await?;
                self.observe(&event);
            }
            while let Some(event) = watch.try_next()? {
                self.observe(&event);
            }
            self.work().await;
        }
    }

    fn observe(&mut self, event: &crate::store::Event) {
        for key in self.graph.observe(event) {
            self.objects.insert(key);
        }
        self.note(&event.current.key);
    }

    /// Remembers to look at an object and at its namespace.
    fn note(&mut self, key: &Key) {
        self.objects.insert(key.clone());
        if let Some(name) = self.namespaces.concerned(key) {
            self.concerned.insert(Arc::clone(name));
        }
    }

    /// Does what there is to do now; what fails is remembered.
    async fn work(&mut self) {
        let objects = std::mem::take(&mut self.objects);
        let concerned = std::mem::take(&mut self.concerned);
        let (store, graph, namespaces) = (&self.store, &self.graph, &self.namespaces);
        let now = self.clock.now();
        let examined: Vec<(Key, Result<Next, Refused>)> = stream::iter(objects)
            .map(|key| async move {
                let next = collector::examine(store, graph, &key, now).await;
                (key, next)
            })
            .buffer_unordered(AT_ONCE)
            .collect()
            .await;
        let looked_at: Vec<(Arc<str>, Result<(), Refused>)> = stream::iter(concerned)
            .map(|name| async move {
                let done = namespaces.examine(&name).await;
                (name, done)
            })
            .buffer_unordered(AT_ONCE)
            .collect()
            .await;
        let mut disk_refused = false;
        for (key, next) in examined {
            match next {
                Ok(Next::Nothing) => {}
                Ok(Next::Examine(keys)) => self.objects.extend(keys),
                Err(refused) => {
                    disk_refused |= matches!(refused, Refused::Storage(_) | Refused::TooLarge);
                    self.objects.insert(key);
                }
            }
        }
        for (name, done) in looked_at {
            if let Err(refused) = done {
                disk_refused |= matches!(refused, Refused::Storage(_) | Refused::TooLarge);
                self.concerned.insert(name);
            }
        }
        if disk_refused {
            tokio::time::sleep(PAUSE).await;
        }
    }
}
