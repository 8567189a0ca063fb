//! Keeps the derivations that what is there now, or is being made, goes back to.

use std::collections::{BTreeMap, BTreeSet};

use crate::artifact::ArtifactId;
use crate::chain::Chain;
use crate::derivation::Derivation;
use crate::origin::Origin;
use crate::resource_history::ResourceHistory;
use crate::state::State;

/// The most derivations that a resource may have before unused ones are looked for.
const BEFORE_SWEEP: usize = 32;

/// Forgets derivations that nothing goes back to, once a resource has many.
pub(super) fn forget_unused(chain: &Chain, histories: &mut BTreeMap<String, ResourceHistory>) {
    if histories.values().all(|it| it.remembered() <= BEFORE_SWEEP) {
        return;
    }
    let used = used(chain, histories);
    for (name, history) in histories {
        history.retain(|output| used.contains(&(name.clone(), output)));
    }
}

impl State {
    /// Returns how everything came to be that is there now, or is being made.
    pub(crate) fn in_use(&self) -> Vec<&Derivation> {
        let sinks = self.histories.values().filter_map(ResourceHistory::current);
        let sinks = sinks.filter(|it| it.output.is_none());
        let used = used(&self.chain, &self.histories);
        let used = used.into_iter();
        let used = used.filter_map(|(name, output)| self.derivation(&name, output));
        used.chain(sinks).collect()
    }
}

/// Returns the outputs, by resource, that what is there now goes back to; consumers come first, so
/// that what they use is known when their producers are looked at.
fn used(
    chain: &Chain,
    histories: &BTreeMap<String, ResourceHistory>,
) -> BTreeSet<(String, ArtifactId)> {
    let mut used = BTreeSet::new();
    for resource in chain.in_path_order().rev() {
        let Some(history) = histories.get(&resource.name) else {
            continue;
        };
        let current = history.current().and_then(|it| it.output.as_ref());
        used.extend(current.map(|output| (resource.name.clone(), output.id())));
        let mut upstream = |origin: &Origin, input: ArtifactId| {
            if let Origin::Resource(producer) = origin {
                used.insert((producer.clone(), input));
            }
        };
        for (origin, input) in history.in_the_making(&resource.tracing).flatten() {
            upstream(origin, input.id());
        }
        for (origin, edge) in history.current().into_iter().flat_map(|it| &it.from) {
            upstream(origin, edge.artifact.id());
        }
        let needed: Vec<_> = used
            .iter()
            .filter(|(name, _)| *name == resource.name)
            .filter_map(|(_, output)| history.derivation(*output))
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
