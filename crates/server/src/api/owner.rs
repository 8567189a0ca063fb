//! Owners: the Workloads and Deliverables that paths are realized for.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{Derivation, Made, ObjectName, OwnerInput, PathStep, Ready, schemas};

/// Names an owner, for good: the uid tells it from a later one of the same name.
#[derive(Clone, Debug, Deserialize, Eq, Ord, PartialEq, PartialOrd, Serialize, ToSchema)]
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

impl From<pathline_ledger::OwnerRef> for OwnerRef {
    fn from(owner: pathline_ledger::OwnerRef) -> Self {
        Self {
            kind: owner.kind,
            namespace: owner.namespace,
            name: owner.name,
            uid: owner.uid,
        }
    }
}

/// An owner in a list.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct OwnerSummary {
    /// Who it is.
    #[serde(flatten)]
    pub owner: OwnerRef,
    /// The generation of its specification.
    pub generation: i64,
    /// When it was made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(schema_with = schemas::time, required = false)]
    pub created: Option<Timestamp>,
    /// The blueprint that picked it up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blueprint: Option<ObjectName>,
    /// How it is; absent until Pathline has looked at it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ready: Option<Ready>,
}

/// Some owners, in the order of the cluster.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
pub struct OwnerPage {
    /// The owners.
    pub items: Vec<OwnerSummary>,
    /// What to give as `continue` for the next ones; absent on the last page.
    #[serde(rename = "continue", default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// A blueprint whose selector an owner almost meets.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
pub struct NearestBlueprint {
    /// Its kind.
    pub kind: String,
    /// Its name.
    pub name: String,
    /// What keeps its selector from matching, for people.
    pub unmet: Vec<String>,
}

/// Everything about one owner: its path, what it gave, what came out, and how that is known.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Owner {
    /// What a list says of it.
    #[serde(flatten)]
    pub summary: OwnerSummary,
    /// Whether everything it gives runs: `True`, `False` or `Unknown`.
    pub live: String,
    /// Its newest generation that is, or was, live.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub live_generation: Option<i64>,
    /// The blueprint that it comes nearest to, where none selects it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nearest: Option<NearestBlueprint>,
    /// The resources of its blueprint, in declared order.
    pub path: Vec<PathStep>,
    /// What the owner itself gives, and how far each value has come.
    pub inputs: Vec<OwnerInput>,
    /// What the path makes: what no other resource takes, each with all it is made of.
    pub outputs: Vec<Made>,
    /// How that came to be which each resource makes now, producers first.
    pub lineage: Vec<Derivation>,
}
