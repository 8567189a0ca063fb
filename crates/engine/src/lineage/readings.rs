//! What the selected resources of one owner read, known before any of them is realized.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use pathline_blueprint::blueprint::{Blueprint, Input, Resource};
use pathline_blueprint::owner::Owner;
use pathline_blueprint::params::{self, Owned};
use pathline_blueprint::reads::{self, Reads};
use pathline_blueprint::rules;
use pathline_blueprint::selection::{self, Action, Selected, Step};
use pathline_blueprint::template::{Template, TemplateKind};
use pathline_lineage::{Artifact, Chain, Inputs, Origin, Tracing, chain};

use super::given::{Given, Own};
use super::products::Product;

/// A template, or why there is none.
type Found = Result<Arc<Template>, String>;

/// What the selected resources of one owner read.
pub(crate) struct Readings<'o> {
    given: Given<'o>,
    /// By the index of the resource; those that are not on the path read nothing.
    resources: Vec<Option<Reading>>,
}

/// What one resource reads.
struct Reading {
    name: String,
    /// The template that is stamped; none where an input is handed on, or nothing can be chosen.
    template: Option<Found>,
    /// Whether it gives something to others.
    emits: bool,
    /// Its params, by who decides about them.
    params: Owned,
    /// What rendering reads, or what is handed on.
    reads: Reads,
    /// What was read to choose that.
    chosen_by: Reads,
    /// What the rules of the template name.
    named: Reads,
}

/// What an object is made from.
#[derive(Debug, Clone, Default)]
pub(crate) struct Taken {
    pub(crate) inputs: Inputs,
    /// Those of which nobody can tell whether they are read.
    pub(crate) offered: BTreeSet<Origin>,
}

/// The blueprint of an owner, and what was chosen from it.
#[derive(Clone, Copy)]
pub(crate) struct Choice<'c> {
    pub(crate) blueprint: &'c Blueprint,
    pub(crate) steps: &'c [Step],
}

impl<'o> Readings<'o> {
    /// Finds out what is read for an owner; `template` finds templates, or says why there is none.
    pub(crate) fn new(
        owner: &'o Owner,
        choice: Choice<'_>,
        template: impl Fn(TemplateKind, &str) -> Found,
    ) -> Self {
        let steps = 0..choice.steps.len();
        let resources: Vec<Option<Reading>> = steps
            .map(|index| Reading::new(owner, choice, index, &template))
            .collect();
        let params = resources.iter().flatten().map(|it| &it.params);
        Self {
            given: Given::new(owner, params::of_owner(&owner.params, params)),
            resources,
        }
    }

    /// Returns the template that a resource stamps, or why there is none.
    pub(crate) fn template(&self, index: usize) -> Result<&Template, String> {
        let reading = self.resources[index].as_ref();
        match reading.and_then(|it| it.template.as_ref()) {
            Some(template) => template.as_deref().map_err(String::clone),
            None => Err("the resource stamps nothing".to_owned()),
        }
    }

    /// Returns what is taken by a resource whose template reads this.
    pub(crate) fn taken(
        &self,
        index: usize,
        reads: &Reads,
        products: &[(&Input, &Product)],
    ) -> Taken {
        let Some(reading) = &self.resources[index] else {
            return Taken::default();
        };
        let own = |inputs: Own| {
            let inputs = inputs.into_iter();
            inputs.map(|(name, artifact)| (Origin::owner(name), artifact))
        };
        let certain: Inputs = own(self.given.read_by(&reading.chosen_by)).collect();
        let mut inputs: Inputs = own(self.given.read_by(&reading.settable(reads))).collect();
        let is_read = |(input, _): &&(&Input, &Product)| reads.inputs.contains(&input.producer);
        inputs.extend(
            products.iter().filter(is_read).map(|(input, product)| {
                (Origin::resource(&input.producer), product.artifact.clone())
            }),
        );
        let is_offered = |origin: &&Origin| reads.offered && !certain.contains_key(origin);
        let offered = inputs.keys().filter(is_offered).cloned().collect();
        inputs.extend(certain);
        Taken { inputs, offered }
    }

    /// Returns what a resource takes that hands an input on.
    pub(crate) fn passed(&self, index: usize, products: &[(&Input, &Product)]) -> Inputs {
        let reading = self.resources[index].as_ref();
        let taken = reading.map(|it| self.taken(index, &it.reads, products));
        taken.unwrap_or_default().inputs
    }

    /// Returns the origins that some reads of a resource are, as a whole.
    pub(crate) fn origins(&self, index: usize, reads: &Reads) -> BTreeSet<Origin> {
        let reading = self.resources[index].as_ref();
        reading
            .map(|it| self.origins_of(it, reads))
            .unwrap_or_default()
    }

