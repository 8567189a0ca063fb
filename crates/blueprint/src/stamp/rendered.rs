//! A rendered object, ready to be written.

use serde_json::{Value, json};

use super::{APPLIED_ANNOTATION, INPUTS_ANNOTATION};
use crate::template_reads::Reads;

/// A rendered object, and what it was made from.
#[derive(Debug, Clone, PartialEq)]
pub struct Rendered {
    /// The object: filled in, placed, labelled, owned and remembered.
    pub object: Value,
    /// The values that went into it.
    pub reads: Reads,
}

impl Rendered {
    /// Returns the digest of what was rendered. It does not depend on [`Rendered::name_inputs`].
    pub fn digest(&self) -> &str {
        let digest = self.object["metadata"]["annotations"][APPLIED_ANNOTATION].as_str();
        digest.expect("every object remembers what was applied")
    }

    /// Writes on the object which inputs it was made from.
    ///
    /// An object that is changed is written again if these are others, though nothing else of it is
    /// different. A run is not made again: other inputs that render the same run are the same to it.
    pub fn name_inputs(&mut self, inputs_id: &str) {
        self.object["metadata"]["annotations"][INPUTS_ANNOTATION] = json!(inputs_id);
    }
}
