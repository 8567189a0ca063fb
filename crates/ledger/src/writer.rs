//! The one task that records.
//!
//! Changes that wait at the same time are committed together, with one sync of the disk; each
//! caller is answered after the commit that holds its change.

mod artifacts;
mod crossing;
mod derivations;
mod edges;
mod owners;
mod prepared;
mod record;

use std::time::Duration;

use jiff::Timestamp;
use pathline_lineage::Artifact;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::timeout;

pub(crate) use self::prepared::{Departure, Prepared};

use crate::crossings::Crossing;
use crate::database::{Database, sql};
use crate::error::Error;

/// How many changes may wait; more wait for room.
pub(crate) const QUEUE: usize = 1024;
/// The most changes, and about the most bytes of tracks, that are committed together.
const BATCH: usize = 256;
const BATCH_BYTES: usize = 8 << 20;

/// The interval of write probes while the disk refuses writes, and the bytes of one.
const PROBE_EVERY: Duration = Duration::from_secs(1);
const PROBE_BYTES: usize = 64 << 10;

/// What is to be written.
pub(crate) enum Work {
    Record(Box<Prepared>),
    Gone(Departure),
    Cross(Box<Crossing>),
}

/// Something to write, and who waits for it.
pub(crate) struct Job {
    pub(crate) work: Work,
    pub(crate) answer: oneshot::Sender<Result<(), Error>>,
}

/// Serves the queue until every handle of it is gone, and rings `nudge` after each commit. `writable`
/// says whether the disk takes what is written; while it does not, that is tried now and then.
pub(crate) async fn run(
    database: Database,
    mut queue: mpsc::Receiver<Job>,
    nudge: watch::Sender<()>,
    writable: watch::Sender<bool>,
) {
    while let Some(first) = next(&database, &mut queue, &writable).await {
        let mut bytes = first.work.bytes();
        let mut batch = vec![first];
        while batch.len() < BATCH
            && bytes < BATCH_BYTES
            && let Ok(next) = queue.try_recv()
        {
            bytes += next.work.bytes();
            batch.push(next);
        }
        commit(&database, batch, &writable).await;
        nudge.send_replace(());
    }
}

/// Waits for the next job, and tries meanwhile whether the disk takes writes again if it did not.
async fn next(
    database: &Database,
    queue: &mut mpsc::Receiver<Job>,
    writable: &watch::Sender<bool>,
) -> Option<Job> {
    while !*writable.borrow() {
        if let Ok(next) = timeout(PROBE_EVERY, queue.recv()).await {
            return next;
        }
        note(writable, &probe(database).await);
    }
    queue.recv().await
}

/// Notes what a write tells about the disk.
fn note(writable: &watch::Sender<bool>, outcome: &Result<(), Error>) {
    let now = match outcome {
        Ok(()) => true,
        Err(error) if error.is_of_the_disk() => false,
        Err(_) => return,
    };
    writable.send_if_modified(|writable| std::mem::replace(writable, now) != now);
}

/// Writes something and takes it away again.
async fn probe(database: &Database) -> Result<(), Error> {
    let mut session = database.writer().await?;
    session
        .transact(async |session| {
            session
                .run(sql("create table if not exists probe (body text not null)"))
                .await?;
            let insert = sql("insert into probe values ($1)").bind(&" ".repeat(PROBE_BYTES));
            session.run(insert).await.map(drop)
        })
        .await?;
    session
        .transact(async |session| session.run(sql("drop table probe")).await.map(drop))
        .await
}

/// Writes a batch in one transaction. If that fails for one of them, each gets a transaction of its
/// own, so that no change fails for another one's sake.
async fn commit(database: &Database, batch: Vec<Job>, writable: &watch::Sender<bool>) {
    let all: Vec<&Work> = batch.iter().map(|job| &job.work).collect();
    let together = write(database, &all).await;
    let retry = batch.len() > 1 && matches!(&together, Err(error) if !error.is_temporary());
    for job in batch {
        let outcome = match retry {
            true => write(database, &[&job.work]).await,
            false => together.clone(),
        };
        note(writable, &outcome);
        // Nobody listens if the caller has gone away.
        let _ = job.answer.send(outcome);
    }
}

async fn write(database: &Database, batch: &[&Work]) -> Result<(), Error> {
    let mut session = database.writer().await?;
    session
        .transact(async |session| {
            let mut writing = record::Writing::begin(session, database.place(), batch).await?;
            for work in batch {
                match work {
                    Work::Record(prepared) => writing.record(prepared).await?,
                    Work::Gone(departure) => writing.gone(departure).await?,
                    Work::Cross(crossing) => writing.cross(crossing).await?,
                }
            }
            writing.finish().await
        })
        .await
}

impl Work {
    fn change(&self) -> Option<&Prepared> {
        match self {
            Self::Record(prepared) => Some(prepared),
            Self::Gone(_) | Self::Cross(_) => None,
        }
    }

    /// Returns the artifacts that it names, and when it did.
    fn artifacts(&self) -> Vec<(&Artifact, Timestamp)> {
        match self {
            Self::Record(change) => {
                let artifacts = change.artifacts.values();
                artifacts.map(|it| (it, change.time)).collect()
            }
            Self::Gone(_) => Vec::new(),
            Self::Cross(crossing) => {
                let artifacts = [&crossing.found, &crossing.written];
                artifacts.map(|it| (it, crossing.time)).to_vec()
            }
        }
    }

    fn uid(&self) -> &str {
        match self {
            Self::Record(prepared) => &prepared.owner.uid,
            Self::Gone(departure) => &departure.owner.uid,
            Self::Cross(crossing) => &crossing.delivery,
        }
    }

    fn bytes(&self) -> usize {
        self.change().map_or(0, |change| change.track.len())
    }
}
