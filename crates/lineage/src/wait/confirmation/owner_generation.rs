//! The owner itself.

use crate::owner_lineage::OwnerLineage;

/// The generation at which an owner was reconciled last.
#[derive(Clone, Copy, Debug)]
pub struct OwnerGeneration(i64);

impl OwnerGeneration {
    pub(super) fn of(lineage: &OwnerLineage) -> Self {
        Self(lineage.generation)
    }

    /// Says that the owner has a generation by now that nobody has looked at: it may say again what was replaced.
    /// One that is gone has none, and says nothing again.
    pub fn difference(self, now: Option<i64>) -> Option<String> {
        let newer = now.filter(|now| *now > self.0)?;
        Some(format!(
            "generation {newer} of the owner has not been observed yet"
        ))
    }
}
