//! One resource: from its inputs to its output.

use std::sync::Arc;

use jiff::Timestamp;
use kube::api::DynamicObject;
use kube::{Client, ResourceExt};
use pathline_blueprint::blueprint::{Blueprint, Input, InputKind, Resource};
use pathline_blueprint::correlation;
use pathline_blueprint::health;
use pathline_blueprint::output::Output;
use pathline_blueprint::owner::Owner;
use pathline_blueprint::realization::{Failure, Outcome, Realization};
use pathline_blueprint::selection::{Action, Selected};
use pathline_blueprint::stamp::{RESOURCE_NAME_LABEL, Stamp};
use pathline_blueprint::template::{Template, TemplateKind};
use pathline_kinds::carto::Lifecycle;
use pathline_lineage::rollout::ConfigObservation;
use pathline_lineage::{InputsId, Origin};
use pathline_observe::kube_events::{self, KubeEvent};
use pathline_observe::rollout::RolloutTarget;
use pathline_observe::{
    PathReads, Product, ResourceObservation, ResourceReading, Retain, Source, StampedObject,
    StampedResource, is_passed, retain,
};
use serde_json::Value;

use crate::FIELD_MANAGER;
use crate::runtime::calls;
use crate::runtime::watches::WatchLabel;
use crate::supply::{Context, runs, stamping};

/// Realizes the resources of one owner.
pub(super) struct Realizer<'r> {
    pub(super) client: &'r Client,
    pub(super) context: &'r Context,
    pub(super) owner: &'r Owner,
    pub(super) blueprint: &'r Blueprint,
    pub(super) path_reads: &'r PathReads<'r>,
    pub(super) now: Timestamp,
}

/// The result of realizing one resource.
pub(super) struct ResourceResult {
    pub(super) realization: Realization,
    /// The output that others use.
    pub(super) product: Option<Product>,
    /// The observation that lineage learns from.
    pub(super) observation: Option<ResourceObservation>,
    /// The target whose rollout is followed, if it has an object.
    pub(super) target: Option<RolloutTarget>,
    /// The ConfigMap or Secret that it stamps, if it is one.
    pub(super) config: Option<ConfigObservation>,
    /// The objects that stay because of it.
    pub(super) retain: Retain,
    /// The events of what was written.
    pub(super) kube_events: Vec<KubeEvent>,
    /// Whether the token of the account is no longer taken.
    pub(super) is_unauthenticated: bool,
    /// The error that left runs in place which are too many.
    pub(super) unpruned: Option<calls::Error>,
}

/// The objects of a resource in the cluster after it was written.
struct Written {
    stamped: StampedObject,
    /// The run that has been healthy, if the output is read from runs and one has.
    producing: Option<Value>,
    retain: Retain,
    unpruned: Option<calls::Error>,
}

impl Written {
    /// Returns the object that the output is read from.
    fn source(&self, template: &Template) -> Source<'_> {
        match template.lifecycle {
            Lifecycle::Mutable => Source::Stamped,
            Lifecycle::Immutable | Lifecycle::Tekton => Source::Run(self.producing.as_ref()),
        }
    }

    /// Returns the result of a resource whose objects were read; `resource` says of which.
    fn result(self, resource: Realization, reading: ResourceReading) -> ResourceResult {
        let realization = Realization {
            outcome: reading.outcome,
            output: reading.product.as_ref().map(|it| it.output.clone()),
            health: reading.health,
            is_observed: reading.is_observed,
            failed: reading.failed,
            stamped: Some(self.stamped.reference.clone()),
            ..resource
        };
        ResourceResult {
            product: reading.product,
            observation: Some(reading.observation),
            target: Some(reading.target),
            config: reading.config,
            kube_events: kube_events::of_write(&self.stamped),
            unpruned: self.unpruned,
            ..ResourceResult::quiet(realization, self.retain)
        }
    }
}

impl ResourceResult {
    /// A resource for which nothing was written.
    pub(super) fn quiet(realization: Realization, retain: Retain) -> Self {
        Self {
            realization,
            product: None,
            observation: None,
            target: None,
            config: None,
            retain,
            kube_events: Vec::new(),
            is_unauthenticated: false,
            unpruned: None,
        }
    }
}

/// The inputs of a resource with what they give.
type Values<'v> = [(&'v Input, &'v Product)];

