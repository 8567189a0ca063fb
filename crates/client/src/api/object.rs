//! The lineage of an object of the cluster: what it is made of.

use serde::{Deserialize, Serialize};
#[cfg(feature = "openapi")]
use utoipa::ToSchema;

use super::{Made, ObjectName, OwnerRef};

/// The lineage of an object, such as a pod: what it is made of, by the revision that it is of, which need
/// not be the newest of its owner.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(ToSchema))]
pub struct ObjectLineage {
    /// The object.
    pub object: ObjectName,
    /// The objects that control it, nearest first, up to the object that was stamped; empty if it is that one.
    pub above: Vec<ObjectName>,
    /// The owner it was stamped for.
    pub owner: OwnerRef,
    /// The resource of the owner's blueprint that it was stamped for.
    pub resource: String,
    /// The revision that it is of.
    pub revision: RevisionState,
    /// The reason why nobody knows which.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// The things that this revision is made of; absent if nobody knows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub made: Option<Made>,
    /// The reason why the newest revision is not rolled out; absent if it is, or if nothing runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rollout: Option<String>,
}

/// The revision that an object is of.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(ToSchema))]
#[serde(rename_all = "camelCase")]
pub enum RevisionState {
    /// The one that was applied last.
    Current,
    /// One that was applied before: the owner has moved on.
    Older,
    /// Nothing proves which.
    Unknown,
}
