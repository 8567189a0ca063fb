//! Parts that the kinds of several workers have.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::volume::VariableSource;

/// A variable in the environment of a command.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Variable {
    /// The name.
    #[schemars(regex(pattern = r"^[A-Za-z_][A-Za-z0-9_]*$"))]
    pub name: String,
    /// The value.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub value: String,
    /// The place of the value, instead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value_from: Option<VariableSource>,
}

/// Names a Secret in the same namespace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SecretReference {
    /// The name of the Secret; it must have `username` and `password`.
    pub name: String,
}

/// Files to work on, as a source worker published them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Source {
    /// The address of the archive; `file://` only.
    pub url: String,
    /// The revision the archive was made from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revision: Option<String>,
}
