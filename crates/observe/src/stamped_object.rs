//! A stamped object, as the API server answered when it was written or read.

use pathline_kinds::carto::StampedReference;
use pathline_lineage::rollout::{ConfigKind, ConfigObservation};
use serde_json::Value;

/// A stamped object as it is in the cluster.
#[derive(Debug, Clone, PartialEq)]
pub struct StampedObject {
    /// The reference by which the status names it.
    pub reference: StampedReference,
    /// The object.
    pub object: Value,
    /// The object as it was before it was written, if it was there and was written.
    pub before: Option<Value>,
    /// The write that made it so.
    pub write: Write,
    /// The version since which its content was the same up to what was found before the write, where it
    /// has one and was watched.
    pub steady_since: Option<u64>,
}

/// The write that a stamp needed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Write {
    /// Nothing: the object was as it should be.
    Nothing,
    /// The object was created.
    Created,
    /// The object was changed. What others had set was taken from them, if anything.
    Patched {
        /// Whose fields were taken, in the words of the cluster.
        taken: Vec<String>,
    },
}

impl StampedObject {
    /// Reads it as a ConfigMap or Secret, if what was rendered is one. `manager` is the name under which
    /// Pathline writes.
    pub(crate) fn config(&self, rendered: &Value, manager: &str) -> Option<ConfigObservation> {
        let kind = ConfigKind::of(rendered)?;
        let before = self.before.as_ref();
        let is_created = self.write == Write::Created;
        let config = ConfigObservation::read(kind, &self.object, before, is_created, manager);
        Some(config.steady_since(self.steady_since))
    }
}
