//! Conditions, the language in which every object of Kubernetes tells how it is.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One aspect of the state of an object.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Condition {
    /// Names the aspect, in CamelCase.
    #[schemars(
        length(max = 316),
        regex(
            pattern = r"^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$"
        )
    )]
    pub r#type: String,
    /// Says whether the aspect holds.
    pub status: ConditionStatus,
    /// Says why, in one CamelCase word that programs may rely on.
    #[schemars(
        length(min = 1, max = 1024),
        regex(pattern = r"^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$")
    )]
    pub reason: String,
    /// Says why, for people; may be empty.
    #[schemars(length(max = 32768))]
    pub message: String,
    /// The time at which this condition became what it is.
    pub last_transition_time: Time,
    /// The generation of the object that this condition was judged on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub observed_generation: Option<i64>,
}

/// The status of a condition: whether something holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[expect(
    missing_docs,
    reason = "the names say it; docs would split the schema's enum"
)]
pub enum ConditionStatus {
    True,
    False,
    Unknown,
}
