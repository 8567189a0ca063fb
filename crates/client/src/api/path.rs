//! The path of an owner through its blueprint, resource by resource.

use serde::{Deserialize, Serialize};
#[cfg(feature = "openapi")]
use utoipa::ToSchema;

/// Whether something is ready, as its condition says.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(ToSchema))]
pub struct Ready {
    /// `True`, `False` or `Unknown`.
    pub status: String,
    /// The reason, in one word.
    pub reason: String,
    /// The reason, for people; may be empty.
    pub message: String,
}

/// Names an object of the cluster.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct ObjectName {
    /// Its kind, such as `ClusterImageTemplate`.
    pub kind: String,
    /// Its group and version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub api_version: Option<String>,
    /// Its namespace, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    /// Its name.
    pub name: String,
}

/// The decision for one resource of the blueprint, and what became of it.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct PathStep {
    /// The name of the resource in the blueprint.
    pub resource: String,
    /// `selected`, `skipped`, `failed` or `retiring`.
    pub state: String,
    /// The option that was chosen, counted from 0, if the resource has several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub option: Option<i64>,
    /// The template that was chosen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub template: Option<ObjectName>,
    /// The object that was stamped from it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub object: Option<ObjectName>,
    /// The resources whose outputs it takes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub inputs: Vec<String>,
    /// The reason why it is on the path or not, in a word; only blueprints with several paths say it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The condition of the resource; absent for a skipped one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ready: Option<Ready>,
}
