//! History: derivations as they were recorded, and what arrived.

use std::collections::HashMap;
use std::sync::Arc;

use jiff::Timestamp;
use pathline_lineage::{Arrived, Artifact, ArtifactId, Evidence, Origin, Template};

use super::Lineage;
use super::change::OwnerRef;
use super::rows::{ARTIFACT, ArtifactRow, OWNER, OwnerRow};
use crate::database::{Database, Session, from_row, sql_of_parts};
use crate::error::Error;
use crate::page::{Page, Paged};
use crate::rows::{from_word, some_time, time};

/// A derivation: something that a resource made of other things.
#[derive(Clone, Debug, PartialEq)]
pub struct Making {
    /// The owner whose resource made it.
    pub owner: OwnerRef,
    /// The resource that made it.
    pub resource: String,
    /// The template its object was stamped from.
    pub template: Template,
    /// The output; nothing if its object is the result.
    pub output: Option<Artifact>,
    /// The inputs, by origin.
    pub from: Vec<Ingredient>,
    /// Since when the resource makes this.
    pub since: Timestamp,
    /// Until when; none if it still does.
    pub until: Option<Timestamp>,
}

/// One thing that something was made from.
#[derive(Clone, Debug, PartialEq)]
pub struct Ingredient {
    /// The origin it was taken from.
    pub origin: Origin,
    /// The artifact itself.
    pub artifact: Artifact,
    /// The evidence for that.
    pub evidence: Evidence,
    /// Whether it was only offered to a template that does not tell what it reads.
    pub offered: bool,
}

/// A value that arrived, and when.
#[derive(Clone, Debug, PartialEq)]
pub struct ArrivedThen {
    /// The value that arrived.
    pub arrived: Arrived,
    /// The time at which that was recorded.
    pub time: Timestamp,
}

impl Making {
    /// Tells whether the resource still makes this.
    pub fn is_current(&self) -> bool {
        self.until.is_none()
    }
}

from_row! {
    struct Row {
        id: i64,
        resource: String,
        template: String,
        template_generation: Option<i64>,
        since: i64,
        until: Option<i64>,
        ..
        owner: OwnerRow,
        artifact: ArtifactRow,
    }
}

from_row! {
    struct EdgeRow {
        derivation: i64,
        origin: String,
        evidence: String,
        offered: bool,
        ..
        artifact: ArtifactRow,
    }
}

from_row! {
    struct ArrivalRow {
        input: String,
        live: bool,
        generation: i64,
        time: i64,
        ..
        artifact: ArtifactRow,
    }
}

/// The columns of [`Row`] and the tables they come from.
const MAKING: [&str; 4] = [
    "select derivation.id, derivation.resource, derivation.template, \
     derivation.template_generation, derivation.since, derivation.until, ",
    OWNER,
    ", ",
    ARTIFACT,
];
const MAKING_FROM: &str = " from derivation join owner on owner.id = derivation.owner \
     left join artifact on artifact.id = derivation.output ";

/// History
impl Lineage<'_> {
    /// Returns what the resources of an owner made, the newest first, also if it is gone.
    ///
    /// # Errors
    /// If the ledger cannot be read, or the page ends with no cursor of it.
    pub async fn history(self, uid: &str, page: &Page) -> Result<Paged<Making>, Error> {
        let which = "where derivation.owner = (select id from owner where uid = $1) \
                     and derivation.id < $2 order by derivation.id desc limit $3";
        makings(self.ledger.database(), which, uid, page).await
    }

    /// Returns how an artifact came to be, the newest way first.
    ///
    /// # Errors
    /// If the ledger cannot be read, or the page ends with no cursor of it.
    pub async fn makings(self, id: ArtifactId, page: &Page) -> Result<Paged<Making>, Error> {
        let which = "where derivation.output = (select id from artifact where digest = $1) \
                     and derivation.id < $2 order by derivation.id desc limit $3";
        makings(self.ledger.database(), which, &id.to_string(), page).await
    }

    /// Returns what arrived for an owner, the newest first.
    ///
    /// # Errors
    /// If the ledger cannot be read, or the page ends with no cursor of it.
    pub async fn arrivals(self, uid: &str, limit: u32) -> Result<Vec<ArrivedThen>, Error> {
        let asked = sql_of_parts(&[
            "select arrival.input, arrival.live, arrival.generation, arrival.time, ",
            ARTIFACT,
            " from arrival join artifact on artifact.id = arrival.artifact \
             where arrival.owner = (select id from owner where uid = $1) \
             order by arrival.time desc, arrival.generation desc, arrival.input limit $2",
        ])
        .bind(uid)
        .bind(Page::first(limit).rows() - 1);
        let rows: Vec<ArrivalRow> = self.ledger.database().reader().await?.all(asked).await?;
        let location = self.ledger.database().location();
        rows.into_iter().map(|row| row.read(location)).collect()
    }
}

async fn makings(
    database: &Database,
    which: &'static str,
    text: &str,
    page: &Page,
) -> Result<Paged<Making>, Error> {
    let [columns, owner, comma, artifact] = MAKING;
    let asked = sql_of_parts(&[columns, owner, comma, artifact, MAKING_FROM, which])
        .bind(text)
        .bind(page.after(i64::MAX)?)
        .bind(page.rows());
    let mut session = database.reader().await?;
    let rows: Vec<Row> = session.all(asked).await?;
    let paged = Paged::new(page, rows, |row| row.id);
    let ids: Vec<i64> = paged.items.iter().map(|row| row.id).collect();
    let location = database.location();
    let mut from = ingredients(&mut session, location, &ids).await?;
    paged.try_map(|row| {
        let from = from.remove(&row.id).unwrap_or_default();
        row.read(location, from)
    })
}

async fn ingredients(
    session: &mut Session,
    location: &Arc<str>,
    derivations: &[i64],
) -> Result<HashMap<i64, Vec<Ingredient>>, Error> {
    let dialect = session.dialect();
    let asked = sql_of_parts(&[
        "select edge.derivation, edge.origin, edge.evidence, edge.offered, ",
        ARTIFACT,
        " from edge join artifact on artifact.id = edge.input where edge.derivation ",
        dialect.is_in_first(),
        " order by edge.derivation, edge.origin",
    ]);
    let rows: Vec<EdgeRow> = session.all(asked.bind(&dialect.list(derivations))).await?;
    let mut from: HashMap<i64, Vec<Ingredient>> = HashMap::new();
    for row in rows {
        let ingredient = Ingredient {
            origin: from_word(location, "origin", &row.origin)?,
            artifact: row.artifact.expect(location)?,
            evidence: from_word(location, "kind of evidence", &row.evidence)?,
            offered: row.offered,
        };
        from.entry(row.derivation).or_default().push(ingredient);
    }
    Ok(from)
}

impl Row {
    fn read(self, location: &Arc<str>, from: Vec<Ingredient>) -> Result<Making, Error> {
        Ok(Making {
            owner: self.owner.into(),
            resource: self.resource,
            template: Template {
                name: self.template,
                generation: self.template_generation,
            },
            output: self.artifact.read(location)?,
            from,
            since: time(location, self.since)?,
            until: some_time(location, self.until)?,
        })
    }
}

impl ArrivalRow {
    fn read(self, location: &Arc<str>) -> Result<ArrivedThen, Error> {
        Ok(ArrivedThen {
            arrived: Arrived {
                input: self.input,
                artifact: self.artifact.expect(location)?,
                live: self.live,
                generation: self.generation,
            },
            time: time(location, self.time)?,
        })
    }
}
