//! One resource: from its inputs to what it gives.

use std::sync::Arc;

use jiff::Timestamp;
use kube::api::DynamicObject;
use kube::{Client, ResourceExt};
use pathline_blueprint::blueprint::{Blueprint, Input, InputKind, Resource};
use pathline_blueprint::health;
use pathline_blueprint::model::{Lifecycle, StampedReference};
use pathline_blueprint::output::{self, Output};
use pathline_blueprint::owner::Owner;
use pathline_blueprint::realization::{Failure, Outcome, Realization};
use pathline_blueprint::rules;
use pathline_blueprint::selection::{Action, Selected};
use pathline_blueprint::stamp::{RESOURCE_NAME_LABEL, Stamp};
use pathline_blueprint::template::{Template, TemplateKind};
use pathline_lineage::rollout::{ConfigKind, ConfigLook};
use pathline_lineage::{InputsId, Origin};
use serde_json::Value;

use super::{Context, leftovers, news};
use crate::events::News;
use crate::last_mile::{self, End};
use crate::lineage::{self, Product, Readings, Sighting, Subject};
use crate::stamped::{self, Stamped, Write};
use crate::watches::Mark;
use crate::{FIELD_MANAGER, calls, runs};

/// What every resource of an owner is realized with.
pub(super) struct Run<'r> {
    pub(super) client: &'r Client,
    pub(super) context: &'r Context,
    pub(super) owner: &'r Owner,
    pub(super) blueprint: &'r Blueprint,
    pub(super) readings: &'r Readings<'r>,
    pub(super) now: Timestamp,
}

/// What became of a resource.
pub(super) struct Made {
    pub(super) realization: Realization,
    /// What it gives to others.
    pub(super) product: Option<Product>,
    /// What lineage learns from it.
    pub(super) sighting: Option<Sighting>,
    /// Where its last mile begins, if it has an object.
    pub(super) end: Option<End>,
    /// What it stamps, if that is a ConfigMap or Secret.
    pub(super) config: Option<ConfigLook>,
    /// The objects that stay because of it.
    pub(super) hold: Hold,
    /// What was written.
    pub(super) news: Vec<News>,
    /// Whether the token of the account is no longer taken.
    pub(super) is_unauthenticated: bool,
    /// Why runs that are too many are still there.
    pub(super) unpruned: Option<calls::Error>,
}

/// What the cluster holds of a resource after it was written.
struct Written {
    stamped: Stamped,
    /// The object that the output is read from: a run that has been healthy, or what was stamped.
    source: Option<Value>,
    hold: Hold,
    unpruned: Option<calls::Error>,
}

/// Which of the objects that a resource stamped so far stay.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Hold {
    /// None: the resource stamps nothing.
    Nothing,
    /// This one: it takes the place of all others.
    One(StampedReference),
    /// All runs of this template, given as `Kind/name`; how many are kept is another matter.
    Runs(String),
    /// All: the resource was not written this time, so nothing is said about them.
    Everything,
}

impl Made {
    /// A resource for which nothing was written.
    pub(super) fn quiet(realization: Realization, hold: Hold) -> Self {
        Self {
            realization,
            product: None,
            sighting: None,
            end: None,
            config: None,
            hold,
            news: Vec::new(),
            is_unauthenticated: false,
            unpruned: None,
        }
    }
}

/// The inputs of a resource with what they give.
type Values<'v> = [(&'v Input, &'v Product)];

