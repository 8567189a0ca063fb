//! Actions on releases that somebody takes by hand.

use serde::{Deserialize, Serialize};
#[cfg(feature = "openapi")]
use utoipa::ToSchema;

use super::EnvironmentHold;

/// The body that releases a configuration at once.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(ToSchema))]
#[serde(deny_unknown_fields)]
pub struct ReleaseRequest {
    /// The reason, in at most 500 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(max_length = 500, value_type = String, required = false))]
    pub reason: Option<String>,
}

/// The body that promotes a release in an environment.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(ToSchema))]
#[serde(deny_unknown_fields)]
pub struct PromoteRequest {
    /// The name of the tracker, `GROUP.NAME`.
    #[cfg_attr(feature = "openapi", schema(max_length = 127))]
    pub tracker: String,
    /// The number of the release; without, the newest one that waits there, or has failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(minimum = 1, value_type = u64, required = false))]
    pub release: Option<u64>,
    /// Whether it is deployed at once, without waiting for a tick or for the end of a soak.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[cfg_attr(feature = "openapi", schema(required = false))]
    pub now: bool,
    /// The reason, in at most 500 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(max_length = 500, value_type = String, required = false))]
    pub reason: Option<String>,
}

/// The body that holds an environment, or one tracker in it, or ends that.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(ToSchema))]
#[serde(deny_unknown_fields)]
pub struct HoldRequest {
    /// The name of the tracker, `GROUP.NAME`; without, the whole environment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(max_length = 127, value_type = String, required = false))]
    pub tracker: Option<String>,
    /// The reason, in at most 500 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(max_length = 500, value_type = String, required = false))]
    pub reason: Option<String>,
}

/// The body that brings the content of an older release back.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(ToSchema))]
#[serde(deny_unknown_fields)]
pub struct RollbackRequest {
    /// The name of the tracker, `GROUP.NAME`.
    #[cfg_attr(feature = "openapi", schema(max_length = 127))]
    pub tracker: String,
    /// The number of the release whose content is wanted; without, that of the one that was deployed there before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(minimum = 1, value_type = u64, required = false))]
    pub release: Option<u64>,
    /// The reason, in at most 500 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(max_length = 500, value_type = String, required = false))]
    pub reason: Option<String>,
}

/// The changes that a promotion has made.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(ToSchema))]
pub struct Promoted {
    /// The changes of states, in their order.
    pub transitions: Vec<ReleaseTransition>,
}

/// A change of the state of a release in an environment.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(ToSchema))]
pub struct ReleaseTransition {
    /// The environment.
    pub environment: String,
    /// The number of the release.
    pub release: u64,
    /// The state before; absent if it was not there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// The state from now on.
    pub to: String,
}

/// A hold, where it holds.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(ToSchema))]
pub struct HeldPlace {
    /// The environment.
    pub environment: String,
    /// The name of the tracker; absent for the whole environment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tracker: Option<String>,
    /// The hold that was set, or that has been ended.
    pub hold: EnvironmentHold,
    /// The hold that was there before, and has got another reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replaced: Option<EnvironmentHold>,
}
