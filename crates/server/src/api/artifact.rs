//! Artifacts: what a thing is, what it was made of, and what was made of it.

use jiff::Timestamp;
use pathline_lineage::{self as lineage, ArtifactId, Evidence, Kind, Origin};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{ObjectName, OwnerRef, TemplateVersion, schemas};

/// A piece of content, known by its hash.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct Artifact {
    /// Its id.
    #[schema(schema_with = schemas::artifact_id)]
    pub id: ArtifactId,
    /// What it is.
    #[serde(rename = "type")]
    #[schema(schema_with = schemas::kind)]
    pub kind: Kind,
    /// The name of a param, the path of a field.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// A revision, a reference, a value, or digest and preview of what is too long.
    pub value: String,
    /// Where a source is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// Whether the value may stand for another content tomorrow: an image without a digest, a
    /// source without a revision.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub mutable: bool,
}

impl From<&lineage::Artifact> for Artifact {
    fn from(artifact: &lineage::Artifact) -> Self {
        Self {
            id: artifact.id(),
            kind: artifact.kind(),
            name: artifact.name().map(str::to_owned),
            value: artifact.shown().to_owned(),
            url: artifact.url().map(str::to_owned),
            mutable: artifact.is_mutable(),
        }
    }
}

/// One input of a derivation.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct Edge {
    /// Where the input comes from: `owner NAME` or `resource NAME`; `owner git:URL REVISION` for a commit
    /// that was written by another owner and is in what this one found.
    pub origin: String,
    /// The input.
    #[serde(flatten)]
    pub artifact: Artifact,
    /// How it is known that the output was made from it.
    #[schema(schema_with = schemas::evidence)]
    pub evidence: Evidence,
    /// Whether it was only offered to a template that does not tell what it reads.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub offered: bool,
}

impl Edge {
    pub(crate) fn new(origin: &Origin, edge: &lineage::Edge) -> Self {
        Self {
            origin: origin.to_string(),
            artifact: Artifact::from(&edge.artifact),
            evidence: edge.evidence,
            offered: edge.offered,
        }
    }
}

/// What is known of an artifact, over all owners and all time.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ArtifactEntry {
    /// What it is.
    #[serde(flatten)]
    pub artifact: Artifact,
    /// When it was seen first.
    #[schema(schema_with = schemas::time)]
    pub first_seen: Timestamp,
    /// How it came to be, the latest first; empty if an owner gave it.
    pub made: Vec<Making>,
    /// What was made of it, the latest first.
    pub used: Vec<Use>,
    /// Whether there is more than is told here.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cut: bool,
}

/// One way in which an artifact came to be.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct Making {
    /// Whose path made it.
    pub owner: OwnerRef,
    /// The resource of the blueprint that made it.
    pub resource: String,
    /// The template the resource used.
    pub template: TemplateVersion,
    /// What it was made from.
    pub from: Vec<Edge>,
    /// Whether the resource still makes it.
    pub current: bool,
    /// Since when it makes it.
    #[schema(schema_with = schemas::time)]
    pub since: Timestamp,
    /// Until when it did; absent while it still does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(schema_with = schemas::time, required = false)]
    pub until: Option<Timestamp>,
}

/// One thing that was made of an artifact.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct Use {
    /// Whose path made it.
    pub owner: OwnerRef,
    /// The resource of the blueprint that made it.
    pub resource: String,
    /// Where the resource took it from: `owner NAME` or `resource NAME`.
    pub origin: String,
    /// What was made; absent where the object itself is the result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<Artifact>,
    /// How it is known that it was made of the artifact.
    #[schema(schema_with = schemas::evidence)]
    pub evidence: Evidence,
    /// Whether the resource still makes it.
    pub current: bool,
    /// Since when it makes it.
    #[schema(schema_with = schemas::time)]
    pub since: Timestamp,
    /// Until when it did; absent while it still does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(schema_with = schemas::time, required = false)]
    pub until: Option<Timestamp>,
}

/// Where a source or an image has got to.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct Contains {
    /// The artifacts that were asked about: a short revision may name several.
    pub found: Vec<Artifact>,
    /// What contains one of them, everywhere, the latest first.
    pub carriers: Vec<Carrier>,
    /// What to give as `continue` for the next carriers; absent on the last page.
    #[serde(rename = "continue", default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// Something that was made of what was asked about, directly or through others.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct Carrier {
    /// Whose path made it.
    pub owner: OwnerRef,
    /// The resource of the blueprint that made it.
    pub resource: String,
    /// What was made; absent where the object itself is the result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub artifact: Option<Artifact>,
    /// The object that does it now, such as a Process; absent where it is not current, or not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub object: Option<ObjectName>,
    /// Whether every edge on the way is proven.
    pub proven: bool,
    /// Whether the resource still makes it.
    pub current: bool,
    /// Since when it makes it.
    #[schema(schema_with = schemas::time)]
    pub since: Timestamp,
    /// Until when it did; absent while it still does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(schema_with = schemas::time, required = false)]
    pub until: Option<Timestamp>,
}
