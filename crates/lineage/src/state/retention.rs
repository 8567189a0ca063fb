//! Which derivations are remembered: those that what is there now, or is being made, goes back to.

use std::collections::{BTreeMap, BTreeSet};

use crate::artifact::ArtifactId;
use crate::chain::Chain;
use crate::derivation::Derivation;
use crate::memory::Memory;
use crate::origin::Origin;
use crate::state::State;

/// How many derivations a resource may have before unused ones are looked for.
const BEFORE_SWEEP: usize = 32;

/// Forgets derivations that nothing goes back to, once a resource has many.
pub(super) fn forget_unused(chain: &Chain, memories: &mut BTreeMap<String, Memory>) {
    if memories.values().all(|it| it.remembered() <= BEFORE_SWEEP) {
        return;
    }
    let used = used(chain, memories);
    for (name, memory) in memories {
        memory.retain(|output| used.contains(&(name.clone(), output)));
    }
}

impl State {
    /// Returns how everything came to be that is there now, or is being made.
    pub(crate) fn in_use(&self) -> Vec<&Derivation> {
        let sinks = self.memories.values().filter_map(Memory::current);
        let sinks = sinks.filter(|it| it.output.is_none());
        let used = used(&self.chain, &self.memories);
        let used = used.into_iter();
        let used = used.filter_map(|(name, output)| self.derivation(&name, output));
        used.chain(sinks).collect()
    }
}

/// Returns the outputs, by resource, that what is there now goes back to; consumers come first, so
/// that what they use is known when their producers are looked at.
fn used(chain: &Chain, memories: &BTreeMap<String, Memory>) -> BTreeSet<(String, ArtifactId)> {
    let mut used = BTreeSet::new();
    for resource in chain.in_path_order().rev() {
        let Some(memory) = memories.get(&resource.name) else {
            continue;
        };
        let current = memory.current().and_then(|it| it.output.as_ref());
        used.extend(current.map(|output| (resource.name.clone(), output.id())));
        let mut upstream = |origin: &Origin, input: ArtifactId| {
            if let Origin::Resource(producer) = origin {
                used.insert((producer.clone(), input));
            }
        };
        for (origin, input) in memory.in_the_making(&resource.tracing).flatten() {
            upstream(origin, input.id());
        }
        for (origin, edge) in memory.current().into_iter().flat_map(|it| &it.from) {
            upstream(origin, edge.artifact.id());
        }
        let needed: Vec<_> = used
            .iter()
            .filter(|(name, _)| *name == resource.name)
            .filter_map(|(_, output)| memory.derivation(*output))
            .flat_map(|it| &it.from)
            .map(|(origin, edge)| (origin.clone(), edge.artifact.id()))
            .collect();
        for (origin, input) in needed {
            if let Origin::Resource(producer) = origin {
                used.insert((producer, input));
            }
        }
    }
    used
}
