//! Rows that several questions about lineage read.

use std::sync::Arc;

use pathline_lineage::{Artifact, Kind, OwnerLineage};
use serde_json::json;

use super::change::OwnerRef;
use super::lookup;
use crate::database::from_row;
use crate::error::Error;
use crate::rows::{from_json, unreadable};

/// The columns of [`ArtifactRow`], of a table or alias `artifact`.
pub(crate) const ARTIFACT: &str = "artifact.digest, artifact.kind as artifact_kind, \
     artifact.name as artifact_name, artifact.shown, artifact.url, artifact.mutable";

/// The columns of [`OwnerRow`], of a table or alias `owner`.
pub(crate) const OWNER: &str = "owner.uid, owner.kind, owner.namespace, owner.name";

from_row! {
    /// An artifact, in an answer that may have none.
    pub(crate) struct ArtifactRow {
        digest: Option<String>,
        artifact_kind: Option<String>,
        artifact_name: Option<String>,
        shown: Option<String>,
        url: Option<String>,
        mutable: Option<bool>,
    }
}

from_row! {
    /// An owner.
    pub(crate) struct OwnerRow {
        uid: String,
        kind: String,
        namespace: String,
        name: String,
    }
}

impl ArtifactRow {
    /// Returns the artifact, if there is one.
    pub(crate) fn read(self, location: &Arc<str>) -> Result<Option<Artifact>, Error> {
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
        read.map(Some).map_err(|_| unreadable(location, "artifact"))
    }

    /// Tells whether a text names this artifact.
    pub(crate) fn is_named(&self, kind: Kind, text: &str) -> bool {
        let shown = self.shown.as_deref();
        shown.is_some_and(|shown| lookup::names(kind, text, shown))
    }

    /// Returns the artifact of an answer that always has one.
    pub(crate) fn expect(self, location: &Arc<str>) -> Result<Artifact, Error> {
        let artifact = self.read(location)?;
        artifact.ok_or_else(|| unreadable(location, "artifact"))
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

/// Reads the lineage of an owner.
pub(crate) fn lineage(location: &Arc<str>, text: &str) -> Result<OwnerLineage, Error> {
    from_json(location, "lineage", text)
}
