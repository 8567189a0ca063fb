//! The values of an owner's inputs that arrived, or went live, between two lineages.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::artifact::Artifact;
use crate::owner_lineage::{Input, Live, OwnerLineage};

/// A value of an owner's input that has arrived, or is live.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Arrived {
    /// The name of the input, such as `param:debug`.
    pub input: String,
    /// The value.
    pub artifact: Artifact,
    /// Whether it also runs, not only arrived.
    pub live: bool,
    /// The generation of the owner that carried it.
    pub generation: i64,
}

impl OwnerLineage {
    /// Returns the values that arrived, or went live, since an earlier lineage of the owner.
    pub fn arrived_since(&self, before: &Self) -> Vec<Arrived> {
        let before: BTreeMap<String, Input> = before
            .inputs()
            .into_iter()
            .map(|input| (input.name.clone(), input))
            .collect();
        let arrived = self.inputs().into_iter().filter(|input| {
            let old = before.get(&input.name);
            let old = old.filter(|old| old.artifact == input.artifact && old.arrived);
            let is_new = old.is_none_or(|old| old.live != input.live && is_live(input));
            input.arrived && is_new
        });
        arrived
            .map(|input| Arrived {
                live: is_live(&input),
                input: input.name,
                artifact: input.artifact,
                generation: self.generation,
            })
            .collect()
    }
}

fn is_live(input: &Input) -> bool {
    input.live == Some(Live::True)
}
