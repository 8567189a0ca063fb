//! The diamond: is something made from two values of one upstream at once?

use std::collections::{BTreeMap, BTreeSet};

use crate::arrival::Missing;
use crate::artifact::ArtifactId;
use crate::back::Output;
use crate::derivation::Derivation;
use crate::origin::Origin;
use crate::state::State;

impl State {
    /// Returns the first resource that an origin flows into whose current derivation goes back to
    /// two artifacts of the origin, or of a resource between the two.
    pub(crate) fn mixed(&self, origin: &Origin, reached: &BTreeSet<&str>) -> Option<Missing> {
        let between = reached.iter().map(|name| Origin::resource(*name));
        let upstreams: Vec<_> = [origin.clone()].into_iter().chain(between).collect();
        upstreams.into_iter().find_map(|upstream| {
            let mut shown = Shown {
                state: self,
                upstream: &upstream,
                known: BTreeMap::new(),
            };
            let resource = reached.iter().find(|name| {
                let current = self.current(name);
                current.is_some_and(|made| shown.by(made).len() > 1)
            })?;
            Some(Missing::Mixed {
                resource: (*resource).to_owned(),
                upstream: upstream.clone(),
            })
        })
    }
}

/// Finds the artifacts of one upstream that derivations go back to.
struct Shown<'a> {
    state: &'a State,
    upstream: &'a Origin,
    /// The values that were found, by resource and output.
    known: BTreeMap<Output, BTreeSet<ArtifactId>>,
}

impl Shown<'_> {
    /// Returns what a derivation goes back to.
    fn by(&mut self, made: &Derivation) -> BTreeSet<ArtifactId> {
        for (input, edge) in &made.from {
            if let Origin::Resource(producer) = input
                && input != self.upstream
            {
                let output = (producer.clone(), edge.artifact.id());
                let way = self
                    .state
                    .way_back(output, |it| self.known.contains_key(it));
                for (output, made) in way {
                    let shown = self.known_by(made);
                    self.known.insert(output, shown);
                }
            }
        }
        self.known_by(made)
    }

    /// Returns what a derivation goes back to, where that is known of all it is made of.
    fn known_by(&self, made: &Derivation) -> BTreeSet<ArtifactId> {
        let mut shown = BTreeSet::new();
        for (input, edge) in &made.from {
            let artifact = edge.artifact.id();
            if input == self.upstream {
                shown.insert(artifact);
            } else if let Origin::Resource(producer) = input {
                let known = self.known.get(&(producer.clone(), artifact));
                shown.extend(known.into_iter().flatten());
            }
        }
        shown
    }
}
