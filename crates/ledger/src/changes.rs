//! The changes of one topic, for those who follow all of them.

use crate::database::{Database, Session, from_row, sql};
use crate::error::Error;
use crate::page::Page;
use crate::topic::Topic;

from_row! {
    /// A change of any topic.
    pub(crate) struct ChangeRow {
        pub(crate) sequence: i64,
        pub(crate) subject: String,
        pub(crate) time: i64,
        pub(crate) what: String,
    }
}

/// Returns the changes of a topic after a sequence, in their order.
pub(crate) async fn of_topic(
    database: &Database,
    topic: Topic,
    after: i64,
    limit: u32,
) -> Result<Vec<ChangeRow>, Error> {
    let asked = sql("select sequence, subject, time, what from change \
         where topic = $1 and sequence > $2 order by sequence limit $3")
    .bind(topic.as_str())
    .bind(after)
    .bind(Page::first(limit).rows() - 1);
    let mut session = database.reader().await?;
    let rows: Vec<ChangeRow> = session.all(asked).await?;
    check_after(&mut session, topic, after, rows.is_empty()).await?;
    Ok(rows)
}

/// Checks that what was read is all there was after a sequence. It is called after the reading, for changes may be
/// trimmed meanwhile.
pub(crate) async fn check_after(
    session: &mut Session,
    topic: Topic,
    after: i64,
    found_nothing: bool,
) -> Result<(), Error> {
    if let Some(oldest) = oldest_if_trimmed(session, topic, after).await? {
        return Err(Error::Forgotten { oldest });
    }
    if found_nothing
        && let newest = newest(session).await?
        && newest < after
    {
        return Err(Error::Ahead { after, newest });
    }
    Ok(())
}

/// Returns the sequence of the newest change there has been, of whatever topic.
pub(crate) async fn newest(session: &mut Session) -> Result<i64, Error> {
    let asked = sql("select coalesce(max(sequence), 0) from \
         (select max(sequence) as sequence from change \
          union all select max(sequence) from trimmed_change) newest");
    let (newest,) = session.only::<(i64,)>(asked).await?;
    Ok(newest)
}

/// Returns the oldest change that is kept, if later ones than `after` are not. Negative sequences
/// come from those who have never seen any.
async fn oldest_if_trimmed(
    session: &mut Session,
    topic: Topic,
    after: i64,
) -> Result<Option<i64>, Error> {
    let trimmed = sql("select sequence from trimmed_change where topic = $1");
    let trimmed = session
        .first::<(i64,)>(trimmed.bind(topic.as_str()))
        .await?;
    if after >= trimmed.map_or(0, |(sequence,)| sequence) {
        return Ok(None);
    }
    let oldest = sql("select min(sequence) from change where topic = $1");
    let oldest = session
        .only::<(Option<i64>,)>(oldest.bind(topic.as_str()))
        .await?;
    Ok(oldest.0)
}
