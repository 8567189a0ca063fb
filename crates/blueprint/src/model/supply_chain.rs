//! ClusterSupplyChain, and what its resources share with those of a delivery.

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{BlueprintStatus, LegacySelector, Selector, schema};

/// The way of workloads: which templates are stamped, and what flows between them.
#[derive(Debug, Clone, PartialEq, CustomResource, Serialize, Deserialize, JsonSchema)]
#[kube(
    group = "carto.run",
    version = "v1alpha1",
    kind = "ClusterSupplyChain",
    status = "BlueprintStatus",
    shortname = "csc",
    doc = "The way of workloads from source to a deliverable state.",
    printcolumn = r#"{"name": "Ready", "type": "string", "jsonPath": ".status.conditions[?(@.type=='Ready')].status"}"#,
    printcolumn = r#"{"name": "Reason", "type": "string", "jsonPath": ".status.conditions[?(@.type=='Ready')].reason"}"#,
    printcolumn = r#"{"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"}"#
)]
#[serde(rename_all = "camelCase")]
pub struct ClusterSupplyChainSpec {
    /// The workloads this supply chain is for.
    #[serde(flatten)]
    pub selector: LegacySelector,
    /// The steps. Their order in this list does not matter.
    pub resources: Vec<SupplyChainResource>,
    /// Parameters for all resources.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub params: Option<Vec<BlueprintParam>>,
    /// The service account under which objects are stamped, unless the workload names one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service_account_ref: Option<ServiceAccountRef>,
}

/// One step of a supply chain.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SupplyChainResource {
    /// The name by which other resources and the status know it.
    pub name: String,
    /// The template to stamp, or several to choose from.
    pub template_ref: SupplyChainTemplateRef,
    /// Parameters for this resource.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub params: Option<Vec<BlueprintParam>>,
    /// Resources that give a source: `$(sources.<name>.url)$`, `$(sources.<name>.revision)$`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sources: Option<Vec<ResourceReference>>,
    /// Resources that give an image: `$(images.<name>.image)$`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub images: Option<Vec<ResourceReference>>,
    /// Resources that give a configuration: `$(configs.<name>.config)$`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub configs: Option<Vec<ResourceReference>>,
}

/// The template of a resource in a supply chain.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SupplyChainTemplateRef {
    /// The kind of the template or templates.
    pub kind: SupplyChainTemplateKind,
    /// The one template. Either this or `options`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1))]
    pub name: Option<String>,
    /// Templates to choose from. Either this or `name`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 2))]
    pub options: Option<Vec<TemplateOption>>,
}

/// The kinds of templates in a supply chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[expect(
    missing_docs,
    reason = "the names say it; docs would split the schema's enum"
)]
pub enum SupplyChainTemplateKind {
    ClusterSourceTemplate,
    ClusterImageTemplate,
    ClusterTemplate,
    ClusterConfigTemplate,
}

/// One of several templates of a resource.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TemplateOption {
    /// The template. Either this or `passThrough`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1))]
    pub name: Option<String>,
    /// The input to hand on instead of stamping. Either this or `name`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pass_through: Option<String>,
    /// The owners this option is for.
    pub selector: Selector,
}

/// Names the producer of an input, and the input.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ResourceReference {
    /// The name of the input in the template.
    pub name: String,
    /// The resource that produces it.
    pub resource: String,
}

/// A parameter that a blueprint sets for its templates.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BlueprintParam {
    /// The name under which templates know it.
    pub name: String,
    /// The value, which owners cannot change. Either this or `default`.
    #[serde(
        default,
        deserialize_with = "present",
        skip_serializing_if = "Option::is_none"
    )]
    #[schemars(schema_with = "schema::any_value")]
    pub value: Option<Value>,
    /// The value unless the owner sets one. Either this or `value`.
    #[serde(
        default,
        deserialize_with = "present",
        skip_serializing_if = "Option::is_none"
    )]
    #[schemars(schema_with = "schema::any_value")]
    pub default: Option<Value>,
}

/// Names a service account.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ServiceAccountRef {
    /// The name of the service account.
    pub name: String,
    /// Its namespace. Defaults to that of the owner.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
}

/// Keeps a null that was written apart from a value that was not.
fn present<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}
