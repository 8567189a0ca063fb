//! The newest revision of the cluster that the ledger knows of. A cluster that is older was restored from
//! a backup, and what the ledger knows of its owners is of a future that will not come.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use jiff::Timestamp;

use crate::database::{Session, sql};
use crate::error::Error;
use crate::ledger::Ledger;
use crate::topic::Topic;
use crate::writer::{Transaction, Write};

/// The newest revision that was seen, and the newest that is in the tables.
#[derive(Clone, Default)]
pub(crate) struct Revisions {
    seen: Arc<AtomicI64>,
    written: Arc<AtomicI64>,
}

impl Revisions {
    /// Writes the newest revision if the tables have an older one, and returns it for
    /// [`Revisions::committed`].
    pub(crate) async fn write(&self, session: &mut Session) -> Result<i64, Error> {
        let seen = self.seen.load(Ordering::Relaxed);
        if seen > self.written.load(Ordering::Relaxed) {
            let update =
                sql("update cluster set revision = $1 where revision is null or revision < $1");
            session.run(update.bind(seen)).await?;
        }
        Ok(seen)
    }

    /// Takes note that a revision is durable.
    pub(crate) fn committed(&self, revision: i64) {
        self.written.fetch_max(revision, Ordering::Relaxed);
    }

    fn is_written(&self) -> bool {
        self.seen.load(Ordering::Relaxed) <= self.written.load(Ordering::Relaxed)
    }
}

/// The revision of the cluster
impl Ledger {
    /// Takes note that an owner was seen at a revision of its cluster. It is written with what is
    /// recorded next, and when the ledger is closed.
    pub fn note_revision(&self, revision: i64) {
        let seen = &self.database().revisions().seen;
        seen.fetch_max(revision, Ordering::Relaxed);
    }

    /// Returns the newest revision of the cluster that is known.
    ///
    /// # Errors
    /// If the ledger cannot be read.
    pub async fn revision(&self) -> Result<Option<i64>, Error> {
        let asked = sql("select revision from cluster");
        let row: Option<(Option<i64>,)> = self.database().reader().await?.first(asked).await?;
        Ok(row.and_then(|(revision,)| revision))
    }

    /// Forgets what is known of the owners of a cluster that went back from revision `from` to
    /// revision `to`; history stays. Returns false if another replica has done so already.
    ///
    /// To be called before anything is recorded: whoever reconciles the owners records what it sees.
    ///
    /// # Errors
    /// If the ledger cannot be written to.
    pub async fn rewind(&self, from: i64, to: i64, time: Timestamp) -> Result<bool, Error> {
        self.write(Rewind { from, to, time }).await
    }

    /// Writes the newest revision that was seen.
    pub(crate) async fn flush_revision(&self) {
        if !self.database().revisions().is_written() {
            // What is not written is only found out later.
            let _ = self.write(Flush).await;
        }
    }
}

/// Writes nothing but what every transaction writes.
struct Flush;

impl Write for Flush {
    type Group = ();
    type Answer = ();

    async fn execute(&self, (): &mut (), _: &mut Transaction<'_>) -> Result<(), Error> {
        Ok(())
    }
}

/// Forgets the lineage of all owners; the answer is whether there was something to forget.
struct Rewind {
    from: i64,
    to: i64,
    time: Timestamp,
}

const FORGET: [&str; 3] = [
    "update derivation set until = $1 where until is null",
    "insert into change (topic, subject, time, what) \
     select $2, uid, $1, '{\"gone\":true}' from owner where gone is null order by id",
    "update owner set lineage = '{}', gone = coalesce(gone, $1), \
     changed = coalesce((select max(sequence) from change), changed)",
];

impl Write for Rewind {
    type Group = ();
    type Answer = bool;

    async fn execute(&self, (): &mut (), transaction: &mut Transaction<'_>) -> Result<bool, Error> {
        let session = transaction.session();
        let claimed = sql("update cluster set revision = $1 where revision = $2");
        let claimed = session.run(claimed.bind(self.to).bind(self.from)).await?;
        if claimed == 0 {
            return Ok(false);
        }
        forget(session, self.time).await?;
        session.notify().await?;
        Ok(true)
    }
}

/// Ends what is current and forgets what is known of all owners, also of those that are gone: they may be back.
pub(crate) async fn forget(session: &mut Session, time: Timestamp) -> Result<(), Error> {
    let [end, tell, forget] = FORGET.map(|text| sql(text).bind(time));
    session.run(end).await?;
    session.run(tell.bind(Topic::Lineage.as_str())).await?;
    session.run(forget).await.map(drop)
}
