//! The way back: what something was made of, what that was made of, and so on.
//!
//! Paths may be thousands of resources long, so nothing here recurses.

use std::collections::BTreeSet;

use crate::artifact::ArtifactId;
use crate::derivation::Derivation;
use crate::origin::Origin;
use crate::state::State;

/// An output of a resource.
pub(crate) type Output = (String, ArtifactId);

impl State {
    /// Returns how an output came to be, and before it how all that it goes back to did: whatever
    /// something is made of stands before it. Outputs that are `known` already are left out.
    ///
    /// Paths change, and what was made on an older one may lead back to itself; then one of the two
    /// has to come first.
    pub(crate) fn way_back(
        &self,
        output: Output,
        known: impl Fn(&Output) -> bool,
    ) -> Vec<(Output, &Derivation)> {
        let mut way = Vec::new();
        let mut visited = BTreeSet::new();
        let mut open = vec![Step::Enter(output)];
        while let Some(step) = open.pop() {
            match step {
                Step::Enter(output) => {
                    if known(&output) || !visited.insert(output.clone()) {
                        continue;
                    }
                    let (resource, id) = &output;
                    let Some(made) = self.derivation(resource, *id) else {
                        continue;
                    };
                    open.push(Step::Leave(output, made));
                    open.extend(made.from.iter().filter_map(|(input, edge)| match input {
                        Origin::Resource(name) => {
                            Some(Step::Enter((name.clone(), edge.artifact.id())))
                        }
                        Origin::Owner(_) => None,
                    }));
                }
                Step::Leave(output, made) => way.push((output, made)),
            }
        }
        way
    }
}

enum Step<'a> {
    Enter(Output),
    /// All that it is made of has been left.
    Leave(Output, &'a Derivation),
}
