//! The five kinds of templates: how an object is stamped, judged and read.

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{ArtifactTracing, Operator};
use crate::schema;

/// Stamps an object that gives a source.
#[derive(Debug, Clone, PartialEq, CustomResource, Serialize, Deserialize, JsonSchema)]
#[kube(
    group = "carto.run",
    version = "v1alpha1",
    kind = "ClusterSourceTemplate",
    shortname = "cst",
    doc = "Stamps an object that gives a source: a url and a revision."
)]
#[serde(rename_all = "camelCase")]
pub struct ClusterSourceTemplateSpec {
    /// The spec of all templates.
    #[serde(flatten)]
    pub template: TemplateSpec,
    /// The JSONPath of the url in the stamped object.
    pub url_path: String,
    /// The JSONPath of the revision in the stamped object.
    pub revision_path: String,
}

/// Stamps an object that gives an image.
#[derive(Debug, Clone, PartialEq, CustomResource, Serialize, Deserialize, JsonSchema)]
#[kube(
    group = "carto.run",
    version = "v1alpha1",
    kind = "ClusterImageTemplate",
    shortname = "cit",
    doc = "Stamps an object that gives an image."
)]
#[serde(rename_all = "camelCase")]
pub struct ClusterImageTemplateSpec {
    /// The spec of all templates.
    #[serde(flatten)]
    pub template: TemplateSpec,
    /// The JSONPath of the image in the stamped object.
    pub image_path: String,
}

/// Stamps an object that gives a configuration.
#[derive(Debug, Clone, PartialEq, CustomResource, Serialize, Deserialize, JsonSchema)]
#[kube(
    group = "carto.run",
    version = "v1alpha1",
    kind = "ClusterConfigTemplate",
    shortname = "cct",
    doc = "Stamps an object that gives a configuration."
)]
#[serde(rename_all = "camelCase")]
pub struct ClusterConfigTemplateSpec {
    /// The spec of all templates.
    #[serde(flatten)]
    pub template: TemplateSpec,
    /// The JSONPath of the configuration in the stamped object.
    pub config_path: String,
}

/// Stamps an object that gives nothing.
#[derive(Debug, Clone, PartialEq, CustomResource, Serialize, Deserialize, JsonSchema)]
#[kube(
    group = "carto.run",
    version = "v1alpha1",
    kind = "ClusterTemplate",
    shortname = "ct",
    doc = "Stamps an object from which nothing is read."
)]
#[serde(rename_all = "camelCase")]
pub struct ClusterTemplateSpec {
    /// The spec of all templates.
    #[serde(flatten)]
    pub template: TemplateSpec,
}

/// Stamps an object that deploys, and says how to see that it has.
#[derive(Debug, Clone, PartialEq, CustomResource, Serialize, Deserialize, JsonSchema)]
#[kube(
    group = "carto.run",
    version = "v1alpha1",
    kind = "ClusterDeploymentTemplate",
    shortname = "cdt",
    doc = "Stamps an object that deploys a source, and hands it on once it is deployed."
)]
#[serde(rename_all = "camelCase")]
pub struct ClusterDeploymentTemplateSpec {
    /// The spec of all templates.
    #[serde(flatten)]
    pub template: TemplateSpec,
    /// Pairs of fields that are equal once the object has deployed. Either this or `observedCompletion`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_matches: Option<Vec<ObservedMatch>>,
    /// The conditions that the object shows once it has deployed or failed to. Either this or `observedMatches`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_completion: Option<ObservedCompletion>,
}

/// The fields that all templates have.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TemplateSpec {
    /// The object to stamp, with `$(...)$` where values go. Either this or `ytt`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "schema::any_object")]
    pub template: Option<Value>,
    /// The object to stamp, as a ytt template. Either this or `template`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ytt: Option<String>,
    /// Parameters with their defaults.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub params: Option<Vec<TemplateParam>>,
    /// The rule by which the stamped object is healthy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub health_rule: Option<HealthRule>,
    /// Whether the stamped object is changed, or a new one is made, when its inputs change.
    #[serde(default)]
    pub lifecycle: Lifecycle,
    /// The number of finished objects that are kept, if each change makes a new one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retention_policy: Option<RetentionPolicy>,
    /// The rules that tell which inputs an output was made from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub artifact_tracing: Option<ArtifactTracing>,
}

/// A parameter of a template.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TemplateParam {
    /// The name in `$(params.<name>)$`.
    pub name: String,
    /// The value unless a blueprint or an owner sets one.
    #[schemars(schema_with = "schema::any_value")]
    pub default: Value,
}

/// The lifecycle of a stamped object: what happens to it when its inputs change.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[expect(
    missing_docs,
    reason = "the names say it; docs would split the schema's enum"
)]
pub enum Lifecycle {
    #[default]
    Mutable,
    Immutable,
    Tekton,
}

impl Lifecycle {
    /// Returns the lifecycle as the API spells it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Mutable => "mutable",
            Self::Immutable => "immutable",
            Self::Tekton => "tekton",
        }
    }
}

/// The number of finished objects that are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RetentionPolicy {
    /// The number of those that failed.
    #[schemars(range(min = 1))]
    pub max_failed_runs: i64,
    /// The number of those that succeeded.
    #[schemars(range(min = 1))]
    pub max_successful_runs: i64,
}

impl Default for RetentionPolicy {
    /// Returns what Runnables, and templates whose objects are never changed, have if they do not say.
    fn default() -> Self {
        Self {
            max_failed_runs: 10,
            max_successful_runs: 10,
        }
    }
}

/// The rule by which a stamped object is healthy. Exactly one field is set.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct HealthRule {
    /// The object is healthy as soon as it exists.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "schema::any_object")]
    pub always_healthy: Option<Value>,
    /// The condition of the object that tells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub single_condition_type: Option<String>,
    /// Conditions and fields of the object that tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub multi_match: Option<MultiMatchRule>,
}

/// Conditions and fields that tell whether an object is healthy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MultiMatchRule {
    /// The object is healthy if all of these hold.
    pub healthy: HealthMatchRule,
    /// The object is unhealthy if any of these holds.
    pub unhealthy: HealthMatchRule,
}

/// Requirements on an object's conditions and fields.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct HealthMatchRule {
    /// Requirements on conditions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub match_conditions: Option<Vec<ConditionRequirement>>,
    /// Requirements on fields.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub match_fields: Option<Vec<HealthFieldRequirement>>,
}

/// A condition and the status it must have.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ConditionRequirement {
    /// The type of the condition.
    pub r#type: String,
    /// The status it must have.
    pub status: String,
}

/// A requirement on a field of a stamped object.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct HealthFieldRequirement {
    /// The JSONPath of the field.
    #[schemars(length(min = 1))]
    pub key: String,
    /// The relation of the field to the values.
    pub operator: Operator,
    /// The values, for In and NotIn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub values: Option<Vec<String>>,
    /// The JSONPath of a message to show if this requirement decides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message_path: Option<String>,
}

/// Two fields that are equal once an object has deployed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ObservedMatch {
    /// The JSONPath of what was asked for, usually in the spec.
    pub input: String,
    /// The JSONPath of what has come to be, usually in the status.
    pub output: String,
}

/// The conditions that an object shows once it has deployed, or failed to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ObservedCompletion {
    /// Holds once the object has deployed.
    pub succeeded: CompletionCondition,
    /// Holds once the object has failed to deploy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed: Option<CompletionCondition>,
}

/// A field and the value it must have.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CompletionCondition {
    /// The JSONPath of the field.
    pub key: String,
    /// The value it must have.
    pub value: String,
}
