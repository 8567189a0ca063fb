//! The queues of a tracker, restored within a transaction, and stored again.

use std::sync::Arc;

use pathline_release::TrackerName;
use pathline_release::queue::{Entry, Holds, Queues, Transition};

use super::rows::{RELEASE, ReleaseRow, with_entries};
use crate::database::{Session, sql, sql_of_parts};
use crate::error::Error;
use crate::rows::unreadable;

/// Restores the queues of a tracker: the releases that may still move, those that are deployed or have failed last in
/// an environment, and the newest one.
pub(crate) async fn restore(
    session: &mut Session,
    location: &Arc<str>,
    (name, uid): (&TrackerName, &str),
) -> Result<Queues, Error> {
    let asked = sql_of_parts(&[
        RELEASE,
        " where release.tracker_uid = $1 and release.number in \
         (select number from entry where tracker_uid = $1 and state in ('queued', 'held', 'deploying') \
          union select max(number) from entry where tracker_uid = $1 \
            and state in ('deployed', 'failed') group by environment, state \
          union select max(number) from release where tracker_uid = $1)",
    ]);
    let rows: Vec<ReleaseRow> = session.all(asked.bind(uid)).await?;
    let releases = with_entries(session, location, rows).await?;
    let releases = releases.into_iter().map(|it| (it.release, it.entries));
    Ok(Queues::restored(
        name.clone(),
        releases,
        Holds::default(),
        false,
    ))
}

/// Stores the entries that have changed.
pub(crate) async fn store(
    session: &mut Session,
    location: &Arc<str>,
    uid: &str,
    (queues, transitions): (&Queues, &[Transition]),
) -> Result<(), Error> {
    for Transition {
        environment,
        release,
        ..
    } in transitions
    {
        let number = number(location, *release)?;
        if let Some(entry) = queues.entry(environment, *release) {
            store_entry(session, location, (uid, number, environment), entry).await?;
        }
    }
    Ok(())
}

/// Returns a number of a release as columns hold it.
pub(crate) fn number(location: &Arc<str>, number: u64) -> Result<i64, Error> {
    i64::try_from(number).map_err(|_| unreadable(location, "number of a release"))
}

async fn store_entry(
    session: &mut Session,
    location: &Arc<str>,
    (uid, release, environment): (&str, i64, &str),
    entry: &Entry,
) -> Result<(), Error> {
    let superseded_by = entry.superseded_by.map(|it| number(location, it));
    let store = sql(
        "insert into entry (tracker_uid, number, environment, state, since, attempt, \
         is_promoted, superseded_by, message) values ($1, $2, $3, $4, $5, $6, $7, $8, $9) \
         on conflict (tracker_uid, number, environment) do update set \
         state = excluded.state, since = excluded.since, attempt = excluded.attempt, \
         is_promoted = excluded.is_promoted, superseded_by = excluded.superseded_by, \
         message = excluded.message",
    )
    .bind(uid)
    .bind(release)
    .bind(environment)
    .bind(entry.state.as_str())
    .bind(entry.since)
    .bind(i64::from(entry.attempt))
    .bind(entry.is_promoted)
    .bind(superseded_by.transpose()?)
    .bind(entry.message.as_deref());
    session.run(store).await.map(drop)
}
