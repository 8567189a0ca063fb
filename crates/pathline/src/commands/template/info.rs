//! `info.yaml`, in the format of Cartographer's `cartotest`.

use std::collections::BTreeMap;

use pathline_kinds::carto::BlueprintParam;
use serde::Deserialize;
use serde_json::Value;

/// Everything about a test that is not a file of its own.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Info {
    pub(super) given: Given,
    pub(super) expected: Option<String>,
    pub(super) compare_options: Option<CompareOptions>,
    /// Earlier versions had the options of the comparison here.
    #[serde(flatten)]
    pub(super) compare: CompareOptions,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Given {
    pub(super) template: GivenTemplate,
    pub(super) workload: Option<String>,
    pub(super) deliverable: Option<String>,
    pub(super) mock_supply_chain: Option<MockSupplyChain>,
    pub(super) supply_chain: Option<GivenSupplyChain>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct GivenTemplate {
    pub(super) path: Option<String>,
    #[serde(alias = "yttFiles")]
    pub(super) ytt_path: OneOrMore,
}

/// The inputs that a supply chain would give the template, without one.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct MockSupplyChain {
    pub(super) blueprint_inputs: MockInputs,
    pub(super) blueprint_params: Vec<BlueprintParam>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct MockInputs {
    pub(super) sources: BTreeMap<String, Value>,
    pub(super) images: BTreeMap<String, Value>,
    pub(super) configs: BTreeMap<String, Value>,
    pub(super) deployment: Option<Value>,
}

/// A supply chain, the resource that is rendered, and what the others have given.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct GivenSupplyChain {
    pub(super) paths: Vec<String>,
    #[serde(alias = "yttFiles")]
    pub(super) ytt_path: OneOrMore,
    pub(super) target_resource_name: Option<String>,
    pub(super) previous_outputs: Option<BTreeMap<String, Value>>,
}

/// The name of a file, or a list of such.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum OneOrMore {
    One(String),
    More(Vec<String>),
}

impl Default for OneOrMore {
    fn default() -> Self {
        Self::More(Vec::new())
    }
}

impl OneOrMore {
    pub(super) fn names(&self) -> &[String] {
        match self {
            Self::One(name) => std::slice::from_ref(name),
            Self::More(names) => names,
        }
    }
}

/// The parts that are left out of the comparison.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct CompareOptions {
    pub(super) ignore_metadata: Option<bool>,
    pub(super) ignore_owner_refs: Option<bool>,
    pub(super) ignore_labels: Option<bool>,
    pub(super) ignore_metadata_fields: Option<Vec<String>>,
}

impl CompareOptions {
    /// Returns these options, and where they say nothing, those of `above`.
    pub(super) fn or(self, above: &Self) -> Self {
        Self {
            ignore_metadata: self.ignore_metadata.or(above.ignore_metadata),
            ignore_owner_refs: self.ignore_owner_refs.or(above.ignore_owner_refs),
            ignore_labels: self.ignore_labels.or(above.ignore_labels),
            ignore_metadata_fields: self
                .ignore_metadata_fields
                .or_else(|| above.ignore_metadata_fields.clone()),
        }
    }
}
