//! Runnable and ClusterRunTemplate: objects that are made anew for every change of their inputs.

use std::collections::BTreeMap;

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Condition, RetentionPolicy};
use crate::schema;

/// The template to run, its inputs, and the number of runs to keep.
#[derive(Debug, Clone, PartialEq, CustomResource, Serialize, Deserialize, JsonSchema)]
#[kube(
    group = "carto.run",
    version = "v1alpha1",
    kind = "Runnable",
    namespaced,
    status = "RunnableStatus",
    shortname = "run",
    doc = "Runs a template anew whenever its inputs change, and keeps the outputs of the last success.",
    printcolumn = r#"{"name": "Ready", "type": "string", "jsonPath": ".status.conditions[?(@.type=='Ready')].status"}"#,
    printcolumn = r#"{"name": "Reason", "type": "string", "jsonPath": ".status.conditions[?(@.type=='Ready')].reason"}"#,
    printcolumn = r#"{"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"}"#
)]
#[serde(rename_all = "camelCase")]
pub struct RunnableSpec {
    /// The template to run.
    pub run_template_ref: RunTemplateRef,
    /// Another object the template can read, as `$(selected)$`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub selector: Option<RunnableSelector>,
    /// Values the template can read: `$(runnable.spec.inputs.<name>)$`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "schema::any_values")]
    pub inputs: Option<BTreeMap<String, Value>>,
    /// The service account under which runs are created. Defaults to `default` of the namespace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service_account_name: Option<String>,
    /// The number of finished runs that are kept.
    #[serde(default)]
    pub retention_policy: RetentionPolicy,
}

/// Names the template that a Runnable runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RunTemplateRef {
    /// Always taken as ClusterRunTemplate, whatever is written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// The name of the template.
    #[schemars(length(min = 1))]
    pub name: String,
}

/// Says which other object a Runnable reads. Exactly one must match.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RunnableSelector {
    /// The type of the object.
    pub resource: SelectedResource,
    /// Labels with the values they must have.
    pub matching_labels: BTreeMap<String, String>,
}

/// The type of an object that a Runnable reads.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SelectedResource {
    /// The group and version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub api_version: Option<String>,
    /// The kind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
}

/// The status of a Runnable.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RunnableStatus {
    /// The generation of the Runnable this status was made from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// The conditions of the Runnable; `Ready` sums them up.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<Condition>,
    /// The outputs of the newest successful run, by the names of the template's outputs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "schema::any_values")]
    pub outputs: Option<BTreeMap<String, Value>>,
    /// The inputs that the run was given which gave the outputs, by the id that the Runnable
    /// carried then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub made_from: Option<String>,
}

/// The object that a Runnable makes, and what is read from it.
#[derive(Debug, Clone, PartialEq, CustomResource, Serialize, Deserialize, JsonSchema)]
#[kube(
    group = "carto.run",
    version = "v1alpha1",
    kind = "ClusterRunTemplate",
    shortname = "crt",
    doc = "The object a Runnable makes for each change of its inputs."
)]
pub struct ClusterRunTemplateSpec {
    /// The object to make, with `$(...)$` where values go.
    #[schemars(schema_with = "schema::any_object")]
    pub template: Value,
    /// The JSONPaths of the outputs in the newest object whose `Succeeded` condition is True, by name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outputs: Option<BTreeMap<String, String>>,
}
