//! Artifacts, each written once.

use std::collections::HashMap;

use jiff::Timestamp;
use pathline_lineage::{Artifact, ArtifactId};

use crate::database::{Session, sql};
use crate::error::Error;
use crate::lookup;

/// The numbers that artifacts have in the tables, as far as this transaction has met them.
#[derive(Default)]
pub(super) struct Numbers {
    known: HashMap<ArtifactId, i64>,
}

impl Numbers {
    /// Writes an artifact unless it is there.
    pub(super) async fn learn(
        &mut self,
        session: &mut Session,
        artifact: &Artifact,
        time: Timestamp,
    ) -> Result<(), Error> {
        if self.known.contains_key(&artifact.id()) {
            return Ok(());
        }
        let asked = sql("select id from artifact where digest = $1").bind(artifact.id());
        let number = match session.first::<(i64,)>(asked).await? {
            Some((number,)) => number,
            None => insert(session, artifact, time).await?,
        };
        self.known.insert(artifact.id(), number);
        Ok(())
    }

    /// Returns the number of an artifact that was learnt.
    pub(super) fn of(&self, id: ArtifactId) -> i64 {
        self.known[&id]
    }
}

async fn insert(session: &mut Session, artifact: &Artifact, time: Timestamp) -> Result<i64, Error> {
    let insert = sql(
        "insert into artifact (digest, kind, name, shown, url, mutable, lookup, first_seen) \
         values ($1, $2, $3, $4, $5, $6, $7, $8) returning id",
    )
    .bind(artifact.id())
    .bind(lookup::kind(artifact.kind()))
    .bind(artifact.name())
    .bind(artifact.shown())
    .bind(artifact.url())
    .bind(artifact.is_mutable())
    .bind(&lookup::key(artifact.kind(), artifact.shown()))
    .bind(time);
    let (number,) = session.only::<(i64,)>(insert).await?;
    Ok(number)
}
