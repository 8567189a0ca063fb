//! The changes, one after the other, for those who follow all of them.

use super::Lineage;
use super::change::{OwnerRef, Recorded};
use super::rows::{OWNER, OwnerRow};
use crate::database::{Session, from_row, sql, sql_of_parts};
use crate::error::Error;
use crate::page::Page;
use crate::rows::{from_json, time};
use crate::topic::Topic;

from_row! {
    struct Row {
        sequence: i64,
        time: i64,
        what: String,
        ..
        owner: OwnerRow,
    }
}

/// Changes
impl Lineage<'_> {
    /// Returns the changes after a sequence, in their order. No change with a smaller sequence
    /// becomes visible later, so whoever asks again after the last of them misses nothing.
    ///
    /// # Errors
    /// [`Error::Forgotten`] if some of those asked for are no longer kept, [`Error::Ahead`] if there has
    /// not been that many yet.
    pub async fn changes(self, after: i64, limit: u32) -> Result<Vec<Recorded>, Error> {
        let asked = sql_of_parts(&[
            "select change.sequence, change.time, change.what, ",
            OWNER,
            // The subject of a change of lineage is the uid of its owner, which has an index.
            " from change join owner on owner.uid = change.subject \
             where change.topic = $1 and change.sequence > $2 order by change.sequence limit $3",
        ])
        .bind(Topic::Lineage.as_str())
        .bind(after)
        .bind(Page::first(limit).rows() - 1);
        let mut session = self.ledger.database().reader().await?;
        let rows: Vec<Row> = session.all(asked).await?;
        // After the rows, for changes may be trimmed while they are read.
        if let Some(oldest) = oldest_if_trimmed(&mut session, after).await? {
            return Err(Error::Forgotten { oldest });
        }
        if rows.is_empty()
            && let newest = newest(&mut session).await?
            && newest < after
        {
            return Err(Error::Ahead { after, newest });
        }
        let location = self.ledger.database().location();
        let read = |row: Row| {
            Ok(Recorded {
                sequence: row.sequence,
                time: time(location, row.time)?,
                owner: OwnerRef::from(row.owner),
                what: from_json(location, "change", &row.what)?,
            })
        };
        rows.into_iter().map(read).collect()
    }
}

/// Returns the sequence of the newest change there has been, of whatever topic.
async fn newest(session: &mut Session) -> Result<i64, Error> {
    let asked = sql("select coalesce(max(sequence), 0) from \
         (select max(sequence) as sequence from change \
          union all select max(sequence) from trimmed_change) newest");
    let (newest,) = session.only::<(i64,)>(asked).await?;
    Ok(newest)
}

/// Returns the oldest change that is kept, if later ones than `after` are not. Negative sequences
/// come from those who have never seen any.
async fn oldest_if_trimmed(session: &mut Session, after: i64) -> Result<Option<i64>, Error> {
    let trimmed = sql("select sequence from trimmed_change where topic = $1");
    let trimmed = session
        .first::<(i64,)>(trimmed.bind(Topic::Lineage.as_str()))
        .await?;
    if after >= trimmed.map_or(0, |(sequence,)| sequence) {
        return Ok(None);
    }
    let oldest = sql("select min(sequence) from change where topic = $1");
    let oldest = session
        .only::<(Option<i64>,)>(oldest.bind(Topic::Lineage.as_str()))
        .await?;
    Ok(oldest.0)
}
