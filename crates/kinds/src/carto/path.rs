//! The path of an owner through its blueprint.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The decision for one resource of a blueprint with several paths.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PathEntry {
    /// The name of the resource in the blueprint.
    pub resource: String,
    /// The state: whether the resource is on the path.
    pub state: PathState,
    /// The option that was chosen, counted from 0, if there are several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub option: Option<i64>,
    /// The reason for which it is so.
    pub reason: String,
    /// While retiring: the resources that took in what this one gave.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub consumers: Vec<String>,
}

/// The state of a resource on the path of an owner.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[expect(
    missing_docs,
    reason = "the names say it; docs would split the schema's enum"
)]
pub enum PathState {
    Selected,
    Skipped,
    Failed,
    Retiring,
}
