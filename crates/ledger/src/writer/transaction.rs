//! A transaction that writes of all kinds share.

use std::sync::Arc;

use jiff::Timestamp;
use serde::Serialize;

use crate::database::{Session, sql};
use crate::error::Error;
use crate::topic::Topic;

/// The number of changes of a topic that are kept for those who come back; older ones are in the other tables
/// only.
const CHANGES_KEPT: i64 = 100_000;
/// Changes are trimmed once for so many, since the oldest one to keep is found by counting.
const TRIM_EVERY: i64 = 1000;

/// A transaction under way.
pub(crate) struct Transaction<'a> {
    session: &'a mut Session,
    location: &'a Arc<str>,
    /// The sequences of its first change and its last one.
    changes: Option<(i64, i64)>,
}

impl<'a> Transaction<'a> {
    pub(super) fn new(session: &'a mut Session, location: &'a Arc<str>) -> Self {
        Self {
            session,
            location,
            changes: None,
        }
    }

    /// Returns the connection.
    pub(crate) fn session(&mut self) -> &mut Session {
        self.session
    }

    /// Returns where the database is, for messages.
    pub(crate) fn location(&self) -> &Arc<str> {
        self.location
    }

    /// Records that a subject of a topic has changed, and returns the sequence of that. What
    /// happened to it is kept as JSON.
    pub(crate) async fn record_change(
        &mut self,
        (topic, subject): (Topic, &str),
        time: Timestamp,
        what: &(impl Serialize + Sync),
    ) -> Result<i64, Error> {
        let what = serde_json::to_string(what).expect("it has nothing that JSON has not");
        let insert = sql(
            "insert into change (topic, subject, time, what) values ($1, $2, $3, $4) \
             returning sequence",
        )
        .bind(topic.as_str())
        .bind(subject)
        .bind(time)
        .bind(&what);
        let (sequence,) = self.session.only::<(i64,)>(insert).await?;
        let (first, _) = self.changes.unwrap_or((sequence, sequence));
        self.changes = Some((first, sequence));
        Ok(sequence)
    }

    /// Ends the work of the transaction: trims the changes and notifies the other processes.
    pub(super) async fn finish(mut self) -> Result<(), Error> {
        let Some((first, last)) = self.changes else {
            return Ok(());
        };
        if (first - 1) / TRIM_EVERY != last / TRIM_EVERY {
            for topic in Topic::ALL {
                self.trim(topic).await?;
            }
        }
        self.session.notify().await
    }

    /// Removes the oldest changes of a topic, and notes up to which one, so that nobody who comes
    /// back takes what is left for all there was. Each topic is counted by itself: a busy one takes
    /// nothing away from those who follow a quiet one.
    async fn trim(&mut self, topic: Topic) -> Result<(), Error> {
        let asked = sql("select sequence from change where topic = $1 \
             order by sequence desc limit 1 offset $2")
        .bind(topic.as_str())
        .bind(CHANGES_KEPT);
        let Some((newest,)) = self.session.first::<(i64,)>(asked).await? else {
            return Ok(());
        };
        let delete = sql("delete from change where topic = $1 and sequence <= $2");
        self.session
            .run(delete.bind(topic.as_str()).bind(newest))
            .await?;
        let note = sql(
            "insert into trimmed_change (topic, sequence) values ($1, $2) \
             on conflict (topic) do update set sequence = excluded.sequence",
        );
        self.session
            .run(note.bind(topic.as_str()).bind(newest))
            .await
            .map(drop)
    }
}
