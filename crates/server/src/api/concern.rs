//! What is told to those who wait for all whom a blueprint or template concerns.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::WaitState;

/// Whom blueprints and templates concern, and who has been looked at with them.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
pub struct Concerned {
    /// `waiting` while somebody is missing; then `holds`, or `never` if somebody failed.
    pub state: WaitState,
    /// Everybody whom they concern, by kind, namespace and name.
    pub owners: Vec<ConcernedOwner>,
}

/// A workload or deliverable whom a blueprint or template concerns.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
pub struct ConcernedOwner {
    /// `workload` or `deliverable`.
    pub kind: String,
    /// Its namespace.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// What it has not been looked at with yet, or is still being tried.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<String>,
    /// Why it can't go on with what was applied.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failed: Vec<String>,
}

impl Concerned {
    /// Sums up how far everybody is.
    pub(crate) fn of(owners: Vec<ConcernedOwner>) -> Self {
        let state = if owners.iter().any(|it| !it.missing.is_empty()) {
            WaitState::Waiting
        } else if owners.iter().any(|it| !it.failed.is_empty()) {
            WaitState::Never
        } else {
            WaitState::Holds
        };
        Self { state, owners }
    }
}

impl ConcernedOwner {
    /// Returns one that nobody has asked about yet.
    pub(crate) fn new(kind: &str, namespace: String, name: String) -> Self {
        Self {
            kind: kind.to_owned(),
            namespace,
            name,
            missing: vec!["nobody has asked yet".to_owned()],
            failed: Vec::new(),
        }
    }

    /// Tells whether it is still waited for.
    pub(crate) fn is_pending(&self) -> bool {
        !self.missing.is_empty()
    }
}
