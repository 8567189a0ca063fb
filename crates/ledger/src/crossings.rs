//! Across git: which commits the revisions have that deliveries found.

use jiff::Timestamp;
use pathline_lineage::{Artifact, ArtifactId};

use crate::database::{Statement, sql_of_parts};
use crate::error::Error;
use crate::ledger::Ledger;
use crate::rows::{ARTIFACT, ArtifactRow};
use crate::writer::Work;

/// The most commits that are told of one revision.
const MAX_COMMITS: i64 = 64;

/// A revision that a delivery found, and a commit that git says it has: the revision is that commit, or
/// a later one at which the files of the commit are as they were written.
#[derive(Clone, Debug, PartialEq)]
pub struct Crossing {
    /// The uid of the owner that found the revision.
    pub delivery: String,
    /// The source at that revision, as the owner has it.
    pub found: Artifact,
    /// The commit, as whoever wrote it has it.
    pub written: Artifact,
    /// When git said so.
    pub time: Timestamp,
}

/// Across git
impl Ledger {
    /// Records which commit a revision has that a delivery found. When this returns it is durable.
    ///
    /// A call may be repeated: nothing is recorded twice.
    ///
    /// # Errors
    /// As [`Ledger::record`].
    pub async fn cross(&self, crossing: Crossing) -> Result<(), Error> {
        self.write(Work::Cross(Box::new(crossing))).await
    }

    /// Returns the commits that a source has which an owner found or was given.
    ///
    /// # Errors
    /// If the ledger cannot be read.
    pub async fn commits_of(&self, uid: &str, found: ArtifactId) -> Result<Vec<Artifact>, Error> {
        let asked = commits(uid, found);
        let rows: Vec<ArtifactRow> = self.database().reader().await?.all(asked).await?;
        let place = self.database().place();
        rows.into_iter().map(|row| row.expect(place)).collect()
    }
}

/// Returns the question for the commits that a source has.
pub(crate) fn commits(uid: &str, found: ArtifactId) -> Statement {
    sql_of_parts(&[
        "select distinct ",
        ARTIFACT,
        " from (select id from derivation \
               where output = (select id from artifact where digest = $2) \
               and owner = (select id from owner where uid = $1) \
               union select given.derivation from edge given \
               join derivation on derivation.id = given.derivation \
               where given.scope = 0 \
               and given.input = (select id from artifact where digest = $2) \
               and derivation.owner = (select id from owner where uid = $1)) finding \
             join edge on edge.derivation = finding.id and edge.evidence = 'git' \
             join artifact on artifact.id = edge.input \
             order by artifact.digest limit $3",
    ])
    .bind(uid)
    .bind(found)
    .bind(MAX_COMMITS)
}
