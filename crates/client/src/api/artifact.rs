//! Artifacts: what a thing is, what it was made of, and what was made of it.

use jiff::Timestamp;
use pathline_lineage::{self as lineage, ArtifactId, Evidence, Kind, Origin};
use serde::{Deserialize, Serialize};
#[cfg(feature = "openapi")]
use utoipa::ToSchema;

use super::{ObjectName, OwnerRef, TemplateVersion};

/// A piece of content, known by its hash.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(ToSchema))]
pub struct Artifact {
    /// Its id.
    #[cfg_attr(feature = "openapi", schema(schema_with = super::schemas::artifact_id))]
    pub id: ArtifactId,
    /// Its kind.
    #[serde(rename = "type")]
    #[cfg_attr(feature = "openapi", schema(schema_with = super::schemas::kind))]
    pub kind: Kind,
    /// The name of a param, the path of a field.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// A revision, a reference, a value, or digest and preview of what is too long.
    pub value: String,
    /// The URL of a source.
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
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(ToSchema))]
pub struct Edge {
    /// The origin of the input: `owner NAME` or `resource NAME`; `owner git:URL REVISION` for a commit
    /// that was written by another owner and is in what this one found.
    pub origin: String,
    /// The input.
    #[serde(flatten)]
    pub artifact: Artifact,
    /// The evidence that the output was made from it.
    #[cfg_attr(feature = "openapi", schema(schema_with = super::schemas::evidence))]
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

/// The record of an artifact, over all owners and all time.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct ArtifactEntry {
    /// The artifact.
    #[serde(flatten)]
    pub artifact: Artifact,
    /// When it was seen first.
    #[cfg_attr(feature = "openapi", schema(schema_with = super::schemas::time))]
    pub first_seen: Timestamp,
    /// The ways in which it came to be, the latest first; empty if an owner gave it.
    pub made: Vec<Making>,
    /// The things that were made of it, the latest first.
    pub used: Vec<Use>,
    /// Whether there is more than is told here.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cut: bool,
}

/// One way in which an artifact came to be.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(ToSchema))]
pub struct Making {
    /// The owner whose path made it.
    pub owner: OwnerRef,
    /// The resource of the blueprint that made it.
    pub resource: String,
    /// The template the resource used.
    pub template: TemplateVersion,
    /// The inputs that it was made from.
    pub from: Vec<Edge>,
    /// Whether the resource still makes it.
    pub current: bool,
    /// Since when it makes it.
    #[cfg_attr(feature = "openapi", schema(schema_with = super::schemas::time))]
    pub since: Timestamp,
    /// Until when it did; absent while it still does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(schema_with = super::schemas::time, required = false))]
    pub until: Option<Timestamp>,
}

/// One thing that was made of an artifact.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(ToSchema))]
pub struct Use {
    /// The owner whose path made it.
    pub owner: OwnerRef,
    /// The resource of the blueprint that made it.
    pub resource: String,
    /// The origin that the resource took it from: `owner NAME` or `resource NAME`.
    pub origin: String,
    /// The artifact that was made; absent where the object itself is the result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<Artifact>,
    /// The evidence that it was made of the artifact.
    #[cfg_attr(feature = "openapi", schema(schema_with = super::schemas::evidence))]
    pub evidence: Evidence,
    /// Whether the resource still makes it.
    pub current: bool,
    /// Since when it makes it.
    #[cfg_attr(feature = "openapi", schema(schema_with = super::schemas::time))]
    pub since: Timestamp,
    /// Until when it did; absent while it still does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(schema_with = super::schemas::time, required = false))]
    pub until: Option<Timestamp>,
}

/// A source or an image, and everything that it has got to.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(ToSchema))]
pub struct Contains {
    /// The artifacts that were asked about: a short revision may name several.
    pub found: Vec<Artifact>,
    /// The carriers: everything that contains one of them, everywhere, the latest first.
    pub carriers: Vec<Carrier>,
    /// The value to give as `continue` for the next carriers; absent on the last page.
    #[serde(rename = "continue", default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// Something that was made of what was asked about, directly or through others.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(ToSchema))]
pub struct Carrier {
    /// The owner whose path made it.
    pub owner: OwnerRef,
    /// The resource of the blueprint that made it.
    pub resource: String,
    /// The artifact that was made; absent where the object itself is the result.
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
    #[cfg_attr(feature = "openapi", schema(schema_with = super::schemas::time))]
    pub since: Timestamp,
    /// Until when it did; absent while it still does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(schema_with = super::schemas::time, required = false))]
    pub until: Option<Timestamp>,
}
