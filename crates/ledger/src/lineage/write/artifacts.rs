//! Artifacts, each written once.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use jiff::Timestamp;
use pathline_lineage::{Artifact, ArtifactId};

use super::super::lookup;
use crate::database::{Rows, Session, sql_of_parts};
use crate::error::Error;

/// The most artifacts that are asked for at once.
const MAX_ASKED: usize = 500;

const INSERT: Rows = Rows {
    before: "insert into artifact \
             (digest, kind, name, shown, url, mutable, lookup, first_seen) values ",
    columns: 8,
    after: " returning id, digest",
};

/// The numbers that artifacts have in the tables, as far as this transaction has met them.
#[derive(Default)]
pub(super) struct Numbers {
    known: HashMap<String, i64>,
    /// Those that nothing in the tables can be an output of yet.
    fresh: HashSet<i64>,
}

impl Numbers {
    /// Writes those artifacts that are not there, with the time at which they were first seen.
    pub(super) async fn learn(
        &mut self,
        session: &mut Session,
        artifacts: &BTreeMap<ArtifactId, (Arc<Artifact>, Timestamp)>,
    ) -> Result<(), Error> {
        let digests: Vec<String> = artifacts.keys().map(ArtifactId::to_string).collect();
        for asked in digests.chunks(MAX_ASKED) {
            let rows = numbers(session, asked).await?;
            self.known
                .extend(rows.into_iter().map(|(id, digest)| (digest, id)));
        }
        let missing = artifacts.values().zip(&digests);
        let missing = missing.filter(|(_, digest)| !self.known.contains_key(*digest));
        let missing: Vec<_> = missing.map(|(artifact, _)| artifact).collect();
        for (insert, chunk) in INSERT.chunks(&missing) {
            let insert = chunk.iter().fold(insert, |insert, (artifact, time)| {
                insert
                    .bind(artifact.id())
                    .bind(artifact.kind().as_str())
                    .bind(artifact.name())
                    .bind(artifact.shown())
                    .bind(artifact.url())
                    .bind(artifact.is_mutable())
                    .bind(&lookup::key(artifact.kind(), artifact.shown()))
                    .bind(*time)
            });
            for (id, digest) in session.all::<(i64, String)>(insert).await? {
                self.fresh.insert(id);
                self.known.insert(digest, id);
            }
        }
        Ok(())
    }

    /// Returns the number of an artifact that was learnt.
    pub(super) fn of(&self, id: ArtifactId) -> i64 {
        self.known[&id.to_string()]
    }

    /// Tells whether this is the first time that an artifact is an output of anything.
    pub(super) fn is_first_output(&mut self, number: i64) -> bool {
        self.fresh.remove(&number)
    }
}

async fn numbers(session: &mut Session, digests: &[String]) -> Result<Vec<(i64, String)>, Error> {
    let dialect = session.dialect();
    let asked = sql_of_parts(&[
        "select id, digest from artifact where digest ",
        dialect.is_in_first_words(),
    ]);
    session.all(asked.bind(&dialect.words(digests))).await
}
