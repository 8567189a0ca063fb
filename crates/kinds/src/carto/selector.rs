//! Selectors as they are written.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::lenient;
use crate::schema;

/// The relation of a key to values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[expect(
    missing_docs,
    reason = "the names say it; docs would split the schema's enum"
)]
pub enum Operator {
    In,
    NotIn,
    Exists,
    DoesNotExist,
}

impl Operator {
    /// Every operator.
    pub const ALL: [Self; 4] = [Self::In, Self::NotIn, Self::Exists, Self::DoesNotExist];

    /// Returns the operator as it is written.
    pub fn name(self) -> &'static str {
        match self {
            Self::In => "In",
            Self::NotIn => "NotIn",
            Self::Exists => "Exists",
            Self::DoesNotExist => "DoesNotExist",
        }
    }

    /// Returns the operator that is written so, if there is one.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|known| known.name() == name)
    }
}

/// One requirement on the labels of an owner.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LabelSelectorRequirement {
    /// The label.
    pub key: String,
    /// The relation of the label to the values: In, NotIn, Exists or DoesNotExist.
    pub operator: String,
    /// The values, for In and NotIn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub values: Option<Vec<String>>,
}

/// One requirement on a field of an owner.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FieldSelectorRequirement {
    /// The JSONPath of the field in the owner, such as `spec.source.git.url`.
    #[schemars(length(min = 1))]
    pub key: String,
    /// The relation of the field to the values. One that does not exist makes its selector an error.
    #[schemars(with = "Operator")]
    pub operator: String,
    /// The values, for In and NotIn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub values: Option<Vec<String>>,
}

/// Says which owners a resource or an option is for. All requirements must hold.
///
/// Fields may be written in more than one way, see [`crate::lenient`].
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-map-type" = "atomic"))]
pub struct Selector {
    /// Labels with the values they must have.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub match_labels: Option<BTreeMap<String, String>>,
    /// Requirements on labels.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub match_expressions: Option<Vec<LabelSelectorRequirement>>,
    /// Requirements on fields.
    #[serde(
        default,
        deserialize_with = "lenient::deserialize_fields",
        skip_serializing_if = "Option::is_none"
    )]
    #[schemars(schema_with = "schema::any_value")]
    pub match_fields: Option<Vec<FieldSelectorRequirement>>,
}

/// Says which owners a blueprint is for, in the older spelling that blueprints keep.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LegacySelector {
    /// Labels with the values they must have.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub selector: Option<BTreeMap<String, String>>,
    /// Requirements on labels.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub selector_match_expressions: Option<Vec<LabelSelectorRequirement>>,
    /// Requirements on fields.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub selector_match_fields: Option<Vec<FieldSelectorRequirement>>,
}

impl From<LegacySelector> for Selector {
    fn from(mut legacy: LegacySelector) -> Self {
        for field in legacy.selector_match_fields.iter_mut().flatten() {
            lenient::correct_key(&mut field.key);
        }
        Self {
            match_labels: legacy.selector,
            match_expressions: legacy.selector_match_expressions,
            match_fields: legacy.selector_match_fields,
        }
    }
}
