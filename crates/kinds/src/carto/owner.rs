//! Workload and Deliverable, which a developer writes.

use k8s_openapi::api::core::v1::{EnvVar, ResourceRequirements};
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::OwnerStatus;
use crate::schema;

/// The application to build and run, for a supply chain to pick up.
#[derive(Debug, Clone, Default, PartialEq, CustomResource, Serialize, Deserialize, JsonSchema)]
#[kube(
    group = "carto.run",
    version = "v1alpha1",
    kind = "Workload",
    namespaced,
    status = "OwnerStatus",
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
    /// The location of the source code.
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

/// The configuration to deploy, for a delivery to pick up.
#[derive(Debug, Clone, Default, PartialEq, CustomResource, Serialize, Deserialize, JsonSchema)]
#[kube(
    group = "carto.run",
    version = "v1alpha1",
    kind = "Deliverable",
    namespaced,
    status = "OwnerStatus",
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
    /// The location of the configuration.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<Source>,
    /// The service account under which objects are stamped. Defaults to that of the delivery.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service_account_name: Option<String>,
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

/// The location of source code or configuration.
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

/// A git repository, and the revision of it to follow.
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
