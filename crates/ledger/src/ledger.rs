//! The handle to the ledger.

use std::fmt;
use std::sync::Arc;

use jiff::Timestamp;
use parking_lot::Mutex;
use pathline_lineage::Track;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::{AbortHandle, JoinHandle};

use crate::change::{Change, OwnerRef};
use crate::crier::{Crier, Followers};
use crate::database::Database;
use crate::error::Error;
use crate::location::Location;
use crate::writer::{self, Departure, Job, Prepared, Work};

/// The memory. A cheap handle: clones share connections and the queue of what is to be written.
#[derive(Clone)]
pub struct Ledger {
    shared: Arc<Shared>,
}

struct Shared {
    database: Database,
    writer: Mutex<Option<Writer>>,
    nudge: watch::Sender<()>,
    writable: watch::Sender<bool>,
    followers: Arc<Followers>,
    crier: AbortHandle,
}

struct Writer {
    queue: mpsc::Sender<Job>,
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
        let nudge = watch::Sender::new(());
        let followers = Arc::new(Followers::default());
        let crier = Crier::new(database.clone(), Arc::clone(&followers)).await?;
        let crier = tokio::spawn(crier.run(nudge.subscribe()));
        let (queue, jobs) = mpsc::channel(writer::QUEUE);
        let writable = watch::Sender::new(true);
        let task = tokio::spawn(writer::run(
            database.clone(),
            jobs,
            nudge.clone(),
            writable.clone(),
        ));
        Ok(Self {
            shared: Arc::new(Shared {
                database,
                writer: Mutex::new(Some(Writer { queue, task })),
                nudge,
                writable,
                followers,
                crier: crier.abort_handle(),
            }),
        })
    }

    /// Writes what is queued, then closes the ledger for all clones of this handle.
    pub async fn close(&self) {
        let writer = self.shared.writer.lock().take();
        if let Some(Writer { queue, task }) = writer {
            drop(queue);
            // It ends by itself after the last job; an error would mean that it has ended already.
            let _ = task.await;
        }
        self.shared.crier.abort();
        self.shared.database.close().await;
    }

    pub(crate) fn database(&self) -> &Database {
        &self.shared.database
    }

    /// Wakes those who follow.
    pub(crate) fn nudge(&self) {
        self.shared.nudge.send_replace(());
    }
}

/// Recording
impl Ledger {
    /// Records a change. When this returns it is durable.
    ///
    /// A call whose answer was lost may be repeated: nothing is recorded twice.
    ///
    /// # Errors
    /// Then nothing of it was recorded, or it was and the answer got lost. Dropping the returned
    /// future does not take the change back.
    pub async fn record(&self, change: &Change<'_>) -> Result<(), Error> {
        self.write(Work::Record(Box::new(Prepared::new(change))))
            .await
    }

    /// Records that an owner is no longer there. Its history stays; nothing of it is current.
    ///
    /// # Errors
    /// As [`Ledger::record`].
    pub async fn gone(&self, owner: &OwnerRef, time: Timestamp) -> Result<(), Error> {
        let owner = owner.clone();
        self.write(Work::Gone(Departure { owner, time })).await
    }

    /// Follows whether what is recorded reaches the disk: false from a change that did not, because
    /// the disk is full or broken, until it was seen that it works again. A database that does not
    /// answer is no reason.
    pub fn writable(&self) -> watch::Receiver<bool> {
        self.shared.writable.subscribe()
    }

    pub(crate) async fn write(&self, work: Work) -> Result<(), Error> {
        let queue = self
            .shared
            .writer
            .lock()
            .as_ref()
            .map(|it| it.queue.clone());
        let queue = queue.ok_or(Error::Closed)?;
        let (answer, answered) = oneshot::channel();
        let job = Job { work, answer };
        queue.send(job).await.map_err(|_| Error::Closed)?;
        answered.await.map_err(|_| Error::Closed)?
    }
}

/// Following
impl Ledger {
    /// Follows what is known of an owner: its track now, and whenever it changes, whoever recorded
    /// it. There is none for an owner that is unknown, or gone.
    pub async fn follow(&self, uid: &str) -> Result<watch::Receiver<Option<Arc<Track>>>, Error> {
        let receiver = self.shared.followers.subscribe(uid);
        self.shared
            .followers
            .refresh(&self.shared.database, uid)
            .await?;
        Ok(receiver)
    }

    /// Follows the sequence of the newest change. A change is told of only when it and all before
    /// it can be read.
    pub fn bell(&self) -> watch::Receiver<i64> {
        self.shared.followers.bell.subscribe()
    }

    /// Rings whenever a token was made or revoked, by whichever process.
    pub fn token_bell(&self) -> watch::Receiver<u64> {
        self.shared.followers.token_bell.subscribe()
    }
}

impl fmt::Debug for Ledger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ledger")
            .field("place", self.database().place())
            .finish_non_exhaustive()
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        // The writer ends by itself when its queue is empty.
        self.crier.abort();
    }
}
