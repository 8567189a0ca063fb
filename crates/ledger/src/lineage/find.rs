//! Artifacts, found by what people know of them.

use jiff::Timestamp;
use pathline_lineage::{Artifact, Kind};

use super::Lineage;
use super::lookup;
use super::rows::{ARTIFACT, ArtifactRow};
use crate::database::{Session, Statement, from_row, sql_of_parts};
use crate::error::Error;
use crate::rows::time;

/// The most artifacts that one name may stand for.
const MAX_FOUND: i64 = 10_000;

/// An artifact, and since when it is known.
#[derive(Clone, Debug, PartialEq)]
pub struct ArtifactSummary {
    /// The artifact.
    pub artifact: Artifact,
    /// The time at which it was first recorded.
    pub first_seen: Timestamp,
}

from_row! {
    /// An artifact and its number in the tables.
    pub(crate) struct Found {
        pub(crate) id: i64,
        first_seen: i64,
        ..
        artifact: ArtifactRow,
    }
}

/// Finding
impl Lineage<'_> {
    /// Returns the artifacts that a text names: a source by its revision, the part of it after the
    /// last `:`, or at least seven digits of that; an image by its reference or its digest; all
    /// else by the value as it is shown, or its digest if it is too long for that.
    ///
    /// # Errors
    /// If the ledger cannot be read.
    pub async fn find_artifacts(
        self,
        kind: Kind,
        text: &str,
    ) -> Result<Vec<ArtifactSummary>, Error> {
        let mut session = self.ledger.database().reader().await?;
        let found = find(&mut session, kind, text).await?;
        let location = self.ledger.database().location();
        let read = |it: Found| {
            Ok(ArtifactSummary {
                first_seen: time(location, it.first_seen)?,
                artifact: it.artifact.expect(location)?,
            })
        };
        found.into_iter().map(read).collect()
    }
}

/// Returns the artifacts that a text names.
pub(crate) async fn find(
    session: &mut Session,
    kind: Kind,
    text: &str,
) -> Result<Vec<Found>, Error> {
    let mut found: Vec<Found> = session.all(candidates(kind, text)).await?;
    found.retain(|it| it.artifact.is_named(kind, text));
    Ok(found)
}

/// Returns the question for the artifacts that a text may name.
pub(crate) fn candidates(kind: Kind, text: &str) -> Statement {
    let range = lookup::range(kind, text);
    sql_of_parts(&[
        "select artifact.id, artifact.first_seen, ",
        ARTIFACT,
        " from artifact where kind = $1 and lookup between $2 and $3 order by lookup limit $4",
    ])
    .bind(kind.as_str())
    .bind(&range.first)
    .bind(&range.last)
    .bind(MAX_FOUND)
}
