//! What is known of owners.

use pathline_lineage::Track;

use crate::change::OwnerRef;
use crate::database::{sql, sql_of_parts};
use crate::error::Error;
use crate::ledger::Ledger;
use crate::rows::{self, OWNER, OwnerRow};

/// Owners
impl Ledger {
    /// Returns what is known of an owner, also if it is gone.
    pub async fn track(&self, uid: &str) -> Result<Option<Track>, Error> {
        let asked = sql("select track from owner where uid = $1").bind(uid);
        let row: Option<(String,)> = self.database().reader().await?.first(asked).await?;
        row.map(|(track,)| rows::track(self.database().place(), &track))
            .transpose()
    }

    /// Returns what is known of the owner that has this name now.
    pub async fn find_track(
        &self,
        kind: &str,
        namespace: &str,
        name: &str,
    ) -> Result<Option<Track>, Error> {
        match self.find_owner(kind, namespace, name).await? {
            Some(owner) => self.track(&owner.uid).await,
            None => Ok(None),
        }
    }

    /// Returns the owner that has this name now.
    pub async fn find_owner(
        &self,
        kind: &str,
        namespace: &str,
        name: &str,
    ) -> Result<Option<OwnerRef>, Error> {
        let asked = sql_of_parts(&[
            "select ",
            OWNER,
            " from owner where kind = $1 and namespace = $2 and name = $3 and gone is null \
             order by changed desc limit 1",
        ])
        .bind(kind)
        .bind(namespace)
        .bind(name);
        let row: Option<OwnerRow> = self.database().reader().await?.first(asked).await?;
        Ok(row.map(OwnerRef::from))
    }

    /// Tells whether anything was ever recorded of an owner of this name, be it gone or not.
    pub async fn knows_owner(
        &self,
        kind: &str,
        namespace: &str,
        name: &str,
    ) -> Result<bool, Error> {
        let asked =
            sql("select id from owner where kind = $1 and namespace = $2 and name = $3 limit 1")
                .bind(kind)
                .bind(namespace)
                .bind(name);
        let row: Option<(i64,)> = self.database().reader().await?.first(asked).await?;
        Ok(row.is_some())
    }

    /// Returns all owners of a kind that are not gone, by namespace and name.
    pub async fn owners(&self, kind: &str) -> Result<Vec<OwnerRef>, Error> {
        let asked = sql_of_parts(&[
            "select ",
            OWNER,
            " from owner where kind = $1 and gone is null order by namespace, name",
        ]);
        let rows: Vec<OwnerRow> = self
            .database()
            .reader()
            .await?
            .all(asked.bind(kind))
            .await?;
        Ok(rows.into_iter().map(OwnerRef::from).collect())
    }
}
