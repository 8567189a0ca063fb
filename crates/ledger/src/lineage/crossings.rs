//! Across git: which commits the revisions have that deliveries found.

use jiff::Timestamp;
use pathline_lineage::{Artifact, ArtifactId, Kind};

use super::Lineage;
use super::rows::{ARTIFACT, ArtifactRow};
use crate::database::{Statement, sql_of_parts};
use crate::error::Error;

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
    /// The time at which git said so.
    pub time: Timestamp,
}

/// Across git
impl Lineage<'_> {
    /// Records which commit a revision has that a delivery found. When this returns it is durable.
    ///
    /// A call may be repeated: nothing is recorded twice.
    ///
    /// # Errors
    /// As [`Lineage::record`].
    pub async fn cross(self, crossing: Crossing) -> Result<(), Error> {
        self.ledger.write(crossing).await
    }

    /// Returns the commits that a source has which an owner found or was given.
    ///
    /// # Errors
    /// If the ledger cannot be read.
    pub async fn commits_of(self, uid: &str, found: ArtifactId) -> Result<Vec<Artifact>, Error> {
        let asked = commits(uid, found);
        let rows: Vec<ArtifactRow> = self.ledger.database().reader().await?.all(asked).await?;
        let location = self.ledger.database().location();
        rows.into_iter().map(|row| row.expect(location)).collect()
    }

    /// Returns the commits that git said a source at a commit has, whenever the owner found that one
    /// before, and wherever it was kept then.
    ///
    /// # Errors
    /// If the ledger cannot be read.
    pub async fn commits_found_before(
        self,
        uid: &str,
        commit: &str,
    ) -> Result<Vec<Artifact>, Error> {
        // Only of what put the source out: whatever took it may have taken others, too.
        let asked = sql_of_parts(&[
            "select distinct ",
            ARTIFACT,
            " from artifact found \
             join derivation on derivation.output = found.id \
               and derivation.owner = (select id from owner where uid = $1) \
             join edge on edge.derivation = derivation.id and edge.evidence = 'git' \
             join artifact on artifact.id = edge.input \
             where found.kind = $2 and found.lookup = $3 \
             order by artifact.digest limit $4",
        ])
        .bind(uid)
        .bind(Kind::Source.as_str())
        .bind(commit)
        .bind(MAX_COMMITS);
        let rows: Vec<ArtifactRow> = self.ledger.database().reader().await?.all(asked).await?;
        let location = self.ledger.database().location();
        rows.into_iter().map(|row| row.expect(location)).collect()
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
