//! ClusterDelivery: the way of deliverables.

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    BlueprintParam, BlueprintStatus, LegacySelector, ResourceReference, ServiceAccountRef,
    TemplateOption,
};

/// The way of deliverables: which templates are stamped, and what flows between them.
#[derive(Debug, Clone, PartialEq, CustomResource, Serialize, Deserialize, JsonSchema)]
#[kube(
    group = "carto.run",
    version = "v1alpha1",
    kind = "ClusterDelivery",
    plural = "clusterdeliveries",
    status = "BlueprintStatus",
    shortname = "cd",
    doc = "The way of deliverables into an environment.",
    printcolumn = r#"{"name": "Ready", "type": "string", "jsonPath": ".status.conditions[?(@.type=='Ready')].status"}"#,
    printcolumn = r#"{"name": "Reason", "type": "string", "jsonPath": ".status.conditions[?(@.type=='Ready')].reason"}"#,
    printcolumn = r#"{"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"}"#
)]
#[serde(rename_all = "camelCase")]
pub struct ClusterDeliverySpec {
    /// The deliverables this delivery is for.
    #[serde(flatten)]
    pub selector: LegacySelector,
    /// The steps. Their order in this list does not matter.
    pub resources: Vec<DeliveryResource>,
    /// Parameters for all resources.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub params: Option<Vec<BlueprintParam>>,
    /// The service account under which objects are stamped, unless the deliverable names one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service_account_ref: Option<ServiceAccountRef>,
}

/// One step of a delivery.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DeliveryResource {
    /// The name by which other resources and the status know it.
    pub name: String,
    /// The template to stamp, or several to choose from.
    pub template_ref: DeliveryTemplateRef,
    /// Parameters for this resource.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub params: Option<Vec<BlueprintParam>>,
    /// Resources that give a source: `$(sources.<name>.url)$`, `$(sources.<name>.revision)$`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sources: Option<Vec<ResourceReference>>,
    /// Resources that give a configuration: `$(configs.<name>.config)$`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub configs: Option<Vec<ResourceReference>>,
    /// The resource to deploy: `$(deployment.url)$`, `$(deployment.revision)$`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deployment: Option<DeploymentReference>,
}

/// The template of a resource in a delivery.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DeliveryTemplateRef {
    /// The kind of the template or templates.
    pub kind: DeliveryTemplateKind,
    /// The one template. Either this or `options`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1))]
    pub name: Option<String>,
    /// Templates to choose from. Either this or `name`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 2))]
    pub options: Option<Vec<TemplateOption>>,
}

/// The kinds of templates in a delivery.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[expect(
    missing_docs,
    reason = "the names say it; docs would split the schema's enum"
)]
pub enum DeliveryTemplateKind {
    ClusterSourceTemplate,
    ClusterDeploymentTemplate,
    ClusterTemplate,
    ClusterConfigTemplate,
}

/// Names the resource whose source is deployed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DeploymentReference {
    /// The resource that produces it.
    pub resource: String,
}
