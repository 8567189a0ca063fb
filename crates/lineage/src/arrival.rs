//! Has a value arrived: is everything that it flows into made from it, as it is now?
//!
//! The search goes backwards, from the targets to the origin, over what each output was really made from. Forwards
//! from the value it would find everything that was ever made of it, and could not tell what is there now. A value
//! has arrived if it is found at the end of *every* way: a diamond of which one side is old is half of a release.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::artifact::Artifact;
use crate::back::Output;
use crate::chain::Resource;
use crate::clauses::Clause;
use crate::derivation::Derivation;
use crate::origin::Origin;
use crate::stamp::Inputs;
use crate::state::State;

/// The progress of a value. Everything in here was judged on one state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// The reasons why it has not arrived; empty if it has.
    pub missing: Vec<Missing>,
    /// Whether some resource is made from two values of the input, or of what it flows through.
    pub mixed: bool,
}

/// One reason why a value has not arrived.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Missing {
    /// Nothing selected reads the input.
    Unused,
    /// The resource whose output was asked about is not on the path.
    NotOnPath,
    /// Neither the owner nor any object on the path carries the value any more.
    Superseded,
    /// A resource has made nothing yet.
    Nothing {
        /// Its name.
        resource: String,
    },
    /// A resource made what it makes without reading the input.
    NotRead {
        /// Its name.
        resource: String,
        /// The input.
        input: Origin,
    },
    /// Nothing proves that what a resource makes was made from the input.
    Assumed {
        /// Its name.
        resource: String,
        /// The input.
        input: Origin,
    },
    /// A resource made what it makes from another value.
    Other {
        /// Its name.
        resource: String,
        /// The input.
        input: Origin,
        /// The other value.
        shown: String,
    },
    /// A resource was given another value since, or another object: what it made is history.
    Pending {
        /// Its name.
        resource: String,
        /// The input.
        input: Origin,
    },
    /// The derivation of an artifact is no longer remembered.
    Forgotten {
        /// The resource that made it.
        resource: String,
    },
    /// A resource is made from two values of one upstream.
    Mixed {
        /// Its name.
        resource: String,
        /// The upstream.
        upstream: Origin,
    },
}

impl Arrival {
    /// Tells whether every target is made from the value, by proven edges, on all ways.
    pub fn arrived(&self) -> bool {
        self.missing.is_empty()
    }

    /// Tells whether no selected resource reads the input.
    pub fn unused(&self) -> bool {
        self.missing.contains(&Missing::Unused)
    }

    /// Tells whether only proof is missing: no edge shows another value.
    pub fn only_assumed(&self) -> bool {
        let assumed = |it: &Missing| matches!(it, Missing::Assumed { .. });
        !self.missing.is_empty() && self.missing.iter().all(assumed)
    }
}

impl State {
    /// Tells how far a value of an origin has come; `wanted` recognizes the value.
    ///
    /// The origin is an input of the owner, or a resource (a source whose revision the resource
    /// finds for itself, say).
    pub fn arrival(&self, origin: &Origin, wanted: impl Fn(&Artifact) -> bool) -> Arrival {
        if let Some(reason) = self.off_path(origin) {
            return Arrival {
                missing: vec![reason],
                mixed: false,
            };
        }
        let reached = self.chain().reached_by(origin);
        let mut search = Search {
            state: self,
            origin,
            wanted: &wanted,
            reached: &reached,
            visited: BTreeSet::new(),
            missing: Vec::new(),
        };
        for target in self.targets_of(origin) {
            search.target(target);
        }
        // Targets alone can't tell A from A, B, A: they are made of A while B is still on its way down.
        if self.is_newest(origin, &wanted) {
            search.upstream();
        }
        let mut missing = search.missing;
        let mixed = self.mixed(origin, &reached);
        let is_mixed = mixed.is_some();
        missing.extend(mixed);
        // Not alone, but in front of all other reasons: that nothing carries the value explains them, and a value
        // that has arrived is not superseded although the owner has another one by now.
        if !missing.is_empty() && !self.carries(origin, &wanted) {
            missing.insert(0, Missing::Superseded);
        }
        Arrival {
            missing,
            mixed: is_mixed,
        }
    }

    fn off_path(&self, origin: &Origin) -> Option<Missing> {
        let resources = self.chain().resources();
        match origin {
            Origin::Owner(name) => {
                let read = resources.iter().any(|it| it.reads.contains(name));
                (!read).then_some(Missing::Unused)
            }
            Origin::Resource(name) => {
                let selected = self.chain().get(name).is_some();
                (!selected).then_some(Missing::NotOnPath)
            }
        }
    }

