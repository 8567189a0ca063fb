//! The writes of trackers.

mod apply;
mod configuration;
mod create;
mod delete;
mod forget;
mod owner;
mod replace;
mod request;
mod token;

use jiff::Timestamp;
use pathline_release::TrackerName;

pub(super) use self::apply::ApplyCycle;
pub(super) use self::create::{CreateTracker, CreateTrackers};
pub(super) use self::delete::DeleteTracker;
pub(super) use self::forget::{ForgetSecrets, RestoreSecrets, sealed_secrets};
pub(super) use self::replace::ReplaceTracker;
pub(super) use self::request::RequestRelease;

use super::change::{What, WhatHappened};
use super::rows::{TRACKER, TrackerRow};
use super::stored::StoredTracker;
use crate::database::{Statement, sql_of_parts};
use crate::error::Error;
use crate::rows::unreadable;
use crate::topic::Topic;
use crate::writer::Transaction;

/// Finds a tracker by its name, within a transaction.
async fn find(
    transaction: &mut Transaction<'_>,
    name: &TrackerName,
) -> Result<Option<StoredTracker>, Error> {
    let asked = sql_of_parts(&[
        "select ",
        TRACKER,
        " from tracker where name_key = $1 and deleted is null",
    ]);
    read(transaction, asked.bind(&name.key())).await
}

/// Finds a tracker by its uid, within a transaction.
pub(crate) async fn find_by_uid(
    transaction: &mut Transaction<'_>,
    uid: &str,
) -> Result<Option<StoredTracker>, Error> {
    let asked = sql_of_parts(&[
        "select ",
        TRACKER,
        " from tracker where uid = $1 and deleted is null",
    ]);
    read(transaction, asked.bind(uid)).await
}

/// Reads one tracker.
async fn read(
    transaction: &mut Transaction<'_>,
    asked: Statement,
) -> Result<Option<StoredTracker>, Error> {
    let row: Option<TrackerRow> = transaction.session().first(asked).await?;
    row.map(|row| row.read(transaction.location())).transpose()
}

/// Reads a tracker that has just been written.
async fn read_again(
    transaction: &mut Transaction<'_>,
    uid: &str,
) -> Result<Box<StoredTracker>, Error> {
    let found = find_by_uid(transaction, uid).await?;
    let found = found.ok_or_else(|| unreadable(transaction.location(), "tracker"))?;
    Ok(Box::new(found))
}

/// Records what happened to a tracker.
pub(super) async fn record(
    transaction: &mut Transaction<'_>,
    (uid, name): (&str, &TrackerName),
    at: Timestamp,
    what: WhatHappened,
) -> Result<(), Error> {
    let what = What {
        name: name.clone(),
        what,
    };
    let subject = (Topic::Trackers, uid);
    transaction.record_change(subject, at, &what).await?;
    Ok(())
}

/// Writes JSON.
pub(super) fn json(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).expect("it has nothing that JSON has not")
}

/// Returns a number as columns hold it. It counts one by one, so it never gets too large.
pub(super) fn integer(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
