//! Whether a look shows anything that is not known already.

use pathline_blueprint::template::Template;
use pathline_lineage::{Inputs, InputsId, Template as Used};
use serde_json::Value;

use super::sighting::used;

/// Stands for all that one look at one resource shows: the same version shows the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Version {
    template: Used,
    inputs_id: InputsId,
    /// Uid and resourceVersion of the objects: of the one that carries what was rendered, and of
    /// the one that the output is read from.
    objects: Vec<[String; 2]>,
}

impl Version {
    /// Returns the version of a look at objects.
    pub(crate) fn of<'v>(
        template: &Template,
        inputs_id: &InputsId,
        objects: impl IntoIterator<Item = &'v Value>,
    ) -> Self {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let version = |object: &Value| {
            let metadata = &object["metadata"];
            [text(&metadata["uid"]), text(&metadata["resourceVersion"])]
        };
        Self {
            template: used(template),
            inputs_id: inputs_id.clone(),
            objects: objects.into_iter().map(version).collect(),
        }
    }

    /// Returns the version of a look at a resource that hands an input on.
    pub(crate) fn passed(inputs: &Inputs) -> Self {
        Self {
            template: Used::default(),
            inputs_id: InputsId::of(inputs),
            objects: Vec::new(),
        }
    }
}
