//! The way of a value from an origin to the resources it flows into.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use super::wait_for::Wanted;
use crate::artifact::Artifact;
use crate::back::Output;
use crate::chain::Resource;
use crate::derivation::Derivation;
use crate::origin::Origin;
use crate::state::State;

/// Follows one value from its origin over all ways.
pub(super) struct Way<'a> {
    state: &'a State,
    origin: &'a Origin,
    wanted: &'a Wanted,
    reached: BTreeSet<&'a str>,
    /// Outputs that were looked at, and whether they are made of the value.
    known: RefCell<BTreeMap<Output, bool>>,
}

impl<'a> Way<'a> {
    pub(super) fn new(state: &'a State, origin: &'a Origin, wanted: &'a Wanted) -> Self {
        Self {
            state,
            origin,
            wanted,
            reached: state.chain().reached_by(origin),
            known: RefCell::default(),
        }
    }

    /// Returns the resources that the origin flows into, producers first.
    pub(super) fn resources(&self) -> impl Iterator<Item = &'a Resource> {
        let path = self.state.chain().in_path_order();
        path.filter(|it| self.reached.contains(it.name.as_str()))
    }

    /// Tells whether what a resource makes now is made of the value.
    pub(super) fn is_in(&self, resource: &str) -> bool {
        let made = self.state.current(resource);
        made.is_some_and(|made| self.made(made))
    }

    /// Tells whether a resource was given something else on the way since it made what it makes now,
    /// and has not got to its last apply.
    pub(super) fn is_pending(&self, resource: &Resource) -> bool {
        let history = self.state.history_of(&resource.name);
        let made = self.state.current(&resource.name);
        history.zip(made).is_some_and(|(history, made)| {
            let mut inputs = made.from.keys().filter(|it| self.is_on_way(it));
            inputs.any(|it| history.has_moved_on(it, resource.tracing.immutable))
        })
    }

    /// Tells whether a resource was given the value: its object holds it, or would if it could be
    /// applied.
    pub(super) fn is_given_to(&self, resource: &Resource) -> bool {
        let history = self.state.history_of(&resource.name);
        let applied = history.and_then(|it| it.applied_last());
        let applied = applied.is_some_and(|inputs| self.all(inputs.iter()));
        applied || self.is_offered_to(resource)
    }

    /// Tells whether the object of a resource was last applied with the value.
    pub(super) fn is_applied_to(&self, resource: &Resource) -> bool {
        let history = self.state.history_of(&resource.name);
        let applied = history.and_then(|it| it.applied_last());
        applied.is_some_and(|inputs| self.all(inputs.iter()))
    }

    fn is_offered_to(&self, resource: &Resource) -> bool {
        let owned = resource
            .reads
            .iter()
            .filter_map(|name| Some((Origin::owner(name), self.state.owner().get(name)?.clone())));
        let produced = resource.upstream.iter().filter_map(|name| {
            let made = self.state.current(name)?;
            Some((Origin::resource(name), made.output.clone()?))
        });
        let offered: Vec<_> = owned.chain(produced).collect();
        self.all(offered.iter().map(|(origin, artifact)| (origin, artifact)))
    }

    fn is_on_way(&self, input: &Origin) -> bool {
        input == self.origin || self.reached.contains(input.name()) && !is_owner(input)
    }

    fn made(&self, made: &Derivation) -> bool {
        self.all(inputs_of(made))
    }

    /// Tells whether inputs have the value on all ways, and on at least one.
    fn all<'i>(&self, inputs: impl Iterator<Item = (&'i Origin, &'i Artifact)>) -> bool {
        self.all_by(inputs, |output| self.goes_back(output))
    }

    fn all_by<'i>(
        &self,
        inputs: impl Iterator<Item = (&'i Origin, &'i Artifact)>,
        goes_back: impl Fn(Output) -> bool,
    ) -> bool {
        let on_way = inputs.filter(|(input, _)| self.is_on_way(input));
        let mut on_way = on_way.peekable();
        on_way.peek().is_some()
            && on_way.all(|(input, artifact)| {
                if input == self.origin {
                    self.wanted.is(artifact)
                } else {
                    goes_back((input.name().to_owned(), artifact.id()))
                }
            })
    }

    fn goes_back(&self, output: Output) -> bool {
        let is_known = |it: &Output| self.known.borrow().contains_key(it);
        let known = |it: Output| self.known.borrow().get(&it).copied().unwrap_or(false);
        for (before, made) in self.state.way_back(output.clone(), is_known) {
            let is_made = self.all_by(inputs_of(made), known);
            self.known.borrow_mut().insert(before, is_made);
        }
        known(output)
    }
}

fn inputs_of(made: &Derivation) -> impl Iterator<Item = (&Origin, &Artifact)> {
    made.from
        .iter()
        .map(|(input, edge)| (input, &edge.artifact))
}

fn is_owner(origin: &Origin) -> bool {
    matches!(origin, Origin::Owner(_))
}