    /// Tells whether an origin has a value now.
    pub(crate) fn is_newest(&self, origin: &Origin, wanted: &dyn Fn(&Artifact) -> bool) -> bool {
        self.newest(origin).is_some_and(wanted)
    }

    /// Returns the value that an origin has now.
    pub(crate) fn newest(&self, origin: &Origin) -> Option<&Artifact> {
        match origin {
            Origin::Owner(name) => self.owner().get(name),
            Origin::Resource(name) => self.current(name)?.output.as_ref(),
        }
    }

    /// Tells whether the owner or any object on the path carries a value.
    pub(crate) fn carries(&self, origin: &Origin, wanted: &dyn Fn(&Artifact) -> bool) -> bool {
        self.values_around(origin).into_iter().any(wanted)
    }

    /// Returns every value of an origin that the owner has, or any object on the path carries.
    pub(crate) fn values_around(&self, origin: &Origin) -> Vec<&Artifact> {
        // Three times may differ: the owner says something new, an object was given the value before, and an
        // output shows one still earlier. A value in any of the three may yet be made, or be what runs.
        let given = self.newest(origin);
        let resources = self.chain().resources().iter();
        let applied = resources.flat_map(|it| self.carried_by(it));
        let applied = applied.filter_map(|inputs| inputs.get(origin));
        let made = self.in_use().into_iter();
        let made = made.filter_map(|it| Some(&it.from.get(origin)?.artifact));
        given.into_iter().chain(applied).chain(made).collect()
    }

    /// Returns the inputs of every apply that a resource may still make something of.
    pub(crate) fn carried_by<'a>(
        &'a self,
        resource: &'a Resource,
    ) -> impl Iterator<Item = &'a Inputs> {
        let history = self.history_of(&resource.name).into_iter();
        history.flat_map(|it| it.in_the_making(&resource.tracing))
    }
}

/// Walks from the targets of an origin back to it, on all ways.
struct Search<'a> {
    state: &'a State,
    origin: &'a Origin,
    wanted: &'a dyn Fn(&Artifact) -> bool,
    /// The names of the resources between the origin and the targets, these included.
    reached: &'a BTreeSet<&'a str>,
    visited: BTreeSet<Output>,
    missing: Vec<Missing>,
}