impl Run<'_> {
    /// Realizes one resource. `products` holds what each of its inputs gives, if anything yet.
    pub(super) async fn realize(
        &self,
        index: usize,
        selected: &Selected<'_>,
        products: &[Option<Arc<Product>>],
    ) -> Made {
        let resource = &self.blueprint.resources[index];
        let missing = products.iter().position(Option::is_none);
        if let Some(missing) = missing {
            let input = selected.inputs[missing];
            let outcome = Outcome::Waiting {
                input: input.name.clone(),
                producer: input.producer.clone(),
            };
            let template = match selected.action {
                Action::Stamp(name) => Some((resource.template_kind, name.to_owned())),
                Action::PassThrough(_) => None,
            };
            let realization = blank(resource, &selected.inputs, template, outcome);
            return Made::quiet(realization, Hold::Everything);
        }
        let values = products.iter().filter_map(Option::as_deref);
        let inputs: Vec<(&Input, &Product)> = selected.inputs.iter().copied().zip(values).collect();
        match selected.action {
            Action::PassThrough(name) => self.pass_through(index, selected, name, &inputs),
            Action::Stamp(name) => self.stamp(index, selected, name, &inputs).await,
        }
    }

    async fn stamp(
        &self,
        index: usize,
        selected: &Selected<'_>,
        name: &str,
        inputs: &Values<'_>,
    ) -> Made {
        let resource = &self.blueprint.resources[index];
        let template_ref = Some((resource.template_kind, name.to_owned()));
        let failed = |failure| {
            let outcome = Outcome::Failed(failure);
            blank(resource, &selected.inputs, template_ref.clone(), outcome)
        };
        let template = match self.readings.template(index) {
            Ok(template) => template,
            Err(reason) => {
                let realization = failed(Failure::TemplateUnavailable(reason));
                return Made::quiet(realization, Hold::Everything);
            }
        };
        let unstamped = |failure| Realization {
            health: health::judge(template.health_rule.as_ref(), template.kind(), None, false),
            ..failed(failure)
        };
        let outputs: Vec<(&Input, &Output)> = inputs
            .iter()
            .map(|(input, product)| (*input, &product.output))
            .collect();
        let stamp = Stamp {
            owner: self.owner,
            blueprint: self.blueprint,
            resource,
            template,
            inputs: &outputs,
        };
        let mut rendered = match self.context.renderer.render(&stamp).await {
            Ok(rendered) => rendered,
            Err(error) => return Made::quiet(unstamped(Failure::Stamp(error)), Hold::Everything),
        };
        let taken = self.readings.taken(index, &rendered.reads, inputs);
        let inputs_id = InputsId::of(&taken.inputs);
        rendered.name_inputs(inputs_id.as_str());
        match self.write(template, resource, &rendered.object).await {
            Ok(written) => {
                let realization = Realization {
                    template: template_ref,
                    ..read(resource, selected, template, &outputs, &written)
                };
                let output = realization.output.clone();
                let product = output.map(|output| Product::new(template.kind(), output));
                let live = &written.stamped.object;
                let matched = rules::matched(&stamp, &rendered.object, live);
                let subject = Subject {
                    template,
                    rendered: &rendered,
                    taken: &taken,
                    before: written.stamped.before.as_ref(),
                    current: &written.stamped.object,
                    source: written.source.as_ref(),
                    output: product.as_ref().map(|product| &product.artifact),
                    matched: self.readings.origins(index, &matched),
                    time: self.now,
                };
                Made {
                    sighting: Some(subject.sighting()),
                    end: Some(End::of(&last_mile::Stamped {
                        template,
                        inputs_id: inputs_id.as_str(),
                        current: live,
                        source: written.source.as_ref(),
                    })),
                    config: config_of(&rendered.object, &written.stamped),
                    product,
                    news: news::of_write(&written.stamped),
                    unpruned: written.unpruned,
                    ..Made::quiet(realization, written.hold)
                }
            }
            Err(error) => {
                let name = rendered.object["metadata"]["name"]
                    .as_str()
                    .unwrap_or_default();
                let failure = Failure::Rejected {
                    object: format!("{}/{name}", self.owner.namespace),
                    reason: error.to_string(),
                    is_forbidden: error.is_forbidden(),
                    is_invalid: error.is_invalid(),
                };
                Made {
                    is_unauthenticated: error.is_unauthenticated(),
                    ..Made::quiet(unstamped(failure), Hold::Everything)
                }
            }
        }
    }

    fn pass_through(
        &self,
        index: usize,
        selected: &Selected<'_>,
        name: &str,
        inputs: &Values<'_>,
    ) -> Made {
        let resource = &self.blueprint.resources[index];
        let passed = inputs
            .iter()
            .find(|(input, _)| lineage::is_passed(resource, input, name));
        let Some((input, product)) = passed else {
            let failure = Outcome::Failed(Failure::NoSuchInput(name.to_owned()));
            let realization = blank(resource, &selected.inputs, None, failure);
            return Made::quiet(realization, Hold::Everything);
        };
        let realization = Realization {
            output: Some(product.output.clone()),
            ..blank(resource, &selected.inputs, None, Outcome::PassedThrough)
        };
        Made {
            product: Some((*product).clone()),
            sighting: Some(Sighting::PassedThrough {
                passed: Origin::resource(&input.producer),
                inputs: self.readings.passed(index, inputs),
            }),
            ..Made::quiet(realization, Hold::Nothing)
        }
    }
}

