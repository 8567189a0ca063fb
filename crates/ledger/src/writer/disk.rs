//! Notices when the disk takes no writes, and when it does again.

use std::time::Duration;

use tokio::sync::{mpsc, watch};
use tokio::time::timeout;

use super::Job;
use crate::database::{Database, sql};
use crate::error::Error;

/// The interval of write probes while the disk refuses writes, and the bytes of one.
const PROBE_EVERY: Duration = Duration::from_secs(1);
const PROBE_BYTES: usize = 64 << 10;

/// Waits for the next job, and tries meanwhile whether the disk takes writes again if it did not.
pub(super) async fn next_job(
    database: &Database,
    queue: &mut mpsc::Receiver<Box<dyn Job>>,
    writable: &watch::Sender<bool>,
) -> Option<Box<dyn Job>> {
    while !*writable.borrow() {
        if let Ok(next) = timeout(PROBE_EVERY, queue.recv()).await {
            return next;
        }
        note(writable, &probe(database).await);
    }
    queue.recv().await
}

/// Notes what the outcome of a write says about the disk.
pub(super) fn note(writable: &watch::Sender<bool>, outcome: &Result<(), Error>) {
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
