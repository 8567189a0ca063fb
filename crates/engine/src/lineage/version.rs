//! Whether a look shows anything that is not known already.

use pathline_blueprint::template::Template;
use pathline_lineage::{Inputs, InputsId};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::sighting::used;

/// Stands for all that one look at one resource shows: the same version shows the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Version([u8; 32]);

impl Version {
    /// Returns the version of a look at objects: the one that carries what was rendered, and the
    /// one that the output is read from.
    pub(crate) fn of<'v>(
        template: &Template,
        inputs_id: &InputsId,
        objects: impl IntoIterator<Item = &'v Value>,
    ) -> Self {
        let state = |object: &'v Value| {
            let metadata = &object["metadata"];
            [&metadata["uid"], &metadata["resourceVersion"]]
        };
        let objects: Vec<[&Value; 2]> = objects.into_iter().map(state).collect();
        Self::digest(&json!([used(template), inputs_id, objects]))
    }

    /// Returns the version of a look at a resource that hands an input on.
    pub(crate) fn passed(inputs: &Inputs) -> Self {
        Self::digest(&json!(InputsId::of(inputs)))
    }

    fn digest(shown: &Value) -> Self {
        Self(Sha256::digest(shown.to_string()).into())
    }
}