impl Realizer<'_> {
    /// Realizes one resource. `products` holds what each of its inputs gives, if anything yet.
    pub(super) async fn realize(
        &self,
        index: usize,
        selected: &Selected<'_>,
        products: &[Option<Arc<Product>>],
    ) -> ResourceResult {
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
            return ResourceResult::quiet(realization, Retain::Everything);
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
    ) -> ResourceResult {
        let resource = &self.blueprint.resources[index];
        let template_ref = Some((resource.template_kind, name.to_owned()));
        let failed = |failure| {
            let outcome = Outcome::Failed(failure);
            blank(resource, &selected.inputs, template_ref.clone(), outcome)
        };
        let template = match self.path_reads.template(index) {
            Ok(template) => template,
            Err(reason) => {
                let realization = failed(Failure::TemplateUnavailable(reason));
                return ResourceResult::quiet(realization, Retain::Everything);
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
            Err(error) => {
                return ResourceResult::quiet(unstamped(Failure::Stamp(error)), Retain::Everything);
            }
        };
        let used_inputs = self.path_reads.used_inputs(index, &rendered.reads, inputs);
        let inputs_id = InputsId::of(&used_inputs.inputs);
        rendered.name_inputs(inputs_id.as_str());
        match self.write(template, resource, &rendered.object).await {
            Ok(written) => {
                let live = &written.stamped.object;
                let matched = correlation::matched(&stamp, &rendered.object, live);
                let objects = StampedResource {
                    template,
                    rendered: &rendered,
                    used_inputs: &used_inputs,
                    inputs_id: &inputs_id,
                    stamped: &written.stamped,
                    source: written.source(template),
                    deployment: deployment(&outputs),
                    matched: self.path_reads.origins(index, &matched),
                    manager: FIELD_MANAGER,
                    time: self.now,
                };
                let realization =
                    blank(resource, &selected.inputs, template_ref, Outcome::Submitted);
                let reading = objects.read();
                written.result(realization, reading)
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
                ResourceResult {
                    is_unauthenticated: error.is_unauthenticated(),
                    ..ResourceResult::quiet(unstamped(failure), Retain::Everything)
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
    ) -> ResourceResult {
        let resource = &self.blueprint.resources[index];
        let passed = inputs
            .iter()
            .find(|(input, _)| is_passed(resource, input, name));
        let Some((input, product)) = passed else {
            let failure = Outcome::Failed(Failure::NoSuchInput(name.to_owned()));
            let realization = blank(resource, &selected.inputs, None, failure);
            return ResourceResult::quiet(realization, Retain::Everything);
        };
        let realization = Realization {
            output: Some(product.output.clone()),
            ..blank(resource, &selected.inputs, None, Outcome::PassedThrough)
        };
        ResourceResult {
            product: Some((*product).clone()),
            observation: Some(ResourceObservation::PassedThrough {
                passed: Origin::resource(&input.producer),
                inputs: self.path_reads.passed(index, inputs),
            }),
            ..ResourceResult::quiet(realization, Retain::Nothing)
        }
    }
}

impl Realizer<'_> {
    /// Applies an object, or makes a run of it.
    async fn write(
        &self,
        template: &Template,
        resource: &Resource,
        rendered: &Value,
    ) -> Result<Written, stamping::Error> {
        let watches = &self.context.watches;
        if template.lifecycle == Lifecycle::Mutable {
            let stamped = stamping::apply(self.client, watches, self.owner, rendered).await?;
            return Ok(Written {
                producing: None,
                retain: Retain::One(stamped.reference.clone()),
                stamped,
                unpruned: None,
            });
        }
        let made_from = format!("{}/{}", template.kind().name(), template.name);
        let is_member = |object: &DynamicObject| {
            object.labels().get(RESOURCE_NAME_LABEL) == Some(&resource.name)
                && retain::is_run_of(&made_from, &object.metadata)
        };
        let set = runs::RunSet {
            client: self.client,
            watches,
            clock: &self.context.env.clock,
            label: WatchLabel::Resource,
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
            producing: advanced.producing,
            unpruned: advanced.unpruned,
            retain: Retain::Runs(made_from),
        })
    }
}

/// Returns what a resource was given to deploy.
fn deployment<'o>(inputs: &[(&Input, &'o Output)]) -> Option<&'o Output> {
    let mut inputs = inputs.iter();
    let deployment = inputs.find(|(input, _)| input.kind == InputKind::Deployment);
    deployment.map(|(_, output)| *output)
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
