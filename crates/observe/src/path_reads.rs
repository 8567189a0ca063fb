//! The reads of the selected resources of one owner, known before any of them is realized.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use pathline_blueprint::blueprint::{Blueprint, Input, InputKind, Resource};
use pathline_blueprint::correlation;
use pathline_blueprint::owner::Owner;
use pathline_blueprint::params::{self, Owned};
use pathline_blueprint::selection::{self, Action, Selected, Step};
use pathline_blueprint::template::{Template, TemplateKind};
use pathline_blueprint::template_reads::{self, Reads};
use pathline_lineage::{Artifact, Chain, Inputs, Kind, Origin, Tracing, chain};

use crate::owner_inputs::{InputMap, OwnerInputs};
use crate::products::Product;

/// A template, or why there is none.
pub type Found = Result<Arc<Template>, String>;

/// The reads of the selected resources of one owner.
#[derive(Debug)]
pub struct PathReads<'o> {
    inputs_of_owner: OwnerInputs<'o>,
    /// By the index of the resource; those that are not on the path read nothing.
    resources: Vec<Option<ResourceReads>>,
}

/// The reads of one resource.
#[derive(Debug)]
struct ResourceReads {
    name: String,
    /// The template that is stamped; none where an input is handed on, or nothing can be chosen.
    template: Option<Found>,
    /// The kind of what it gives to others.
    makes: Option<Kind>,
    /// Its params, by who decides about them.
    params: Owned,
    /// The reads of rendering, or of what is passed through.
    reads: Reads,
    /// The reads that chose that.
    chosen_by: Reads,
    /// The reads that the rules of the template name.
    named: Reads,
}

/// The inputs that an object is made from.
#[derive(Debug, Clone, Default)]
pub struct UsedInputs {
    /// All of them.
    pub inputs: Inputs,
    /// Those of which nobody can tell whether they are read.
    pub offered: BTreeSet<Origin>,
}

/// The blueprint of an owner, and the steps that are selected from it.
#[derive(Debug, Clone, Copy)]
pub struct SelectedPath<'c> {
    /// The blueprint.
    pub blueprint: &'c Blueprint,
    /// A step for each of its resources.
    pub steps: &'c [Step],
}

impl<'o> PathReads<'o> {
    /// Finds out what is read for an owner; `template` finds templates, or says why there is none.
    pub fn new(
        owner: &'o Owner,
        selected_path: SelectedPath<'_>,
        template: impl Fn(TemplateKind, &str) -> Found,
    ) -> Self {
        let steps = 0..selected_path.steps.len();
        let resources: Vec<Option<ResourceReads>> = steps
            .map(|index| ResourceReads::new(owner, selected_path, index, &template))
            .collect();
        let params = resources.iter().flatten().map(|it| &it.params);
        Self {
            inputs_of_owner: OwnerInputs::new(owner, params::of_owner(&owner.params, params)),
            resources,
        }
    }

    /// Returns the template that a resource stamps.
    ///
    /// # Errors
    /// If there is none: the reason, for people.
    pub fn template(&self, index: usize) -> Result<&Template, String> {
        let reading = self.resources[index].as_ref();
        match reading.and_then(|it| it.template.as_ref()) {
            Some(template) => template.as_deref().map_err(String::clone),
            None => Err("the resource stamps nothing".to_owned()),
        }
    }

    /// Returns the inputs that a resource uses whose template reads this.
    pub fn used_inputs(
        &self,
        index: usize,
        reads: &Reads,
        products: &[(&Input, &Product)],
    ) -> UsedInputs {
        let Some(reading) = &self.resources[index] else {
            return UsedInputs::default();
        };
        let own = |inputs: InputMap| {
            let inputs = inputs.into_iter();
            inputs.map(|(name, artifact)| (Origin::owner(name), artifact))
        };
        let certain: Inputs = own(self.inputs_of_owner.read_by(&reading.chosen_by)).collect();
        let mut inputs: Inputs =
            own(self.inputs_of_owner.read_by(&reading.settable(reads))).collect();
        let is_read = |(input, _): &&(&Input, &Product)| reads.inputs.contains(&input.producer);
        inputs.extend(
            products.iter().filter(is_read).map(|(input, product)| {
                (Origin::resource(&input.producer), product.artifact.clone())
            }),
        );
        let is_offered = |origin: &&Origin| reads.offered && !certain.contains_key(origin);
        let offered = inputs.keys().filter(is_offered).cloned().collect();
        inputs.extend(certain);
        UsedInputs { inputs, offered }
    }

