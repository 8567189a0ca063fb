//! `Environment`: a place that releases go to.

#![expect(
    clippy::duplicated_attributes,
    reason = "clippy takes the types of several columns for one attribute"
)]

use std::collections::BTreeMap;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::{CustomResource, CustomResourceExt};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::schema;

// The schema says no more than the types of fields, and keeps what it does not know: whatever else is wrong is told
// all at once, by the rules of releases.
/// The settings of an environment; either `type` or `position` is required.
#[derive(
    CustomResource, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema,
)]
#[kube(
    group = "pathline.dev",
    version = "v1alpha1",
    kind = "Environment",
    status = "EnvironmentStatus",
    shortname = "env",
    doc = "A place that releases go to, one after the other.",
    printcolumn(name = "Type", type_ = "string", json_path = ".spec.type"),
    printcolumn(name = "Position", type_ = "integer", json_path = ".spec.position"),
    printcolumn(name = "Namespace", type_ = "string", json_path = ".spec.namespace"),
    printcolumn(name = "Promotion", type_ = "string", json_path = ".spec.promotion"),
    printcolumn(
        name = "Ready",
        type_ = "string",
        json_path = ".status.conditions[?(@.type=='Ready')].status"
    ),
    printcolumn(
        name = "Age",
        type_ = "date",
        json_path = ".metadata.creationTimestamp"
    )
)]
#[schemars(extend("x-kubernetes-preserve-unknown-fields" = true))]
#[serde(rename_all = "camelCase")]
pub struct EnvironmentSpec {
    /// The type, which gives the position: `dev` (100), `ha` (200), `preprod` (300, also `perf`) or `prod` (400). Applications name it in `in`.
    #[serde(rename = "type", default, skip_serializing_if = "Option::is_none")]
    pub type_: Option<String>,
    /// The position, from 0 to 1000000, of an environment without a type. Several may share one; a release goes on when all of them have it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub position: Option<i64>,
    /// The namespace that is deployed into, of this environment alone; the name of the environment unless said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    /// The instants at which it takes a release: `second`, `minute`, `hour`, `date`, `month` (0 to 11), `year`, `dayOfWeek` (0, Sunday, to 6), each a number, a range such as "5-6", or a list of them. An empty one means each minute.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "schema::any_object")]
    pub release_frequency: Option<Map<String, Value>>,
    /// The time zone of `releaseFrequency`, such as `Europe/Berlin`; `UTC` unless said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_zone: Option<String>,
    /// Whether it takes releases by itself (`auto`, unless said) or holds them until somebody promotes them (`manual`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub promotion: Option<String>,
    /// The largest step that it takes by itself: `digest`, `patch`, `minor` or `major`; any unless said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accepts: Option<String>,
    /// The time for which a release has to be live in the environments before, such as `1h`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub soak: Option<String>,
    /// Times in which it takes nothing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub freezes: Vec<Freeze>,
    /// The time in which a deployment has to become live; `15m` unless said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ready_timeout: Option<String>,
    /// The end of a deployment that has failed: it is left as it is (`keep`, unless said), or the release that was deployed before is written again (`restore`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_failure: Option<String>,
    /// The applications that do not go here: `GROUP`, `*.NAME` or `GROUP.NAME`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub omit_from_deploy: Vec<String>,
    /// The object that is written for each application.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<Owner>,
    /// Settings of all applications here, below those of their groups and their own: `environment` and `resource`, as in an application file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "schema::any_object")]
    pub template: Option<Map<String, Value>>,
}

/// A time in which an environment takes nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(extend("x-kubernetes-preserve-unknown-fields" = true))]
pub struct Freeze {
    /// The first instant of it, such as `2026-12-24T00:00:00+01:00`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// The first instant after it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<String>,
    /// The reason, for those who wait.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// The object that is written for each application of an environment.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(extend("x-kubernetes-preserve-unknown-fields" = true))]
#[serde(rename_all = "camelCase")]
pub struct Owner {
    /// `Workload`, unless said, or `Deliverable`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// Labels of the object, by which a supply chain or a delivery selects it.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
    /// The service account of the namespace under which everything is written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service_account_name: Option<String>,
}

/// The status of an Environment: whether it is used.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EnvironmentStatus {
    /// The generation the conditions speak of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// `Ready`: True once releases go here, False with all that is wrong, or with the Environment that has the namespace.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<Condition>,
}

/// Returns the definitions of the kinds of releases.
pub fn crds() -> Vec<CustomResourceDefinition> {
    vec![schema::as_upstream(Environment::crd())]
}