    /// Returns the path. `tracing` says how the objects of a resource can be traced, but for rules.
    pub(crate) fn chain(&self, tracing: impl Fn(&str, Option<&Template>) -> Tracing) -> Chain {
        let selected: BTreeSet<&str> = self.selected().map(|it| it.name.as_str()).collect();
        let resources = self.selected().map(|reading| {
            let template = reading.template.as_ref().and_then(|it| it.as_deref().ok());
            let producers = reading.reads.inputs.iter();
            let producers = producers.filter(|name| selected.contains(name.as_str()));
            chain::Resource {
                name: reading.name.clone(),
                upstream: producers.cloned().collect(),
                reads: self.read_by(reading).into_keys().collect(),
                tracing: Tracing {
                    rules: self.origins_of(reading, &reading.named),
                    ..tracing(&reading.name, template)
                },
                emits: reading.emits,
            }
        });
        Chain::new(resources.collect()).unwrap_or_else(|error| {
            tracing::error!(%error, "a plan that can be followed is no path; please report this");
            Chain::default()
        })
    }

    /// Returns every input of the owner: what it says, and what is read.
    pub(crate) fn own(&self) -> Own {
        let read = self.selected().flat_map(|it| self.read_by(it));
        self.given.said().into_iter().chain(read).collect()
    }

    /// Returns the params that no owner can set, with their values as they are shown.
    pub(crate) fn fixed(&self) -> BTreeMap<String, String> {
        let fixed = self.selected().flat_map(|it| &it.params.fixed);
        let is_settable = |name: &str| {
            let mut selected = self.selected();
            selected.any(|it| it.params.settable.contains_key(name))
        };
        let fixed = fixed.filter(|(name, _)| !is_settable(name));
        let shown = fixed.map(|(name, fixed)| {
            let shown = Artifact::param(name, &fixed.value).shown().to_owned();
            (name.clone(), shown)
        });
        shown.collect()
    }

    fn selected(&self) -> impl Iterator<Item = &Reading> {
        self.resources.iter().flatten()
    }

    /// Returns the inputs of the owner that a resource reads.
    fn read_by(&self, reading: &Reading) -> Own {
        let mut inputs = self.given.read_by(&reading.settable(&reading.reads));
        inputs.extend(self.given.read_by(&reading.chosen_by));
        inputs
    }

    fn origins_of(&self, reading: &Reading, reads: &Reads) -> BTreeSet<Origin> {
        let own = self.given.read_by(&reading.settable(reads));
        let own = own.into_keys().map(Origin::owner);
        let made = reads.inputs.iter().map(Origin::resource);
        own.chain(made).collect()
    }
}

impl Reading {
    fn new(
        owner: &Owner,
        choice: Choice<'_>,
        index: usize,
        template: impl Fn(TemplateKind, &str) -> Found,
    ) -> Option<Self> {
        let Choice { blueprint, steps } = choice;
        let resource = &blueprint.resources[index];
        let mut reading = Self {
            name: resource.name.clone(),
            template: None,
            emits: resource.template_kind != TemplateKind::Plain,
            params: Owned::default(),
            reads: Reads::default(),
            chosen_by: Reads {
                fields: selection::reads(blueprint, owner, steps, index),
                ..Reads::default()
            },
            named: Reads::default(),
        };
        let selected = match &steps[index] {
            Step::Skipped(_) => return None,
            Step::Failed(_) => return Some(reading),
            Step::Selected { option } => blueprint.selected(index, *option),
        };
        reading.reads = handed_on(resource, &selected);
        let Action::Stamp(name) = selected.action else {
            return Some(reading);
        };
        let found = template(resource.template_kind, name);
        if let Ok(template) = &found {
            let (own, all) = (&resource.params, &blueprint.params);
            let inputs = &selected.inputs;
            reading.params = params::owned(&template.params, all, own, &owner.params);
            reading.reads = reads::expected(owner, blueprint, resource, template, inputs);
            reading.named = rules::named(owner, blueprint, resource, template, inputs);
        }
        reading.template = Some(found);
        Some(reading)
    }

    /// Leaves out the params that the owner cannot set for this resource.
    fn settable(&self, reads: &Reads) -> Reads {
        let mut reads = reads.clone();
        reads
            .params
            .retain(|name| !self.params.fixed.contains_key(name));
        reads
    }
}

/// Returns the read of the input that is handed on; where nobody can tell, of all.
fn handed_on(resource: &Resource, selected: &Selected<'_>) -> Reads {
    let is_read = |input: &&&Input| match selected.action {
        Action::Stamp(_) => true,
        Action::PassThrough(name) => super::is_passed(resource, input, name),
    };
    let read = selected.inputs.iter().filter(is_read);
    Reads {
        inputs: read.map(|input| input.producer.clone()).collect(),
        ..Reads::default()
    }
}