    /// Returns the inputs that a resource uses which passes one of them through.
    pub fn passed(&self, index: usize, products: &[(&Input, &Product)]) -> Inputs {
        let reading = self.resources[index].as_ref();
        let used_inputs = reading.map(|it| self.used_inputs(index, &it.reads, products));
        used_inputs.unwrap_or_default().inputs
    }

    /// Returns the origins that some reads of a resource are, as a whole.
    pub fn origins(&self, index: usize, reads: &Reads) -> BTreeSet<Origin> {
        let reading = self.resources[index].as_ref();
        reading
            .map(|it| self.origins_of(it, reads))
            .unwrap_or_default()
    }

    /// Returns the path. `tracing` says how the objects of a resource can be traced, but for rules.
    ///
    /// # Errors
    /// If it is none, which cannot be where a plan chose the steps.
    pub(crate) fn chain(
        &self,
        tracing: impl Fn(&str, Option<&Template>) -> Tracing,
    ) -> Result<Chain, chain::Error> {
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
                emits: reading.makes.is_some(),
                makes: reading.makes,
            }
        });
        Chain::new(resources.collect())
    }

    /// Returns every input of the owner: what it says, and what is read.
    pub(crate) fn own(&self) -> InputMap {
        let read = self.selected().flat_map(|it| self.read_by(it));
        self.inputs_of_owner
            .said()
            .into_iter()
            .chain(read)
            .collect()
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

    fn selected(&self) -> impl Iterator<Item = &ResourceReads> {
        self.resources.iter().flatten()
    }

    /// Returns the inputs of the owner that a resource reads.
    fn read_by(&self, reading: &ResourceReads) -> InputMap {
        let mut inputs = self
            .inputs_of_owner
            .read_by(&reading.settable(&reading.reads));
        inputs.extend(self.inputs_of_owner.read_by(&reading.chosen_by));
        inputs
    }

    fn origins_of(&self, reading: &ResourceReads, reads: &Reads) -> BTreeSet<Origin> {
        let own = self.inputs_of_owner.read_by(&reading.settable(reads));
        let own = own.into_keys().map(Origin::owner);
        let made = reads.inputs.iter().map(Origin::resource);
        own.chain(made).collect()
    }
}

/// Returns the kind of what objects of templates of a kind give.
fn kind_made_by(template: TemplateKind) -> Option<Kind> {
    match template {
        TemplateKind::Source => Some(Kind::Source),
        TemplateKind::Image => Some(Kind::Image),
        TemplateKind::Config => Some(Kind::Config),
        TemplateKind::Deployment => Some(Kind::Deployment),
        TemplateKind::Plain => None,
    }
}

impl ResourceReads {
    fn new(
        owner: &Owner,
        selected_path: SelectedPath<'_>,
        index: usize,
        template: impl Fn(TemplateKind, &str) -> Found,
    ) -> Option<Self> {
        let SelectedPath { blueprint, steps } = selected_path;
        let resource = &blueprint.resources[index];
        let mut reading = Self {
            name: resource.name.clone(),
            template: None,
            makes: kind_made_by(resource.template_kind),
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
            reading.reads = template_reads::expected(owner, blueprint, resource, template, inputs);
            reading.named = correlation::named(owner, blueprint, resource, template, inputs);
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

/// Tells whether an input is the one that a resource hands on under this name.
pub fn is_passed(resource: &Resource, input: &Input, name: &str) -> bool {
    let wanted = InputKind::made_by(resource.template_kind)
        .filter(|_| resource.template_kind != TemplateKind::Deployment);
    Some(input.kind) == wanted && input.name == name
}

/// Returns the read of the input that is handed on; where nobody can tell, of all.
fn handed_on(resource: &Resource, selected: &Selected<'_>) -> Reads {
    let is_read = |input: &&&Input| match selected.action {
        Action::Stamp(_) => true,
        Action::PassThrough(name) => is_passed(resource, input, name),
    };
    let read = selected.inputs.iter().filter(is_read);
    Reads {
        inputs: read.map(|input| input.producer.clone()).collect(),
        ..Reads::default()
    }
}