impl Run<'_> {
    /// Applies an object, or makes a run of it.
    async fn write(
        &self,
        template: &Template,
        resource: &Resource,
        rendered: &Value,
    ) -> Result<Written, stamped::Error> {
        let watches = &self.context.watches;
        if template.lifecycle == Lifecycle::Mutable {
            let stamped = stamped::apply(self.client, watches, self.owner, rendered).await?;
            return Ok(Written {
                source: Some(stamped.object.clone()),
                hold: Hold::One(stamped.reference.clone()),
                stamped,
                unpruned: None,
            });
        }
        let made_from = format!("{}/{}", template.kind().name(), template.name);
        let hold = Hold::Runs(made_from);
        let is_member = |object: &DynamicObject| {
            object.labels().get(RESOURCE_NAME_LABEL) == Some(&resource.name)
                && leftovers::is_run_of(&hold, object)
        };
        let set = runs::Set {
            client: self.client,
            watches,
            mark: Mark::Resource,
            namespace: &self.owner.namespace,
            owner: &format!("{} [{}]", self.owner.kind.name(), self.owner.name),
            owner_uid: &self.owner.uid,
            is_member,
            rule: template.health_rule.as_ref(),
            retention: template.retention,
        };
        let advanced = set.advance(rendered).await?;
        Ok(Written {
            stamped: advanced.current,
            source: advanced.producing,
            unpruned: advanced.unpruned,
            hold,
        })
    }
}

/// Returns what was stamped if it is a ConfigMap or Secret.
fn config_of(rendered: &Value, stamped: &Stamped) -> Option<ConfigLook> {
    let kind = ConfigKind::of(rendered)?;
    let before = stamped.before.as_ref();
    let is_created = stamped.write == Write::Created;
    let look = ConfigLook::read(kind, &stamped.object, before, is_created, FIELD_MANAGER);
    Some(look.steady_since(stamped.steady_since))
}

/// Reads what a resource gives, and how it is.
fn read(
    resource: &Resource,
    selected: &Selected<'_>,
    template: &Template,
    inputs: &[(&Input, &Output)],
    written: &Written,
) -> Realization {
    let deployment = inputs
        .iter()
        .find(|(input, _)| input.kind == InputKind::Deployment);
    let deployment = deployment.map(|(_, output)| *output);
    let failed = |failure| (None, Outcome::Failed(failure));
    let (output, outcome) = match &written.source {
        Some(source) => match output::read(&template.output, source, deployment) {
            Ok(output) => (output, Outcome::Submitted),
            Err(unavailable) => failed(Failure::Unavailable(unavailable)),
        },
        None if template.kind() == TemplateKind::Plain => (None, Outcome::Submitted),
        None => failed(Failure::NoHealthyRun),
    };
    let object = &written.stamped.object;
    let rule = template.health_rule.as_ref();
    Realization {
        health: health::judge(rule, template.kind(), Some(object), output.is_some()),
        is_observed: health::is_observed(object),
        failed: health::terminal(rule, object, template.lifecycle != Lifecycle::Mutable),
        stamped: Some(written.stamped.reference.clone()),
        output,
        ..blank(resource, &selected.inputs, None, outcome)
    }
}

/// A realization of which nothing but the outcome is known.
pub(super) fn blank(
    resource: &Resource,
    inputs: &[&Input],
    template: Option<(TemplateKind, String)>,
    outcome: Outcome,
) -> Realization {
    Realization {
        resource: resource.name.clone(),
        template,
        stamped: None,
        producers: inputs.iter().map(|input| input.producer.clone()).collect(),
        outcome,
        output: None,
        health: health::unknown(),
        is_observed: true,
        failed: None,
    }
}
