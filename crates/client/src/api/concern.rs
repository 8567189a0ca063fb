//! Answers to those who wait for all whom a blueprint or template concerns.

use serde::{Deserialize, Serialize};
#[cfg(feature = "openapi")]
use utoipa::ToSchema;

use super::WaitState;

/// The owners that blueprints and templates concern, and which of them have been reconciled with them.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(ToSchema))]
pub struct Concerned {
    /// `waiting` while somebody is missing; then `holds`, or `impossible` if somebody failed.
    pub state: WaitState,
    /// Everybody whom they concern, by kind, namespace and name.
    pub owners: Vec<ConcernedOwner>,
}

/// A workload or deliverable whom a blueprint or template concerns.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(ToSchema))]
pub struct ConcernedOwner {
    /// `workload` or `deliverable`.
    pub kind: String,
    /// Its namespace.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// The objects it has not been reconciled with yet, or what is still being tried.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<String>,
    /// The reasons why it can't go on with what was applied.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failed: Vec<String>,
}

impl Concerned {
    /// Sums up how far everybody is.
    pub fn of(owners: Vec<ConcernedOwner>) -> Self {
        let state = if owners.iter().any(|it| !it.missing.is_empty()) {
            WaitState::Waiting
        } else if owners.iter().any(|it| !it.failed.is_empty()) {
            WaitState::Impossible
        } else {
            WaitState::Holds
        };
        Self { state, owners }
    }
}

impl ConcernedOwner {
    /// Returns one that nobody has asked about yet.
    pub fn new(kind: &str, namespace: String, name: String) -> Self {
        Self {
            kind: kind.to_owned(),
            namespace,
            name,
            missing: vec!["nobody has asked yet".to_owned()],
            failed: Vec::new(),
        }
    }

    /// Tells whether it is still waited for.
    pub fn is_pending(&self) -> bool {
        !self.missing.is_empty()
    }
}
