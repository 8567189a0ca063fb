//! The objects of a release in an environment.

use serde::{Deserialize, Serialize};
use serde_json::Value;
#[cfg(feature = "openapi")]
use utoipa::ToSchema;

/// The objects that deploying a release writes into the namespace of an environment.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(ToSchema))]
pub struct ReleaseObjects {
    /// The name of the tracker.
    pub tracker: String,
    /// The number of the release.
    pub release: u64,
    /// The environment.
    pub environment: String,
    /// The namespace.
    pub namespace: String,
    /// The state of the release there; absent if it has not got there, and the objects are those that would be written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<String>,
    /// The objects in the order in which they are written: ConfigMaps, Secrets without their values, and the Workload or
    /// Deliverable. They are as Pathline writes them now: with the settings that the environment has now.
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<Object>))]
    pub objects: Vec<Value>,
}
