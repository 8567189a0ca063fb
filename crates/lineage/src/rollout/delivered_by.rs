//! The deliveries that a rollout across git was judged by.

use serde::{Deserialize, Serialize};

use crate::owner_lineage::OwnerLineage;
use crate::used::Used;

/// A delivery as it was when a rollout was judged by it.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct DeliveredBy {
    /// Its namespace.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// Its generation.
    pub generation: i64,
    /// The digest of its labels and annotations.
    #[serde(alias = "marks")]
    pub metadata_digest: String,
    /// The blueprint and the templates that it was reconciled with, with their generations.
    pub used: Used,
    /// The source that it was at.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub revision: Option<String>,
}

impl DeliveredBy {
    /// Returns the delivery of this name as it was when it was reconciled last.
    pub fn of(namespace: &str, name: &str, lineage: &OwnerLineage) -> Self {
        Self {
            namespace: namespace.to_owned(),
            name: name.to_owned(),
            generation: lineage.generation,
            metadata_digest: lineage.metadata_digest.clone(),
            used: lineage.used.clone(),
            revision: lineage.delivered().source.map(|it| it.shown().to_owned()),
        }
    }

    /// Tells whether the delivery has been changed since, by the generation and the
    /// [digest](crate::owner_lineage::metadata_digest) that it has now. One that was noted without a digest is not
    /// compared by it.
    pub fn is_outdated(&self, generation: i64, metadata_digest: &str) -> bool {
        let is_noted = !self.metadata_digest.is_empty();
        generation > self.generation || (is_noted && self.metadata_digest != metadata_digest)
    }
}
