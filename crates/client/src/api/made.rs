//! The things that something is made of: the tree of an output, and the derivations behind it.

use jiff::Timestamp;
use pathline_lineage::{self as lineage, Evidence, MadeOf};
use serde::{Deserialize, Serialize};
#[cfg(feature = "openapi")]
use utoipa::ToSchema;

use super::{Artifact, Edge, OwnerRef};

/// An artifact, where it passed, and what it is made of.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(ToSchema))]
pub struct Made {
    /// The artifact.
    #[serde(flatten)]
    pub artifact: Artifact,
    /// The owner who wrote it, where it is a commit of another one. The names in `passed`, here and below, are
    /// of that one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<OwnerRef>,
    /// The evidence that what stands above it is made from it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(schema_with = super::schemas::evidence, required = false))]
    pub evidence: Option<Evidence>,
    /// Whether it was only offered to what stands above it, which does not tell what it reads.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub offered: bool,
    /// The resources that emitted it unchanged, in path order; `workload` or `deliverable` first if the owner
    /// gave it.
    pub passed: Vec<String>,
    /// The things that it is made of; nothing below what the owner gave.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "openapi", schema(no_recursion))]
    pub from: Vec<Self>,
    /// Whether what it is made of was left out, for the answer would be too long.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cut: bool,
}

impl From<&MadeOf> for Made {
    fn from(made: &MadeOf) -> Self {
        Self {
            artifact: Artifact {
                id: made.id,
                kind: made.kind,
                name: made.name.clone(),
                value: made.value.clone(),
                url: made.url.clone(),
                mutable: made.mutable,
            },
            owner: None,
            evidence: made.evidence,
            offered: made.offered,
            passed: made.passed.clone(),
            from: made.from.iter().map(Self::from).collect(),
            cut: made.cut,
        }
    }
}

/// A template, as it was when it was used.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(ToSchema))]
pub struct TemplateVersion {
    /// Its kind and name, such as `ClusterImageTemplate/kpack`; empty where an input was passed
    /// through.
    pub name: String,
    /// Its generation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub generation: Option<i64>,
}

impl From<&lineage::Template> for TemplateVersion {
    fn from(template: &lineage::Template) -> Self {
        Self {
            name: template.name.clone(),
            generation: template.generation,
        }
    }
}

/// The derivation of that which a resource makes now.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(ToSchema))]
pub struct Derivation {
    /// The name of the resource in the blueprint.
    pub resource: String,
    /// The template its object was stamped from.
    pub template: TemplateVersion,
    /// The uid of the object; empty where an input was passed through.
    pub uid: String,
    /// The generation of the object in which the output was seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub generation: Option<i64>,
    /// The output; absent for a sink, whose object is the result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<Artifact>,
    /// The commit that the object of a sink has written, if it writes any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<Artifact>,
    /// The inputs that it was made from.
    pub from: Vec<Edge>,
    /// When this was first known.
    #[cfg_attr(feature = "openapi", schema(schema_with = super::schemas::time))]
    pub time: Timestamp,
}

impl From<&lineage::Derivation> for Derivation {
    fn from(made: &lineage::Derivation) -> Self {
        let from = made.from.iter();
        Self {
            resource: made.resource.clone(),
            template: TemplateVersion::from(&made.template),
            uid: made.uid.clone(),
            generation: made.generation,
            output: made.output.as_ref().map(Artifact::from),
            commit: made.commit.as_ref().map(Artifact::from),
            from: from.map(|(origin, edge)| Edge::new(origin, edge)).collect(),
            time: made.time,
        }
    }
}
