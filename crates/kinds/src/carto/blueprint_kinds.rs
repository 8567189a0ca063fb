//! ClusterSupplyChain and ClusterDelivery: one shape, two kinds of owners.

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{BlueprintSpec, BlueprintStatus};

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
pub struct ClusterSupplyChainSpec {
    /// The spec of all blueprints; a supply chain has no `deployment`.
    #[serde(flatten)]
    pub blueprint: BlueprintSpec,
}

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
pub struct ClusterDeliverySpec {
    /// The spec of all blueprints; a delivery has no `images`.
    #[serde(flatten)]
    pub blueprint: BlueprintSpec,
}
