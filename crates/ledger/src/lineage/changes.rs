//! The changes, one after the other, for those who follow all of them.

use super::Lineage;
use super::change::{OwnerRef, Recorded};
use super::rows::{OWNER, OwnerRow};
use crate::changes::check_after;
use crate::database::{from_row, sql_of_parts};
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
        check_after(&mut session, Topic::Lineage, after, rows.is_empty()).await?;
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
