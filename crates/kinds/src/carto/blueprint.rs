//! The spec that supply chains and deliveries share, which is nearly all of it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{LegacySelector, Selector};
use crate::schema;

/// The templates that are stamped, the owners they are stamped for, and what flows between them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BlueprintSpec {
    /// The owners this blueprint is for.
    #[serde(flatten)]
    pub selector: LegacySelector,
    /// The steps. Their order in this list does not matter.
    pub resources: Vec<BlueprintResource>,
    /// Parameters for all resources.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub params: Option<Vec<BlueprintParam>>,
    /// The service account under which objects are stamped, unless the owner names one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service_account_ref: Option<ServiceAccountRef>,
}

/// One step of a blueprint.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BlueprintResource {
    /// The name by which other resources and the status know it.
    pub name: String,
    /// The template to stamp, or several to choose from.
    pub template_ref: TemplateRef,
    /// The owners this resource is for. It is skipped for all others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub selector: Option<Selector>,
    /// Parameters for this resource.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub params: Option<Vec<BlueprintParam>>,
    /// Resources that give a source: `$(sources.<name>.url)$`, `$(sources.<name>.revision)$`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sources: Option<Vec<ResourceReference>>,
    /// Resources that give an image: `$(images.<name>.image)$`. Only in supply chains.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub images: Option<Vec<ResourceReference>>,
    /// Resources that give a configuration: `$(configs.<name>.config)$`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub configs: Option<Vec<ResourceReference>>,
    /// The resource to deploy: `$(deployment.url)$`, `$(deployment.revision)$`. Only in deliveries.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deployment: Option<DeploymentReference>,
}

/// The template of a resource.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TemplateRef {
    /// The kind of the template or templates.
    pub kind: TemplateRefKind,
    /// The one template. Either this or `options`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1))]
    pub name: Option<String>,
    /// Templates to choose from. Either this or `name`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 2))]
    pub options: Option<Vec<TemplateOption>>,
}

/// The kinds of templates. Images are of supply chains, deployments of deliveries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[expect(
    missing_docs,
    reason = "the names say it; docs would split the schema's enum"
)]
pub enum TemplateRefKind {
    ClusterSourceTemplate,
    ClusterImageTemplate,
    ClusterDeploymentTemplate,
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
    /// The owners this option is for. Without one it is for all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub selector: Option<Selector>,
    /// Resources that give a source, if this option is chosen. It is only chosen if they are stamped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sources: Option<Vec<ResourceReference>>,
    /// Resources that give an image, if this option is chosen. It is only chosen if they are stamped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub images: Option<Vec<ResourceReference>>,
    /// Resources that give a configuration, if this option is chosen. It is only chosen if they are stamped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub configs: Option<Vec<ResourceReference>>,
}

/// Names the producer of an input, and the input.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ResourceReference {
    /// The name of the input in the template.
    pub name: String,
    /// The resource that produces it.
    pub resource: String,
}

/// Names the resource whose source is deployed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DeploymentReference {
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
