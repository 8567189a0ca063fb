//! One resource: from its inputs to what it gives.

use std::sync::Arc;

use kube::api::DynamicObject;
use kube::{Client, ResourceExt};
use pathline_blueprint::blueprint::{Blueprint, Input, InputKind, Resource};
use pathline_blueprint::health;
use pathline_blueprint::model::{Lifecycle, StampedReference};
use pathline_blueprint::output::{self, Output};
use pathline_blueprint::owner::Owner;
use pathline_blueprint::realization::{Failure, Outcome, Realization};
use pathline_blueprint::selection::{Action, Selected};
use pathline_blueprint::stamp::{RESOURCE_NAME_LABEL, Stamp};
use pathline_blueprint::template::{Template, TemplateKind};
use serde_json::Value;

use super::{Context, leftovers, news};
use crate::events::News;
use crate::stamped::{self, Stamped};
use crate::watches::Mark;
use crate::{calls, runs};

/// What every resource of an owner is realized with.
pub(super) struct Run<'r> {
    pub(super) client: &'r Client,
    pub(super) context: &'r Context,
    pub(super) owner: &'r Owner,
    pub(super) blueprint: &'r Blueprint,
}

/// What became of a resource.
pub(super) struct Made {
    pub(super) realization: Realization,
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
            hold,
            news: Vec::new(),
            is_unauthenticated: false,
            unpruned: None,
        }
    }
}

/// The inputs of a resource with their values.
type Values<'v> = [(&'v Input, &'v Output)];

impl Run<'_> {
    /// Realizes one resource. `outputs` holds what each of its inputs gives, if anything yet.
    pub(super) async fn realize(
        &self,
        index: usize,
        selected: &Selected<'_>,
        outputs: &[Option<Arc<Output>>],
    ) -> Made {
        let resource = &self.blueprint.resources[index];
        let missing = outputs.iter().position(Option::is_none);
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
        let values = outputs.iter().filter_map(Option::as_deref);
        let inputs: Vec<(&Input, &Output)> = selected.inputs.iter().copied().zip(values).collect();
        match selected.action {
            Action::PassThrough(name) => pass_through(resource, selected, name, &inputs),
            Action::Stamp(name) => self.stamp(resource, selected, name, &inputs).await,
        }
    }

    async fn stamp(
        &self,
        resource: &Resource,
        selected: &Selected<'_>,
        name: &str,
        inputs: &Values<'_>,
    ) -> Made {
        let template_ref = Some((resource.template_kind, name.to_owned()));
        let failed = |failure| {
            let outcome = Outcome::Failed(failure);
            blank(resource, &selected.inputs, template_ref.clone(), outcome)
        };
        let catalogue = &self.context.catalogue;
        let template = match catalogue.template(resource.template_kind, name) {
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
        let stamp = Stamp {
            owner: self.owner,
            blueprint: self.blueprint,
            resource,
            template: &template,
            inputs,
        };
        let rendered = match self.context.renderer.render(&stamp).await {
            Ok(rendered) => rendered.object,
            Err(error) => return Made::quiet(unstamped(Failure::Stamp(error)), Hold::Everything),
        };
        match self.write(&template, resource, &rendered).await {
            Ok(written) => Made {
                hold: written.hold.clone(),
                news: news::of_write(&written.stamped),
                is_unauthenticated: false,
                realization: Realization {
                    template: template_ref,
                    ..read(resource, selected, &template, inputs, &written)
                },
                unpruned: written.unpruned,
            },
            Err(error) => {
                let name = rendered["metadata"]["name"].as_str().unwrap_or_default();
                let failure = Failure::Rejected {
                    object: format!("{}/{name}", self.owner.namespace),
                    reason: error.to_string(),
                    is_forbidden: error.is_forbidden(),
                };
                Made {
                    is_unauthenticated: error.is_unauthenticated(),
                    ..Made::quiet(unstamped(failure), Hold::Everything)
                }
            }
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

/// Reads what a resource gives, and how it is.
fn read(
    resource: &Resource,
    selected: &Selected<'_>,
    template: &Template,
    inputs: &Values<'_>,
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
        stamped: Some(written.stamped.reference.clone()),
        output,
        ..blank(resource, &selected.inputs, None, outcome)
    }
}

fn pass_through(
    resource: &Resource,
    selected: &Selected<'_>,
    name: &str,
    inputs: &Values<'_>,
) -> Made {
    let wanted = InputKind::made_by(resource.template_kind)
        .filter(|_| resource.template_kind != TemplateKind::Deployment);
    let input = inputs
        .iter()
        .find(|(input, _)| Some(input.kind) == wanted && input.name == name);
    let (outcome, hold) = match input {
        Some(_) => (Outcome::PassedThrough, Hold::Nothing),
        None => {
            let failure = Failure::NoSuchInput(name.to_owned());
            (Outcome::Failed(failure), Hold::Everything)
        }
    };
    let realization = Realization {
        output: input.map(|(_, output)| (*output).clone()),
        ..blank(resource, &selected.inputs, None, outcome)
    };
    Made::quiet(realization, hold)
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
    }
}
