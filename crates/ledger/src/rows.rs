//! Rows that several questions read, and what they mean.

use std::sync::Arc;

use jiff::Timestamp;
use pathline_lineage::{Artifact, Kind, Track};
use serde::de::DeserializeOwned;
use serde_json::json;

use crate::change::OwnerRef;
use crate::error::Error;
use crate::lookup;

/// The columns of [`ArtifactRow`], of a table or alias `artifact`.
pub(crate) const ARTIFACT: &str = "artifact.digest, artifact.kind as artifact_kind, \
     artifact.name as artifact_name, artifact.shown, artifact.url, artifact.mutable";

/// The columns of [`OwnerRow`], of a table or alias `owner`.
pub(crate) const OWNER: &str = "owner.uid, owner.kind, owner.namespace, owner.name";

/// An artifact, in an answer that may have none.
#[derive(sqlx::FromRow)]
pub(crate) struct ArtifactRow {
    digest: Option<String>,
    artifact_kind: Option<String>,
    artifact_name: Option<String>,
    shown: Option<String>,
    url: Option<String>,
    mutable: Option<bool>,
}

/// An owner.
#[derive(sqlx::FromRow)]
pub(crate) struct OwnerRow {
    uid: String,
    kind: String,
    namespace: String,
    name: String,
}

impl ArtifactRow {
    /// Returns the artifact, if there is one.
    pub(crate) fn read(self, place: &Arc<str>) -> Result<Option<Artifact>, Error> {
        let Some(digest) = self.digest else {
            return Ok(None);
        };
        let artifact = json!({
            "id": digest,
            "kind": self.artifact_kind,
            "name": self.artifact_name,
            "shown": self.shown,
            "url": self.url,
            "mutable": self.mutable.unwrap_or(false),
        });
        let read = serde_json::from_value(artifact);
        read.map(Some).map_err(|_| unreadable(place, "artifact"))
    }

    /// Tells whether a text names this artifact.
    pub(crate) fn is_named(&self, kind: Kind, text: &str) -> bool {
        let shown = self.shown.as_deref();
        shown.is_some_and(|shown| lookup::names(kind, text, shown))
    }

    /// Returns the artifact of an answer that always has one.
    pub(crate) fn expect(self, place: &Arc<str>) -> Result<Artifact, Error> {
        let artifact = self.read(place)?;
        artifact.ok_or_else(|| unreadable(place, "artifact"))
    }
}

impl From<OwnerRow> for OwnerRef {
    fn from(row: OwnerRow) -> Self {
        Self {
            kind: row.kind,
            namespace: row.namespace,
            name: row.name,
            uid: row.uid,
        }
    }
}

/// Reads a time.
pub(crate) fn time(place: &Arc<str>, microseconds: i64) -> Result<Timestamp, Error> {
    Timestamp::from_microsecond(microseconds).map_err(|_| unreadable(place, "time"))
}

/// Reads a time that may not be there.
pub(crate) fn some_time(
    place: &Arc<str>,
    microseconds: Option<i64>,
) -> Result<Option<Timestamp>, Error> {
    microseconds.map(|it| time(place, it)).transpose()
}

/// Reads the track of an owner.
pub(crate) fn track(place: &Arc<str>, text: &str) -> Result<Track, Error> {
    from_json(place, "track", text)
}

/// Reads JSON that this program wrote.
pub(crate) fn from_json<T: DeserializeOwned>(
    place: &Arc<str>,
    what: &'static str,
    text: &str,
) -> Result<T, Error> {
    serde_json::from_str(text).map_err(|_| unreadable(place, what))
}

/// Reads a word, such as a kind or a scope, as JSON would have it.
pub(crate) fn from_word<T: DeserializeOwned>(
    place: &Arc<str>,
    what: &'static str,
    word: &str,
) -> Result<T, Error> {
    serde_json::from_value(word.into()).map_err(|_| unreadable(place, what))
}

fn unreadable(place: &Arc<str>, what: &'static str) -> Error {
    Error::Unreadable {
        place: Arc::clone(place),
        what,
    }
}
