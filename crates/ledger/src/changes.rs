//! The changes, one after the other, for those who follow all of them.

use crate::change::{OwnerRef, Recorded};
use crate::database::{sql, sql_of_parts};
use crate::error::Error;
use crate::ledger::Ledger;
use crate::page::Page;
use crate::rows::{OWNER, OwnerRow, from_json, time};

#[derive(sqlx::FromRow)]
struct Row {
    sequence: i64,
    time: i64,
    what: String,
    #[sqlx(flatten)]
    owner: OwnerRow,
}

/// Changes
impl Ledger {
    /// Returns the changes after a sequence, in their order. No change with a smaller sequence
    /// becomes visible later, so whoever asks again after the last of them misses nothing.
    ///
    /// # Errors
    /// [`Error::Forgotten`] if some of those asked for are no longer kept.
    pub async fn changes(&self, after: i64, limit: u32) -> Result<Vec<Recorded>, Error> {
        let mut session = self.database().reader().await?;
        let (oldest,): (Option<i64>,) = session
            .only(sql("select min(sequence) from change"))
            .await?;
        if let Some(oldest) = oldest.filter(|oldest| *oldest > after.saturating_add(1)) {
            return Err(Error::Forgotten { oldest });
        }
        let asked = sql_of_parts(&[
            "select change.sequence, change.time, change.what, ",
            OWNER,
            " from change join owner on owner.id = change.owner \
             where change.sequence > $1 order by change.sequence limit $2",
        ])
        .bind(after)
        .bind(Page::first(limit).rows() - 1);
        let rows: Vec<Row> = session.all(asked).await?;
        let place = self.database().place();
        let read = |row: Row| {
            Ok(Recorded {
                sequence: row.sequence,
                time: time(place, row.time)?,
                owner: OwnerRef::from(row.owner),
                what: from_json(place, "change", &row.what)?,
            })
        };
        rows.into_iter().map(read).collect()
    }
}
