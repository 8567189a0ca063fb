//! Versions tell whether an observation shows anything that is not known already.

use pathline_blueprint::template::Template;
use pathline_lineage::rollout::Object;
use pathline_lineage::{Inputs, InputsId};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::resource_observation::used;

/// Stands for all that one observation of a resource shows: the same version shows the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Version([u8; 32]);

impl Version {
    /// Returns the version of an observation of objects: the one that carries what was rendered, and the
    /// one that the output is read from.
    pub(crate) fn of<'v>(
        template: &Template,
        inputs_id: &InputsId,
        objects: impl IntoIterator<Item = &'v Object>,
    ) -> Self {
        let state = |object: &'v Object| [&object.uid, &object.version];
        let objects: Vec<[&String; 2]> = objects.into_iter().map(state).collect();
        Self::digest(&json!([used(template), inputs_id, objects]))
    }

    /// Returns the version of an observation of a resource that hands an input on.
    pub(crate) fn passed(inputs: &Inputs) -> Self {
        Self::digest(&json!(InputsId::of(inputs)))
    }

    fn digest(shown: &Value) -> Self {
        Self(Sha256::digest(shown.to_string()).into())
    }
}