impl Search<'_> {
    fn target(&mut self, target: &Resource) {
        let resource = target.name.clone();
        let Some(current) = self.state.current(&resource) else {
            self.missing.push(Missing::Nothing { resource });
            return;
        };
        // An entry point that nobody consumes is its own target, and there is no edge to walk.
        if *self.origin == Origin::Resource(resource.clone()) {
            self.check_end(&resource, current.output.as_ref());
            return;
        }
        self.pending(target, current);
        self.walk(current);
    }

    /// Looks for producers that were given the value, then another one, then the first again. What
    /// they make of the one in between may still go down the path, so the value has arrived only when
    /// it was made again; a producer that has got to its last apply makes nothing of earlier ones.
    ///
    /// A value that the origin has no more is another matter: while its successor is being made, the
    /// targets are what they are.
    fn upstream(&mut self) {
        let state = self.state;
        if state.clauses().is_dropped(Clause::Upstream) {
            return;
        }
        let finals: BTreeSet<_> = state.chain().finals().map(|it| it.name.as_str()).collect();
        let producers = state.chain().in_path_order();
        let producers = producers.filter(|it| {
            self.reached.contains(it.name.as_str()) && !finals.contains(it.name.as_str())
        });
        for producer in producers {
            // A target may show what a producer made before its object was deleted. What the next one makes of
            // the value is still to come.
            let Some(current) = state.current(&producer.name) else {
                let resource = producer.name.clone();
                self.missing.push(Missing::Nothing { resource });
                continue;
            };
            // Only if it was given another value in between. One that was given the same again and again, or
            // another artifact made of the same value, owes nothing, and to wait for it would be to wait for
            // whatever else changes upstream.
            let mut visited = BTreeSet::new();
            let was_elsewhere = state.since_current(&producer.name).any(|inputs| {
                let mut inputs = inputs.iter();
                !inputs.all(|(input, artifact)| self.is_made_of_it(input, artifact, &mut visited))
            });
            if was_elsewhere {
                self.pending(producer, current);
            }
            self.made_of_another(producer, current);
        }
    }

    /// Notes what a producer makes now of another value: that is about to go down the path.
    fn made_of_another(&mut self, producer: &Resource, current: &Derivation) {
        let mut visited = BTreeSet::new();
        let mut from = current.from.iter();
        let other =
            from.find(|(input, edge)| !self.is_made_of_it(input, &edge.artifact, &mut visited));
        if let Some((input, _)) = other {
            self.missing.push(Missing::Pending {
                resource: producer.name.clone(),
                input: input.clone(),
            });
        }
    }

    /// Tells whether an input is the value, or was made from it on all ways, or is not on any.
    ///
    /// A producer that is given something new which is made from the same value (another commit of the
    /// same branch) has not been given another value.
    fn is_made_of_it(
        &self,
        input: &Origin,
        artifact: &Artifact,
        visited: &mut BTreeSet<Output>,
    ) -> bool {
        let mut open = vec![(input, artifact)];
        while let Some((input, artifact)) = open.pop() {
            if input == self.origin {
                if !(self.wanted)(artifact) {
                    return false;
                }
                continue;
            }
            let Origin::Resource(producer) = input else {
                continue;
            };
            // Paths change, and what was made on an older one may lead back here.
            let mut is_new = || visited.insert((producer.clone(), artifact.id()));
            if !self.reached.contains(producer.as_str()) || !is_new() {
                continue;
            }
            // Forgotten is not the same as made of the value: late is allowed, wrong is not.
            let Some(made) = self.state.derivation(producer, artifact.id()) else {
                return false;
            };
            open.extend(
                made.from
                    .iter()
                    .map(|(input, edge)| (input, &edge.artifact)),
            );
        }
        true
    }

    /// Notes the inputs on the way that a resource was given anew, and has not got to.
    fn pending(&mut self, resource: &Resource, current: &Derivation) {
        let history = self.state.history_of(&resource.name);
        for input in self.ways(&resource.name, current) {
            if history.is_some_and(|it| it.has_moved_on(&input, resource.tracing.immutable)) {
                let resource = resource.name.clone();
                self.missing.push(Missing::Pending { resource, input });
            }
        }
    }

    /// Returns the inputs of a resource through which the origin flows into it: those that the
    /// path declares, and those that what it makes was made from.
    fn ways(&self, resource: &str, made: &Derivation) -> BTreeSet<Origin> {
        let declared = self.state.chain().get(resource).into_iter();
        let declared = declared.flat_map(|it| {
            let owner = it.reads.iter().map(Origin::owner);
            owner.chain(it.upstream.iter().map(Origin::resource))
        });
        let all = declared.chain(made.from.keys().cloned());
        all.filter(|input| self.is_on_way(input)).collect()
    }

    fn is_on_way(&self, input: &Origin) -> bool {
        let between =
            matches!(input, Origin::Resource(name) if self.reached.contains(name.as_str()));
        between || input == self.origin
    }

    /// Walks back from what a resource makes. What is missing at a producer is noted before what is
    /// missing at those who take from it.
    fn walk(&mut self, made: &Derivation) {
        let state = self.state;
        // Not by recursion: paths may be longer than any stack is deep.
        let mut notes = Vec::new();
        let mut open = vec![made];
        while let Some(made) = open.pop() {
            let mut missing = Vec::new();
            for input in self.ways(&made.resource, made) {
                missing.extend(self.look_at(made, &input));
                let Some((producer, id)) = self.leads_back(made, &input) else {
                    continue;
                };
                match state.derivation(&producer, id) {
                    Some(made) => open.push(made),
                    None => missing.push(Missing::Forgotten { resource: producer }),
                }
            }
            notes.push(missing);
        }
        self.missing.extend(notes.into_iter().rev().flatten());
    }

    /// Returns what an edge lacks.
    fn look_at(&self, made: &Derivation, input: &Origin) -> Option<Missing> {
        let (resource, input) = (made.resource.clone(), input.clone());
        let Some(edge) = made.from.get(&input) else {
            return Some(Missing::NotRead { resource, input });
        };
        if input == *self.origin && !(self.wanted)(&edge.artifact) {
            let shown = edge.artifact.shown().to_owned();
            return Some(Missing::Other {
                resource,
                input,
                shown,
            });
        }
        let assumed = !edge.evidence.is_proof();
        assumed.then_some(Missing::Assumed { resource, input })
    }

    /// Returns the output that an edge leads back to, if that was not looked at before.
    fn leads_back(&mut self, made: &Derivation, input: &Origin) -> Option<Output> {
        let edge = made.from.get(input)?;
        match input {
            // Each output once: in a row of diamonds the ways double at every step.
            Origin::Resource(producer) if input != self.origin => {
                let output = (producer.clone(), edge.artifact.id());
                self.visited.insert(output.clone()).then_some(output)
            }
            _ => None,
        }
    }

    fn check_end(&mut self, resource: &str, output: Option<&Artifact>) {
        let is_wanted = output.is_some_and(|output| (self.wanted)(output));
        if !is_wanted {
            self.missing.push(Missing::Other {
                resource: resource.to_owned(),
                input: self.origin.clone(),
                shown: output.map(Artifact::shown).unwrap_or_default().to_owned(),
            });
        }
    }
}
