//! The one task that writes, for every topic.
//!
//! Writes that wait at the same time are committed together, with one sync of the disk; each caller
//! is answered after the commit that holds its write.

mod disk;
mod group;
mod queued;
#[cfg(test)]
mod tests;
mod transaction;

use std::future::Future;
use std::pin::Pin;

use tokio::sync::{mpsc, watch};

pub(crate) use self::group::Group;
pub(crate) use self::queued::{Job, queue};
pub(crate) use self::transaction::Transaction;

use self::group::Groups;
use crate::database::Database;
use crate::error::Error;

/// The most writes that may wait in the queue; more wait for room.
pub(crate) const MAX_QUEUED: usize = 1024;
/// The most writes, and about the most bytes, that are committed together.
const MAX_BATCH: usize = 256;
const MAX_BATCH_BYTES: usize = 8 << 20;

type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// A write: made ready by its caller, and executed in a transaction that it shares with others.
///
/// It tells of what it changed by [`Transaction::record_change`]; whoever has subscribed to that
/// topic is notified after the commit. It may be executed a second time if the transaction is
/// rolled back for another write's sake, so it keeps nothing of the first time.
pub(crate) trait Write: Send + Sync + 'static {
    /// The state that writes of its kind share within a transaction; `()` if they share nothing.
    type Group: Group;
    /// The answer that the caller gets when the write is durable.
    type Answer: Send + 'static;

    /// Returns about how many bytes it writes, where that may be many.
    fn bytes(&self) -> usize {
        0
    }

    /// Names what it is about, so that its group reads that for all writes at once.
    fn join(&self, _group: &mut Self::Group) {}

    /// Writes to the tables.
    fn execute(
        &self,
        group: &mut Self::Group,
        transaction: &mut Transaction<'_>,
    ) -> impl Future<Output = Result<Self::Answer, Error>> + Send;
}

/// Serves the queue until every handle of it is gone, and calls `notify` after each commit.
/// `writable` says whether the disk takes what is written; while it does not, that is tried now and
/// then.
pub(crate) async fn run(
    database: Database,
    mut queue: mpsc::Receiver<Box<dyn Job>>,
    notify: watch::Sender<()>,
    writable: watch::Sender<bool>,
) {
    while let Some(first) = disk::next_job(&database, &mut queue, &writable).await {
        let mut bytes = first.bytes();
        let mut batch = vec![first];
        while batch.len() < MAX_BATCH
            && bytes < MAX_BATCH_BYTES
            && let Ok(next) = queue.try_recv()
        {
            bytes += next.bytes();
            batch.push(next);
        }
        commit(&database, batch, &writable).await;
        notify.send_replace(());
    }
}

/// Writes a batch in one transaction. If that fails for one of them, each gets a transaction of its
/// own, so that no write fails for another one's sake.
async fn commit(database: &Database, mut batch: Vec<Box<dyn Job>>, writable: &watch::Sender<bool>) {
    let together = write(database, &mut batch).await;
    let retry = batch.len() > 1 && matches!(&together, Err(error) if !error.is_temporary());
    for mut job in batch {
        let outcome = match retry {
            true => write(database, std::slice::from_mut(&mut job)).await,
            false => together.clone(),
        };
        disk::note(writable, &outcome);
        job.answer(outcome);
    }
}

async fn write(database: &Database, batch: &mut [Box<dyn Job>]) -> Result<(), Error> {
    let mut session = database.writer().await?;
    let revision = session
        .transact(async |session| {
            database.check_claim(session).await?;
            let mut transaction = Transaction::new(session, database.location());
            let mut groups = Groups::default();
            for job in batch.iter() {
                job.join(&mut groups);
            }
            groups.load(&mut transaction).await?;
            for job in batch.iter_mut() {
                job.execute(&mut groups, &mut transaction).await?;
            }
            groups.flush(&mut transaction).await?;
            let revision = database.revisions().write(transaction.session()).await?;
            transaction.finish().await?;
            Ok(revision)
        })
        .await?;
    database.revisions().committed(revision);
    Ok(())
}
