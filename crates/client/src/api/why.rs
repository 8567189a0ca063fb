//! Answers to why a release is not where it should be.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
#[cfg(feature = "openapi")]
use utoipa::ToSchema;

use super::{Impossible, ReleaseRef, WaitState};

/// The way of a release of a tracker, or the reasons why there is none.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(ToSchema))]
pub struct TrackerWhy {
    /// The name of the tracker.
    pub tracker: String,
    /// The release that is told about; absent where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub release: Option<ReleaseRef>,
    /// The answer for each environment, in the order in which releases go through them; empty without a release.
    pub environments: Vec<EnvironmentWhy>,
    /// The reasons why there is no such release, or why a newer one is not formed; one sentence each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reasons: Vec<String>,
}

/// The answer for one environment.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(ToSchema))]
pub struct EnvironmentWhy {
    /// The environment.
    pub environment: String,
    /// The state of the release there; absent if it has not got there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<String>,
    /// The answer in words; where somebody has to do something, with the command.
    pub sentence: String,
    /// The earliest instant at which it is taken there, if nobody does anything and nothing new is released.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(schema_with = super::schemas::time, required = false))]
    pub earliest: Option<Timestamp>,
    /// Whether it gets there no more, also if somebody promotes or resumes.
    pub never: bool,
    /// Whether it is live now, where it is what was deployed last; absent if that is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub live: Option<bool>,
}

/// The result of a wait for a release, as far as it is known.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(ToSchema))]
pub struct ReleaseWait {
    /// The answer that can be given now; never `unproven`, for what cannot be proven has failed.
    pub state: WaitState,
    /// The name of the tracker.
    pub tracker: String,
    /// The environment.
    pub environment: String,
    /// The number of the release that it is about; absent while there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub release: Option<u64>,
    /// The state of it there; absent if it has not got there.
    #[serde(default, rename = "entry", skip_serializing_if = "Option::is_none")]
    pub entry: Option<String>,
    /// The answer in words.
    pub sentence: String,
    /// The earliest instant at which it is taken there, if nobody does anything and nothing new is released.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(schema_with = super::schemas::time, required = false))]
    pub earliest: Option<Timestamp>,
    /// The reason why it can't happen any more: `failed`, `superseded`, `never` or `gone`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub impossible: Option<Impossible>,
}

impl ReleaseWait {
    /// Tells whether there is nothing more to wait for.
    pub fn is_decided(&self) -> bool {
        self.state != WaitState::Waiting
    }
}
