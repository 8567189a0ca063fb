//! Workload and Deliverable: what a developer writes.

use k8s_openapi::api::core::v1::{EnvVar, ResourceRequirements};
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    Condition, InputStatus, Live, MadeOf, ObjectReference, PathEntry, ResourceStatus, schema,
};

/// What to build and run, for a supply chain to pick up.
#[derive(Debug, Clone, Default, PartialEq, CustomResource, Serialize, Deserialize, JsonSchema)]
#[kube(
    group = "carto.run",
    version = "v1alpha1",
    kind = "Workload",
    namespaced,
    status = "WorkloadStatus",
    shortname = "wld",
    category = "all",
    doc = "A piece of software on its way through a supply chain.",
    printcolumn = r#"{"name": "Source", "type": "string", "jsonPath": ".spec.source['git.url','image']"}"#,
    printcolumn = r#"{"name": "SupplyChain", "type": "string", "jsonPath": ".status.supplyChainRef.name"}"#,
    printcolumn = r#"{"name": "Ready", "type": "string", "jsonPath": ".status.conditions[?(@.type=='Ready')].status"}"#,
    printcolumn = r#"{"name": "Reason", "type": "string", "jsonPath": ".status.conditions[?(@.type=='Ready')].reason"}"#,
    printcolumn = r#"{"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"}"#
)]
#[serde(rename_all = "camelCase")]
pub struct WorkloadSpec {
    /// Parameters for the supply chain and its templates.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub params: Option<Vec<OwnerParam>>,
    /// Where the source code is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<Source>,
    /// Settings for the resources that build.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub build: Option<WorkloadBuild>,
    /// Environment variables of the running application.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub env: Option<Vec<EnvVar>>,
    /// A container image that is built already; the alternative to a source.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image: Option<String>,
    /// Resource limits of the running application.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resources: Option<ResourceRequirements>,
    /// The service account under which objects are stamped. Defaults to that of the supply chain.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service_account_name: Option<String>,
    /// Services the application needs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service_claims: Option<Vec<ServiceClaim>>,
}

/// What a Workload reports.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WorkloadStatus {
    /// The generation of the workload this status was made from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// How the workload is; `Ready` sums it up.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<Condition>,
    /// The supply chain that picked the workload up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub supply_chain_ref: Option<ObjectReference>,
    /// What became of each resource of the supply chain.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub resources: Vec<ResourceStatus>,
    /// The path through the supply chain, if it has several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub path: Vec<PathEntry>,
    /// What the path makes, and what that is made of.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outputs: Vec<MadeOf>,
    /// What the owner gives, and how far it has come.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub inputs: Vec<InputStatus>,
    /// Whether everything that the owner gives now runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub live: Option<Live>,
    /// The newest generation of the owner that is, or was, live.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub live_generation: Option<i64>,
}

/// What to deploy, for a delivery to pick up.
#[derive(Debug, Clone, Default, PartialEq, CustomResource, Serialize, Deserialize, JsonSchema)]
#[kube(
    group = "carto.run",
    version = "v1alpha1",
    kind = "Deliverable",
    namespaced,
    status = "DeliverableStatus",
    shortname = "dlv",
    category = "all",
    doc = "Configuration on its way through a delivery into an environment.",
    printcolumn = r#"{"name": "Source", "type": "string", "jsonPath": ".spec.source['git.url','image']"}"#,
    printcolumn = r#"{"name": "Delivery", "type": "string", "jsonPath": ".status.deliveryRef.name"}"#,
    printcolumn = r#"{"name": "Ready", "type": "string", "jsonPath": ".status.conditions[?(@.type=='Ready')].status"}"#,
    printcolumn = r#"{"name": "Reason", "type": "string", "jsonPath": ".status.conditions[?(@.type=='Ready')].reason"}"#,
    printcolumn = r#"{"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"}"#
)]
#[serde(rename_all = "camelCase")]
pub struct DeliverableSpec {
    /// Parameters for the delivery and its templates.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub params: Option<Vec<OwnerParam>>,
    /// Where the configuration is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<Source>,
    /// The service account under which objects are stamped. Defaults to that of the delivery.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service_account_name: Option<String>,
}

/// What a Deliverable reports.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DeliverableStatus {
    /// The generation of the deliverable this status was made from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// How the deliverable is; `Ready` sums it up.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<Condition>,
    /// The delivery that picked the deliverable up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delivery_ref: Option<ObjectReference>,
    /// What became of each resource of the delivery.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub resources: Vec<ResourceStatus>,
    /// The path through the delivery, if it has several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub path: Vec<PathEntry>,
    /// What the path makes, and what that is made of.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outputs: Vec<MadeOf>,
    /// What the owner gives, and how far it has come.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub inputs: Vec<InputStatus>,
    /// Whether everything that the owner gives now runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub live: Option<Live>,
    /// The newest generation of the owner that is, or was, live.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub live_generation: Option<i64>,
}

/// A parameter that an owner sets.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OwnerParam {
    /// The name under which blueprints and templates know it.
    pub name: String,
    /// Its value, of any shape; null is a value.
    #[schemars(schema_with = "schema::any_value")]
    pub value: Value,
}

/// Where source code or configuration is.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Source {
    /// A git repository.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub git: Option<GitSource>,
    /// An OCI image that holds the source.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image: Option<String>,
    /// The directory in the repository or image that is the root of the application.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sub_path: Option<String>,
}

/// A place in git.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GitSource {
    /// The repository.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// The revision to follow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub r#ref: Option<GitRef>,
}

/// A branch, a tag or a commit.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GitRef {
    /// The branch to follow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// The tag to use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tag: Option<String>,
    /// The commit to use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
}

/// Settings for the resources that build.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WorkloadBuild {
    /// Environment variables of the build.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub env: Option<Vec<EnvVar>>,
}

/// A service the application needs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ServiceClaim {
    /// The name the application knows it by.
    pub name: String,
    /// The object that provides it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub r#ref: Option<ServiceClaimReference>,
}

/// Names the object that provides a service.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ServiceClaimReference {
    /// The group and version of the object.
    pub api_version: String,
    /// The kind of the object.
    pub kind: String,
    /// The name of the object.
    pub name: String,
}
