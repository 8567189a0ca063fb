//! Owners: the Workloads and Deliverables that paths are realized for.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
#[cfg(feature = "openapi")]
use utoipa::ToSchema;

use super::{Derivation, Made, ObjectName, OwnerInput, PathStep, Ready};

/// Names an owner, for good: the uid tells it from a later one of the same name.
#[derive(Clone, Debug, Deserialize, Eq, Ord, PartialEq, PartialOrd, Serialize)]
#[cfg_attr(feature = "openapi", derive(ToSchema))]
pub struct OwnerRef {
    /// `Workload` or `Deliverable`.
    pub kind: String,
    /// Its namespace.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// Its uid in the cluster.
    pub uid: String,
}

/// An owner in a list.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct OwnerSummary {
    /// The owner.
    #[serde(flatten)]
    pub owner: OwnerRef,
    /// The generation of its specification.
    pub generation: i64,
    /// When it was made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(schema_with = super::schemas::time, required = false))]
    pub created: Option<Timestamp>,
    /// The blueprint that picked it up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blueprint: Option<ObjectName>,
    /// Its condition; absent until Pathline has reconciled it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ready: Option<Ready>,
}

/// Some owners, in the order of the cluster.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(ToSchema))]
pub struct OwnerPage {
    /// The owners.
    pub items: Vec<OwnerSummary>,
    /// The value to give as `continue` for the next ones; absent on the last page.
    #[serde(rename = "continue", default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// A blueprint whose selector an owner almost meets.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(ToSchema))]
pub struct NearestBlueprint {
    /// Its kind.
    pub kind: String,
    /// Its name.
    pub name: String,
    /// The requirements that keep its selector from matching, for people.
    pub unmet: Vec<String>,
}

/// Everything about one owner: its path, what it gave, what came out, and how that is known.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Owner {
    /// The summary that a list gives of it.
    #[serde(flatten)]
    pub summary: OwnerSummary,
    /// Whether everything it gives runs: `True`, `False` or `Unknown`.
    pub live: String,
    /// Its generation that is live; absent while none is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub live_generation: Option<i64>,
    /// The blueprint that it comes nearest to, where none selects it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nearest: Option<NearestBlueprint>,
    /// The templates that its blueprint names and that are not there, as `KIND/NAME`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lost_templates: Vec<String>,
    /// The resources of its blueprint, in declared order.
    pub path: Vec<PathStep>,
    /// The inputs that the owner itself gives, and how far each value has come.
    pub inputs: Vec<OwnerInput>,
    /// The outputs of the path: what no other resource takes, each with all it is made of.
    pub outputs: Vec<Made>,
    /// The derivation of that which each resource makes now, producers first.
    pub lineage: Vec<Derivation>,
}
