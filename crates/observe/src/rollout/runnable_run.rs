//! A run of a Runnable, by the inputs that it was given.

use pathline_kinds::split_api_version;
use pathline_lineage::rollout::Reference;
use serde_json::Value;

use crate::resource_observation;

/// A run, and the inputs that it was given.
#[derive(Debug, Clone, PartialEq)]
pub struct RunnableRun {
    /// The id of the inputs.
    pub inputs_id: String,
    /// The object of the run.
    pub object: Reference,
    /// Its uid.
    pub uid: String,
}

impl RunnableRun {
    /// Reads the object of a run.
    pub fn new(inputs_id: &str, run: &Value) -> Self {
        let text = |pointer: &str| resource_observation::text(run, pointer);
        let api_version = text("/apiVersion");
        let (group, version) = split_api_version(&api_version);
        Self {
            inputs_id: inputs_id.to_owned(),
            object: Reference {
                group: group.to_owned(),
                version: version.to_owned(),
                kind: text("/kind"),
                namespace: text("/metadata/namespace"),
                name: text("/metadata/name"),
            },
            uid: text("/metadata/uid"),
        }
    }
}
