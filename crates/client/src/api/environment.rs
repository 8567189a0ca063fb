//! Environments: the places that releases go to, and what lets them through.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;
#[cfg(feature = "openapi")]
use utoipa::ToSchema;

/// An environment: its settings, and how it is now.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Environment {
    /// The name.
    pub name: String,
    /// The type: `dev`, `ha`, `preprod` or `prod`; absent where it has a position instead.
    #[serde(rename = "type", default, skip_serializing_if = "Option::is_none")]
    pub of_type: Option<String>,
    /// The position; releases go from lower ones to higher ones. Absent where it cannot be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub position: Option<u32>,
    /// The namespace that is deployed into.
    pub namespace: String,
    /// The rule that says when something is taken; `{}` is each minute.
    #[cfg_attr(feature = "openapi", schema(value_type = Object))]
    pub release_frequency: Value,
    /// The time zone of that rule.
    pub time_zone: String,
    /// `auto`, or `manual` where each release has to be promoted.
    pub promotion: String,
    /// The highest step that is taken without being promoted: `digest`, `patch`, `minor` or `major`; absent for any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accepts: Option<String>,
    /// The time for which a release has to be live in the environments before.
    pub soak: String,
    /// The times in which nothing is taken.
    pub freezes: Vec<EnvironmentFreeze>,
    /// The time in which a deployment has to become ready.
    pub ready_timeout: String,
    /// `keep`, or `restore` where a failure brings back what was deployed before.
    pub on_failure: String,
    /// The next instant at which something is taken; null if there is none, or while the environment is held.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>, format = DateTime))]
    pub next_tick: Option<Timestamp>,
    /// The hold of the environment as a whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hold: Option<EnvironmentHold>,
    /// The holds of trackers there.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tracker_holds: Vec<TrackerHold>,
    /// The freeze that it is in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frozen: Option<EnvironmentFreeze>,
    /// The reason why it cannot be used, and takes nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<EnvironmentRefusal>,
    /// The numbers of releases that are on their way there.
    pub counts: EnvironmentCounts,
}

/// A time in which an environment takes nothing.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(ToSchema))]
pub struct EnvironmentFreeze {
    /// The first instant of it.
    #[cfg_attr(feature = "openapi", schema(schema_with = super::schemas::time))]
    pub from: Timestamp,
    /// The first instant after it.
    #[cfg_attr(feature = "openapi", schema(schema_with = super::schemas::time))]
    pub until: Timestamp,
    /// The reason.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
}

/// Somebody's word that nothing is taken until it is resumed.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(ToSchema))]
pub struct EnvironmentHold {
    /// The token whose bearer gave it.
    pub by: String,
    /// The reason; empty if none was given.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
    /// Since when it holds.
    #[cfg_attr(feature = "openapi", schema(schema_with = super::schemas::time))]
    pub since: Timestamp,
}

/// The hold of one tracker in an environment.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(ToSchema))]
pub struct TrackerHold {
    /// The name of the tracker.
    pub tracker: String,
    /// The hold.
    #[serde(flatten)]
    pub hold: EnvironmentHold,
}

/// The reason why an Environment cannot be used.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(ToSchema))]
pub struct EnvironmentRefusal {
    /// One word: `Invalid`, `NamespaceTaken` or `Terminating`.
    pub reason: String,
    /// All that is wrong, and what to write.
    pub message: String,
}

/// The numbers of releases that are on their way to an environment.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(ToSchema))]
pub struct EnvironmentCounts {
    /// Those that wait for a tick.
    pub queued: u64,
    /// Those that wait to be promoted.
    pub held: u64,
    /// Those that are being deployed.
    pub deploying: u64,
}
