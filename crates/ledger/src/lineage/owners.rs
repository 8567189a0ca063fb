//! Owners, and the lineage of each.

use pathline_lineage::OwnerLineage;

use super::Lineage;
use super::change::OwnerRef;
use super::rows::{self, OWNER, OwnerRow};
use crate::database::{sql, sql_of_parts};
use crate::error::Error;

/// Owners
impl Lineage<'_> {
    /// Returns what is known of an owner, also if it is gone.
    ///
    /// # Errors
    /// If the ledger cannot be read.
    pub async fn get(self, uid: &str) -> Result<Option<OwnerLineage>, Error> {
        let asked = sql("select lineage from owner where uid = $1").bind(uid);
        let row: Option<(String,)> = self.ledger.database().reader().await?.first(asked).await?;
        row.map(|(lineage,)| rows::lineage(self.ledger.database().location(), &lineage))
            .transpose()
    }

    /// Returns what is known of the owner that has this name now.
    ///
    /// # Errors
    /// If the ledger cannot be read.
    pub async fn find(
        self,
        kind: &str,
        namespace: &str,
        name: &str,
    ) -> Result<Option<OwnerLineage>, Error> {
        match self.find_owner(kind, namespace, name).await? {
            Some(owner) => self.get(&owner.uid).await,
            None => Ok(None),
        }
    }

    /// Returns the owner that has this name now.
    ///
    /// # Errors
    /// If the ledger cannot be read.
    pub async fn find_owner(
        self,
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
        let row: Option<OwnerRow> = self.ledger.database().reader().await?.first(asked).await?;
        Ok(row.map(OwnerRef::from))
    }

    /// Tells whether anything was ever recorded of an owner of this name, be it gone or not.
    ///
    /// # Errors
    /// If the ledger cannot be read.
    pub async fn knows_owner(self, kind: &str, namespace: &str, name: &str) -> Result<bool, Error> {
        let asked =
            sql("select id from owner where kind = $1 and namespace = $2 and name = $3 limit 1")
                .bind(kind)
                .bind(namespace)
                .bind(name);
        let row: Option<(i64,)> = self.ledger.database().reader().await?.first(asked).await?;
        Ok(row.is_some())
    }

    /// Returns all owners of a kind that are not gone, by namespace and name.
    ///
    /// # Errors
    /// If the ledger cannot be read.
    pub async fn owners(self, kind: &str) -> Result<Vec<OwnerRef>, Error> {
        let asked = sql_of_parts(&[
            "select ",
            OWNER,
            " from owner where kind = $1 and gone is null order by namespace, name",
        ]);
        let rows: Vec<OwnerRow> = self
            .ledger
            .database()
            .reader()
            .await?
            .all(asked.bind(kind))
            .await?;
        Ok(rows.into_iter().map(OwnerRef::from).collect())
    }
}
