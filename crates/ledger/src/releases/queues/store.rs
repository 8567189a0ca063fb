//! Storing what has changed in queues.

use std::collections::BTreeSet;
use std::sync::Arc;

use jiff::Timestamp;
use pathline_release::queue::{Entry, Hold, Transition};

use super::{OpenQueues, number};
use crate::database::{Rows, Statement, sql};
use crate::error::Error;
use crate::releases::act::By;
use crate::releases::change::{Moved, What};
use crate::releases::holds;
use crate::rows::unreadable;
use crate::topic::Topic;
use crate::writer::Transaction;

/// The statement that stores entries.
const ENTRIES: Rows = Rows {
    before: "insert into entry (tracker_uid, number, environment, state, since, attempt, \
             is_promoted, superseded_by, message, live_counted, live_since, restore) values ",
    columns: 12,
    after: " on conflict (tracker_uid, number, environment) do update set \
            state = excluded.state, since = excluded.since, attempt = excluded.attempt, \
            is_promoted = excluded.is_promoted, superseded_by = excluded.superseded_by, \
            message = excluded.message, live_counted = excluded.live_counted, \
            live_since = excluded.live_since, restore = excluded.restore",
};

/// An entry that is not as it was.
struct Changed<'a> {
    uid: &'a str,
    release: i64,
    environment: &'a str,
    entry: &'a Entry,
    superseded_by: Option<i64>,
}

/// Stores what has changed in the queues of trackers, and records what has moved; `by` is the one who did it. Nothing is
/// written of queues that are as they were.
pub(crate) async fn store(
    transaction: &mut Transaction<'_>,
    all: &[(&OpenQueues, &[Transition])],
    by: Option<&By>,
    at: Timestamp,
) -> Result<(), Error> {
    let location = transaction.location().clone();
    let mut changed = Vec::new();
    let mut environments = BTreeSet::new();
    for (open, _) in all {
        for (environment, release, entry) in open.queues.changes(&open.before) {
            if open.before.entry(environment, release).is_none() {
                environments.insert(environment);
            }
            changed.push(Changed::new(
                &location,
                open,
                (environment, release),
                entry,
            )?);
        }
    }
    for environment in environments {
        let note = sql("insert into environment (name) values ($1) on conflict do nothing");
        transaction.session().run(note.bind(environment)).await?;
    }
    for (mut statement, entries) in ENTRIES.chunks(&changed) {
        for entry in entries {
            statement = entry.bound_to(statement);
        }
        transaction.session().run(statement).await?;
    }
    for (open, transitions) in all {
        store_holds(transaction, open).await?;
        for transition in *transitions {
            record(transaction, open, transition, by, at).await?;
        }
    }
    Ok(())
}

impl<'a> Changed<'a> {
    fn new(
        location: &Arc<str>,
        open: &'a OpenQueues,
        (environment, release): (&'a str, u64),
        entry: &'a Entry,
    ) -> Result<Self, Error> {
        let superseded_by = entry.superseded_by.map(|it| number(location, it));
        Ok(Self {
            uid: &open.uid,
            release: number(location, release)?,
            environment,
            entry,
            superseded_by: superseded_by.transpose()?,
        })
    }

    fn bound_to(&self, statement: Statement) -> Statement {
        let entry = self.entry;
        let counted = i64::try_from(entry.live.counted.as_micros()).unwrap_or(i64::MAX);
        let restore = entry
            .restore
            .as_ref()
            .map(|it| serde_json::to_string(it).expect("it has nothing that JSON has not"));
        statement
            .bind(self.uid)
            .bind(self.release)
            .bind(self.environment)
            .bind(entry.state.as_str())
            .bind(entry.since)
            .bind(i64::from(entry.attempt))
            .bind(entry.is_promoted)
            .bind(self.superseded_by)
            .bind(entry.message.as_deref())
            .bind(counted)
            .bind(entry.live.since)
            .bind(restore.as_deref())
    }
}

/// Stores the holds of a tracker that are not as they were.
async fn store_holds(transaction: &mut Transaction<'_>, open: &OpenQueues) -> Result<(), Error> {
    let (before, after) = (open.before.holds(), open.queues.holds());
    let set: Vec<(&str, &Hold)> = after
        .iter()
        .filter(|(environment, hold)| before.get(environment) != Some(*hold))
        .collect();
    for (environment, hold) in set {
        holds::set(transaction, (&open.uid, environment), hold).await?;
    }
    let ended = before.iter().map(|(environment, _)| environment);
    let ended: Vec<&str> = ended.filter(|it| after.get(it).is_none()).collect();
    for environment in ended {
        holds::end(transaction, (&open.uid, environment)).await?;
    }
    Ok(())
}

async fn record(
    transaction: &mut Transaction<'_>,
    open: &OpenQueues,
    transition: &Transition,
    by: Option<&By>,
    at: Timestamp,
) -> Result<(), Error> {
    let id = open.id(transition.release);
    let id = id.ok_or_else(|| unreadable(transaction.location(), "release"))?;
    let what = What::Moved(Moved {
        tracker: open.name.clone(),
        tracker_uid: open.uid.clone(),
        number: transition.release,
        environment: transition.environment.clone(),
        from: transition.from,
        to: transition.to,
        by: by.map(|it| it.who.clone()),
        reason: by.and_then(|it| it.reason.clone()),
    });
    let subject = (Topic::Releases, id);
    transaction
        .record_change(subject, at, &what)
        .await
        .map(drop)
}
