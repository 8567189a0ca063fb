//! The lineage in the status of an owner.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::schema;

/// Something that was made, where it passed, and what it is made of.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MadeOf {
    /// The type: source, image, config, deployment or object.
    pub r#type: String,
    /// The name of a param, or the path of a field.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// A revision, a reference, a value; of a long one, its digest and how it begins.
    pub value: String,
    /// The address of a source.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// The resources that emitted it unchanged, in path order; the owner first if the owner gave it.
    pub passed: Vec<String>,
    /// The artifacts and inputs that it is made of, each of the same shape, with the evidence for that.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(schema_with = "schema::any_objects")]
    pub from: Vec<Value>,
    /// Whether something was left out for which there was no room.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cut: bool,
    /// The id by which the ledger can be asked for what was left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub artifact: Option<String>,
}

/// Something that the owner gives, and how far it has come.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct InputStatus {
    /// `param:NAME`, `field:PATH`, or `source` for a revision that the owner fixes.
    pub name: String,
    /// The value; of a long one, its digest and how it begins.
    pub value: String,
    /// Whether everything that it flows into is known to be made from it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arrived: Option<bool>,
    /// Whether it runs: it has arrived, and everything that it flows into has rolled out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub live: Option<Live>,
    /// Whether something is made from two values of it at once.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub mixed: bool,
    /// Whether nothing on the path reads it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unused: bool,
    /// Whether something was left out for which there was no room.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cut: bool,
    /// The id by which the ledger can be asked for what was left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub artifact: Option<String>,
}

/// Whether something runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Live {
    /// It runs, everywhere, and nothing older does.
    True,
    /// It does not, or not everywhere.
    False,
    /// Nothing says so.
    Unknown,
}
