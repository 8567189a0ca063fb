//! Objects, kept in memory and on disk under one revision counter.
//!
//! [`Store`] is a cheap handle. Readers look at the state in memory; one writer task checks each
//! [`Write`] against it, commits what is queued in one transaction with one sync of the disk, and
//! only then shows the new state to readers and watchers, in revision order, and answers.
//! The latest events stay in a bounded window, in memory and on disk, so that watches resume and
//! lists continue at an older revision, also after a crash.

mod disk;
mod log;
mod object;
mod state;
#[cfg(test)]
mod tests;
mod watch;
mod write;
mod writer;

use std::path::Path;
use std::sync::Arc;

use parking_lot::RwLock;
use tokio::sync::{mpsc, oneshot, watch as watch_channel};
use tokio_util::task::TaskTracker;

pub(crate) use self::disk::Error;
pub(crate) use self::object::{Collection, Event, EventKind, Key, Stored};
pub(crate) use self::watch::Watch;
pub(crate) use self::write::{Change, Expect, MAX_OBJECT_BYTES, Refused, Write};

use self::disk::Disk;
use self::state::State;
use self::writer::Writer;

/// The bounds of the history that is kept. Whatever limit is met first holds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// The most events.
    pub(crate) events: usize,
    /// The most bytes of JSON text in those events.
    pub(crate) bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            events: 20_000,
            bytes: 64 << 20,
        }
    }
}

/// The asked revision is older than the history that is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the revision is too old; history starts after {floor}")]
pub(crate) struct Expired {
    /// The newest revision that has been forgotten.
    pub(crate) floor: u64,
}

/// The objects of a collection at one revision.
#[derive(Clone, Debug)]
pub(crate) struct Snapshot {
    /// The revision of the snapshot; a watch after it misses nothing.
    pub(crate) revision: u64,
    /// The objects, by namespace and name.
    pub(crate) items: Vec<Arc<Stored>>,
}

/// A handle to the one store of a data directory.
#[derive(Clone)]
pub(crate) struct Store {
    shared: Arc<Shared>,
    requests: mpsc::Sender<Request>,
}

/// The state that readers, watchers and the writer share.
struct Shared {
    state: RwLock<State>,
    /// True while the last write reached the disk.
    writable: watch_channel::Sender<bool>,
    /// The writer.
    tasks: TaskTracker,
}

impl Shared {
    fn new(state: State) -> Self {
        Self {
            state: RwLock::new(state),
            writable: watch_channel::Sender::new(true),
            tasks: TaskTracker::new(),
        }
    }
}

/// A request to the writer.
enum Request {
    Write(Write, oneshot::Sender<Result<Arc<Stored>, Refused>>),
    Close,
}

/// The number of writes that may wait for the writer; more wait for room.
const QUEUE: usize = 1024;

/// Opening and closing
impl Store {
    /// Opens the database at `path`, creating it if need be, and loads it.
    ///
    /// # Errors
    /// Fails if the file cannot be opened, is of a newer version, or contradicts itself.
    pub(crate) async fn open(path: &Path, limits: Limits) -> Result<Self, Error> {
        let mut disk = Disk::open(path).await?;
        let mut state = disk.load().await?;
        if let Some(floor) = state.excess(&limits) {
            disk.forget(floor).await?;
            state.forget(floor);
        }
        let shared = Arc::new(Shared::new(state));
        let (requests, queue) = mpsc::channel(QUEUE);
        let writer = Writer::new(disk, Arc::clone(&shared), limits);
        shared.tasks.spawn(writer.run(queue));
        Ok(Self { shared, requests })
    }

    /// Stops the writer after the writes already queued, and closes the database.
    pub(crate) async fn close(&self) {
        // An error means that the writer has stopped already.
        let _ = self.requests.send(Request::Close).await;
        self.shared.tasks.close();
        self.shared.tasks.wait().await;
    }
}

/// Reading
impl Store {
    /// Returns the newest revision.
    pub(crate) fn revision(&self) -> u64 {
        self.shared.state.read().revision()
    }

    /// Returns the current state of an object.
    pub(crate) fn get(&self, key: &Key) -> Option<Arc<Stored>> {
        self.shared.state.read().get(key).map(Stored::lend)
    }

    /// Returns the objects of a collection, or of one namespace in it.
    pub(crate) fn list(&self, collection: &Collection, namespace: Option<&str>) -> Snapshot {
        self.shared.state.read().list(collection, namespace)
    }

    /// Returns what [`Self::list`] returned when `revision` was the newest one.
    ///
    /// # Errors
    /// [`Expired`] when that has been forgotten.
    pub(crate) fn list_at(
        &self,
        collection: &Collection,
        namespace: Option<&str>,
        revision: u64,
    ) -> Result<Snapshot, Expired> {
        self.shared
            .state
            .read()
            .list_at(collection, namespace, revision)
    }

    /// Returns every object in a namespace, of every collection.
    pub(crate) fn contents(&self, namespace: &str) -> Vec<Arc<Stored>> {
        self.shared
            .state
            .read()
            .contents(namespace)
            .map(Stored::lend)
            .collect()
    }

    /// Returns every object of every collection, in no particular order.
    pub(crate) fn everything(&self) -> Snapshot {
        let state = self.shared.state.read();
        Snapshot {
            revision: state.revision(),
            items: state.everything().map(Stored::lend).collect(),
        }
    }
}

/// Watching
impl Store {
    /// Watches a collection, or one namespace in it, for what happens after revision `after`.
    ///
    /// # Errors
    /// [`Expired`] when some of that has been forgotten.
    pub(crate) fn watch(
        &self,
        collection: &Collection,
        namespace: Option<&str>,
        after: u64,
    ) -> Result<Watch, Expired> {
        self.shared.state.write().ensure(collection).check(after)?;
        Ok(Watch::new(
            Arc::clone(&self.shared),
            Some(collection.clone()),
            namespace,
            after,
        ))
    }

    /// Watches everything that happens after revision `after`.
    ///
    /// # Errors
    /// [`Expired`] when some of that has been forgotten.
    pub(crate) fn watch_everything(&self, after: u64) -> Result<Watch, Expired> {
        self.shared.state.read().history().check(after)?;
        Ok(Watch::new(Arc::clone(&self.shared), None, None, after))
    }
}

/// Writing
impl Store {
    /// Follows whether writes reach the disk: false from a write that did not until one that did.
    /// Meanwhile the writer tries by itself.
    pub(crate) fn writable(&self) -> watch_channel::Receiver<bool> {
        self.shared.writable.subscribe()
    }

    /// Makes one change. When this returns the change is on disk and visible to everyone.
    ///
    /// # Errors
    /// See [`Refused`]. The write may still happen if the returned future is dropped.
    pub(crate) async fn write(&self, write: Write) -> Result<Arc<Stored>, Refused> {
        let (Change::Put(object) | Change::Remove(object)) = &write.change;
        if !object["metadata"].is_object() {
            return Err(Refused::Storage("it is not an object with metadata".into()));
        }
        let (answer, answered) = oneshot::channel();
        let closed = || Refused::Storage("the store is closed".into());
        self.requests
            .send(Request::Write(write, answer))
            .await
            .map_err(|_| closed())?;
        answered.await.map_err(|_| closed())?
    }
}
