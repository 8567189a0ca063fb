//! The `artifactTracing` of a template.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The rules that tell which inputs an output of the stamped object was made from.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ArtifactTracing {
    /// The JSONPath, in the stamped object, of the generation its controller has observed. Declare it
    /// only if the controller sets it together with the outputs of that generation, or after them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_generation_path: Option<String>,
    /// Pairs of an input and a field of the stamped object that are equal once it was made from that
    /// input. Each proves the input it names, and no other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub correlation_rules: Option<Vec<CorrelationRule>>,
    /// The objects that run what was stamped, if they are not found through its owner references.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub live_selector: Option<LiveSelector>,
}

/// An input, and where the stamped object says that it used it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CorrelationRule {
    /// The input, as the template knows it, such as `source.revision` or `params.debug`.
    pub input: String,
    /// The JSONPath of what was used in the stamped object, such as `.status.builtRevision`.
    pub output: String,
}

/// Objects in the namespace of the owner that run what was stamped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LiveSelector {
    /// Their API version, such as `apps/v1`.
    #[schemars(length(min = 1))]
    pub api_version: String,
    /// Their kind, such as `Deployment`.
    #[schemars(length(min = 1))]
    pub kind: String,
    /// Labels with the values they must have. `$(...)$` stands for a field of the stamped object, such
    /// as `$(metadata.name)$`.
    pub match_labels: BTreeMap<String, String>,
}
