//! One artifact: what it is made of, and who uses it.

use std::sync::Arc;

use jiff::Timestamp;
use pathline_lineage::{Artifact, ArtifactId, Evidence, Origin};

use crate::change::OwnerRef;
use crate::database::sql_of_parts;
use crate::error::Error;
use crate::history::Making;
use crate::ledger::Ledger;
use crate::page::{Page, Paged};
use crate::rows::{ARTIFACT, ArtifactRow, OWNER, OwnerRow, from_word, some_time, time};

/// What is known of an artifact.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// The artifact.
    pub artifact: Artifact,
    /// When it was first recorded.
    pub first_seen: Timestamp,
    /// How it came to be; the rest comes with [`Ledger::makings`].
    pub made: Paged<Making>,
    /// Who uses it; the rest comes with [`Ledger::uses`].
    pub used: Paged<Use>,
}

/// Something that was made from an artifact.
#[derive(Clone, Debug, PartialEq)]
pub struct Use {
    /// Whose resource uses it.
    pub owner: OwnerRef,
    /// The resource that uses it.
    pub resource: String,
    /// Where it took it from.
    pub origin: Origin,
    /// How that is known.
    pub evidence: Evidence,
    /// What it made of it; nothing if its object is the result.
    pub output: Option<Artifact>,
    /// Since when the resource makes this.
    pub since: Timestamp,
    /// Until when; none if it still does.
    pub until: Option<Timestamp>,
}

#[derive(sqlx::FromRow)]
struct EntryRow {
    first_seen: i64,
    #[sqlx(flatten)]
    artifact: ArtifactRow,
}

#[derive(sqlx::FromRow)]
struct UseRow {
    id: i64,
    resource: String,
    origin: String,
    evidence: String,
    since: i64,
    until: Option<i64>,
    #[sqlx(flatten)]
    owner: OwnerRow,
    #[sqlx(flatten)]
    artifact: ArtifactRow,
}

/// Artifacts
impl Ledger {
    /// Returns what is known of an artifact, with the newest of what it came from and went into.
    pub async fn artifact(&self, id: ArtifactId) -> Result<Option<Entry>, Error> {
        let asked = sql_of_parts(&[
            "select artifact.first_seen, ",
            ARTIFACT,
            " from artifact where digest = $1",
        ]);
        let row: Option<EntryRow> = self
            .database()
            .reader()
            .await?
            .first(asked.bind(id))
            .await?;
        let Some(row) = row else {
            return Ok(None);
        };
        let place = self.database().place();
        Ok(Some(Entry {
            first_seen: time(place, row.first_seen)?,
            artifact: row.artifact.expect(place)?,
            made: self.makings(id, &Page::default()).await?,
            used: self.uses(id, &Page::default()).await?,
        }))
    }

    /// Returns who uses an artifact directly, the newest first. One that takes it from several
    /// origins is told once, with the first of them.
    pub async fn uses(&self, id: ArtifactId, page: &Page) -> Result<Paged<Use>, Error> {
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
        let rows: Vec<UseRow> = self.database().reader().await?.all(asked).await?;
        let place = self.database().place();
        Paged::new(page, rows, |row| row.id).try_map(|row| row.read(place))
    }
}

impl UseRow {
    fn read(self, place: &Arc<str>) -> Result<Use, Error> {
        Ok(Use {
            owner: self.owner.into(),
            resource: self.resource,
            origin: from_word(place, "origin", &self.origin)?,
            evidence: from_word(place, "kind of evidence", &self.evidence)?,
            output: self.artifact.read(place)?,
            since: time(place, self.since)?,
            until: some_time(place, self.until)?,
        })
    }
}
