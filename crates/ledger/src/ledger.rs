//! The handle to the ledger.

use std::fmt;
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::{mpsc, watch};
use tokio::task::{AbortHandle, JoinHandle};
use tokio_util::task::TaskTracker;

use crate::access::Access;
use crate::database::Database;
use crate::error::Error;
use crate::lineage::Lineage;
use crate::location::Location;
use crate::notifier::{ChangeNotifier, Subscribers};
use crate::releases::Releases;
use crate::sealed::SealKey;
use crate::sealing::{self, Sealing};
use crate::topic::Topic;
use crate::trackers::Trackers;
use crate::writer::{self, Job, Write};

/// The ledger. A cheap handle: clones share connections and the queue of what is to be written.
#[derive(Clone)]
pub struct Ledger {
    shared: Arc<Shared>,
    sealing: Sealing,
}

struct Shared {
    database: Database,
    writer: Mutex<Option<Writer>>,
    writable: watch::Sender<bool>,
    subscribers: Arc<Subscribers>,
    notifier: AbortHandle,
    /// The writer and the notifier.
    tasks: TaskTracker,
}

struct Writer {
    queue: mpsc::Sender<Box<dyn Job>>,
    task: JoinHandle<()>,
}

/// Opening and closing
impl Ledger {
    /// Opens the ledger, making it if it is not there, and brings its tables up to date.
    ///
    /// # Errors
    /// If it cannot be reached, is damaged, or was written by a newer version.
    pub async fn open(location: &Location) -> Result<Self, Error> {
        let database = Database::open(location).await?;
        let notify = watch::Sender::new(());
        let subscribers = Arc::new(Subscribers::default());
        let notifier = ChangeNotifier::new(database.clone(), Arc::clone(&subscribers)).await?;
        let tasks = TaskTracker::new();
        let notifier = tasks.spawn(notifier.run(notify.subscribe()));
        let (queue, jobs) = mpsc::channel(writer::MAX_QUEUED);
        let writable = watch::Sender::new(true);
        let task = tasks.spawn(writer::run(
            database.clone(),
            jobs,
            notify,
            writable.clone(),
        ));
        Ok(Self {
            sealing: Sealing::new(database.location()),
            shared: Arc::new(Shared {
                database,
                writer: Mutex::new(Some(Writer { queue, task })),
                writable,
                subscribers,
                notifier: notifier.abort_handle(),
                tasks,
            }),
        })
    }

    /// Returns a handle that seals secrets and opens them, as its clones do; without it the ledger refuses to hold any.
    ///
    /// # Errors
    /// [`Error::WrongSealKey`] if what is in the ledger is sealed with another key.
    pub async fn with_seal_key(mut self, key: SealKey) -> Result<Self, Error> {
        sealing::adopt(&self, &key).await?;
        self.sealing = self.sealing.with(key);
        Ok(self)
    }

    /// Returns the key that this handle seals secrets with, if it has one.
    pub fn seal_key(&self) -> Option<&SealKey> {
        self.sealing.key().ok()
    }

    /// Returns the number of statements that this ledger and its clones have sent to the database, to learn what something
    /// costs.
    pub fn statements(&self) -> u64 {
        self.shared.database.statements()
    }

    /// Seals everything with another key, all of it or nothing; returns how many secrets there are. Handles that have
    /// the old key, of this process and of others, refuse to work with secrets from then on. A call whose answer was
    /// lost may be repeated.
    ///
    /// # Errors
    /// [`Error::WrongSealKey`] if something is sealed with neither of the keys.
    pub async fn reseal(&self, old: &SealKey, new: &SealKey) -> Result<u64, Error> {
        sealing::reseal(self, old, new).await
    }

    /// Writes what is queued, then closes the ledger for all clones of this handle.
    pub async fn close(&self) {
        self.flush_revision().await;
        let writer = self.shared.writer.lock().take();
        if let Some(Writer { queue, task }) = writer {
            drop(queue);
            // It ends by itself after the last job; an error would mean that it has ended already.
            let _ = task.await;
        }
        self.shared.notifier.abort();
        self.shared.tasks.close();
        self.shared.tasks.wait().await;
        self.shared.database.close().await;
    }

    pub(crate) fn database(&self) -> &Database {
        &self.shared.database
    }

    pub(crate) fn sealing(&self) -> &Sealing {
        &self.sealing
    }
}

/// Topics
impl Ledger {
    /// Returns the lineage of owners.
    pub fn lineage(&self) -> Lineage<'_> {
        Lineage::new(self)
    }

    /// Returns the tokens of the REST API.
    pub fn access(&self) -> Access<'_> {
        Access::new(self)
    }

    /// Returns the trackers.
    pub fn trackers(&self) -> Trackers<'_> {
        Trackers::new(self)
    }

    /// Returns the releases that trackers formed.
    pub fn releases(&self) -> Releases<'_> {
        Releases::new(self)
    }

    /// Subscribes to a topic: the receiver has the sequence of its newest change, whichever process
    /// recorded it. That comes only when this change and all before it can be read.
    pub fn subscribe(&self, topic: Topic) -> watch::Receiver<i64> {
        self.shared.subscribers.of(topic).subscribe()
    }

    pub(crate) fn subscribers(&self) -> &Subscribers {
        &self.shared.subscribers
    }
}

/// Writing
impl Ledger {
    /// Follows whether what is written reaches the disk: false from a write that did not, because
    /// the disk is full or broken, until it was seen that it works again. A database that does not
    /// answer is no reason.
    pub fn writable(&self) -> watch::Receiver<bool> {
        self.shared.writable.subscribe()
    }

    /// Writes, together with what others write at the same time. When this returns it is durable.
    pub(crate) async fn write<W: Write>(&self, write: W) -> Result<W::Answer, Error> {
        let queue = self
            .shared
            .writer
            .lock()
            .as_ref()
            .map(|it| it.queue.clone());
        let queue = queue.ok_or(Error::Closed)?;
        let (job, answered) = writer::queue(write);
        queue.send(job).await.map_err(|_| Error::Closed)?;
        answered.await.map_err(|_| Error::Closed)?
    }
}

impl fmt::Debug for Ledger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ledger")
            .field("location", self.database().location())
            .finish_non_exhaustive()
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        // The writer ends by itself when its queue is empty.
        self.notifier.abort();
    }
}
