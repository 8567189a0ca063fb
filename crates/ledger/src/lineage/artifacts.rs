//! One artifact: what it is made of, and who uses it.

use std::sync::Arc;

use jiff::Timestamp;
use pathline_lineage::{Artifact, ArtifactId, Evidence, Origin};

use super::Lineage;
use super::change::OwnerRef;
use super::history::Making;
use super::rows::{ARTIFACT, ArtifactRow, OWNER, OwnerRow};
use crate::database::{from_row, sql_of_parts};
use crate::error::Error;
use crate::page::{Page, Paged};
use crate::rows::{from_word, some_time, time};

/// An artifact with what it was made from and what it went into.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// The artifact.
    pub artifact: Artifact,
    /// The time at which it was first recorded.
    pub first_seen: Timestamp,
    /// The derivations that made it; the rest comes with [`Lineage::makings`].
    pub made: Paged<Making>,
    /// The derivations that use it; the rest comes with [`Lineage::uses`].
    pub used: Paged<Use>,
}

/// Something that was made from an artifact.
#[derive(Clone, Debug, PartialEq)]
pub struct Use {
    /// The owner whose resource uses it.
    pub owner: OwnerRef,
    /// The resource that uses it.
    pub resource: String,
    /// The origin it was taken from.
    pub origin: Origin,
    /// The evidence for that.
    pub evidence: Evidence,
    /// The output it became part of; nothing if its object is the result.
    pub output: Option<Artifact>,
    /// Since when the resource makes this.
    pub since: Timestamp,
    /// Until when; none if it still does.
    pub until: Option<Timestamp>,
}

from_row! {
    struct EntryRow {
        first_seen: i64,
        ..
        artifact: ArtifactRow,
    }
}

from_row! {
    struct UseRow {
        id: i64,
        resource: String,
        origin: String,
        evidence: String,
        since: i64,
        until: Option<i64>,
        ..
        owner: OwnerRow,
        artifact: ArtifactRow,
    }
}

/// Artifacts
impl Lineage<'_> {
    /// Returns what is known of an artifact, with the newest of what it came from and went into.
    ///
    /// # Errors
    /// If the ledger cannot be read, or the page ends with no cursor of it.
    pub async fn artifact(self, id: ArtifactId) -> Result<Option<Entry>, Error> {
        let asked = sql_of_parts(&[
            "select artifact.first_seen, ",
            ARTIFACT,
            " from artifact where digest = $1",
        ]);
        let row: Option<EntryRow> = self
            .ledger
            .database()
            .reader()
            .await?
            .first(asked.bind(id))
            .await?;
        let Some(row) = row else {
            return Ok(None);
        };
        let location = self.ledger.database().location();
        Ok(Some(Entry {
            first_seen: time(location, row.first_seen)?,
            artifact: row.artifact.expect(location)?,
            made: self.makings(id, &Page::default()).await?,
            used: self.uses(id, &Page::default()).await?,
        }))
    }

    /// Returns who uses an artifact directly, the newest first. One that takes it from several
    /// origins is told once, with the first of them.
    ///
    /// # Errors
    /// If the ledger cannot be read, or the page ends with no cursor of it.
    pub async fn uses(self, id: ArtifactId, page: &Page) -> Result<Paged<Use>, Error> {
        let asked = sql_of_parts(&[
            "select derivation.id, derivation.resource, edge.origin, edge.evidence, \
             derivation.since, derivation.until, ",
            OWNER,
            ", ",
            ARTIFACT,
            " from edge join derivation on derivation.id = edge.derivation \
             join owner on owner.id = derivation.owner \
             left join artifact on artifact.id = derivation.output \
             where edge.input = (select id from artifact where digest = $1) \
             and edge.origin = (select min(origin) from edge first \
               where first.derivation = edge.derivation and first.input = edge.input) \
             and derivation.id < $2 order by derivation.id desc limit $3",
        ])
        .bind(id)
        .bind(page.after(i64::MAX)?)
        .bind(page.rows());
        let rows: Vec<UseRow> = self.ledger.database().reader().await?.all(asked).await?;
        let location = self.ledger.database().location();
        Paged::new(page, rows, |row| row.id).try_map(|row| row.read(location))
    }
}

impl UseRow {
    fn read(self, location: &Arc<str>) -> Result<Use, Error> {
        Ok(Use {
            owner: self.owner.into(),
            resource: self.resource,
            origin: from_word(location, "origin", &self.origin)?,
            evidence: from_word(location, "kind of evidence", &self.evidence)?,
            output: self.artifact.read(location)?,
            since: time(location, self.since)?,
            until: some_time(location, self.until)?,
        })
    }
}
