//! Questions about trackers.

use pathline_release::TrackerName;

use super::Trackers;
use super::rows::{TRACKER, TrackerRow};
use super::stored::StoredTracker;
use crate::database::{Statement, from_row, sql, sql_of_parts};
use crate::error::Error;
use crate::page::{Page, Paged};
use crate::sealed::SecretText;
use crate::sealing::TOKEN;

from_row! {
    struct TokenRow {
        token: String,
        token_version: i64,
    }
}

/// Reading
impl Trackers<'_> {
    /// Returns the tracker of a name, however that is spelled.
    ///
    /// # Errors
    /// If the ledger cannot be read.
    pub async fn get(self, name: &TrackerName) -> Result<Option<StoredTracker>, Error> {
        let asked = sql_of_parts(&[
            "select ",
            TRACKER,
            " from tracker where name_key = $1 and deleted is null",
        ]);
        self.one(asked.bind(&name.key())).await
    }

    /// Returns the tracker of a uid, unless it is deleted.
    ///
    /// # Errors
    /// If the ledger cannot be read.
    pub async fn by_uid(self, uid: &str) -> Result<Option<StoredTracker>, Error> {
        let asked = sql_of_parts(&[
            "select ",
            TRACKER,
            " from tracker where uid = $1 and deleted is null",
        ]);
        self.one(asked.bind(uid)).await
    }

    /// Returns the trackers that are not deleted, by the bytes of their names, a page at a time.
    ///
    /// # Errors
    /// If the ledger cannot be read.
    pub async fn list(self, page: &Page) -> Result<Paged<StoredTracker>, Error> {
        let asked = sql_of_parts(&[
            "select ",
            TRACKER,
            " from tracker where deleted is null and name > $1 order by name limit $2",
        ])
        .bind(page.after.as_deref().unwrap_or_default())
        .bind(page.rows());
        let rows: Vec<TrackerRow> = self.ledger.database().reader().await?.all(asked).await?;
        let location = self.ledger.database().location();
        Paged::by_text(page, rows, |row| row.name.clone()).try_map(|row| row.read(location))
    }

    /// Returns all trackers that are not deleted, by the bytes of their names.
    ///
    /// # Errors
    /// If the ledger cannot be read.
    pub async fn all_active(self) -> Result<Vec<StoredTracker>, Error> {
        let asked = sql_of_parts(&[
            "select ",
            TRACKER,
            " from tracker where deleted is null order by name",
        ]);
        let rows: Vec<TrackerRow> = self.ledger.database().reader().await?.all(asked).await?;
        let location = self.ledger.database().location();
        rows.into_iter().map(|row| row.read(location)).collect()
    }

    /// Tells whether there is a tracker, or was one.
    ///
    /// # Errors
    /// If the ledger cannot be read.
    pub async fn ever_had_any(self) -> Result<bool, Error> {
        let asked = sql("select count(*) from (select 1 from tracker limit 1) any_tracker");
        let mut session = self.ledger.database().reader().await?;
        Ok(session.only::<(i64,)>(asked).await?.0 > 0)
    }

    /// Returns the token of a tracker; nothing if it has none, or is not there any more.
    ///
    /// # Errors
    /// [`Error::NoSealKey`] or [`Error::WrongSealKey`] if there is one that cannot be opened.
    pub async fn token(self, uid: &str) -> Result<Option<SecretText>, Error> {
        let asked =
            sql("select token, token_version from tracker where uid = $1 and token <> 'forgotten'");
        let mut session = self.ledger.database().reader().await?;
        let Some(row) = session.first::<TokenRow>(asked.bind(uid)).await? else {
            return Ok(None);
        };
        let key = TOKEN.of(uid, row.token_version);
        self.ledger.sealing().open(&row.token, &key).map(Some)
    }

    async fn one(self, asked: Statement) -> Result<Option<StoredTracker>, Error> {
        let row: Option<TrackerRow> = self.ledger.database().reader().await?.first(asked).await?;
        row.map(|row| row.read(self.ledger.database().location()))
            .transpose()
    }
}
