//! The resources of a blueprint, one after the other, producers first.

use std::collections::HashMap;

use kube::Client;
use pathline_blueprint::blueprint::{Blueprint, Input, InputKind, Resource};
use pathline_blueprint::conditions::Verdict;
use pathline_blueprint::health;
use pathline_blueprint::model::ResourceStatus;
use pathline_blueprint::output::{self, Output};
use pathline_blueprint::owner::Owner;
use pathline_blueprint::realization::{Failure, Outcome, Realization};
use pathline_blueprint::selection::{Action, Selected, Step};
use pathline_blueprint::stamp::Stamp;
use pathline_blueprint::template::{Template, TemplateKind};

use super::{Context, Status};
use crate::catalogue::Listed;
use crate::queue::Key;
use crate::wakeups::Used;
use crate::{calls, stamped};

/// What became of all resources, in declared order.
pub(super) struct Realized {
    pub(super) resources: Vec<Realization>,
    /// The first resource, in the order they were tried, that the cluster did not take, and why.
    pub(super) rejected: Option<(String, String)>,
}

/// Realizes every resource as far as its inputs allow. A failure holds up only what depends on it.
pub(super) async fn all(
    client: &Client,
    context: &Context,
    owner: &Owner,
    listed: &Listed,
) -> Realized {
    let blueprint = &listed.blueprint;
    let plan = match &listed.plan {
        Ok(plan) => plan,
        Err(fault) => unreachable!("a blueprint that cannot be planned is not ready: {fault}"),
    };
    let path = plan.choose(owner);
    // Before any template is read: one that changes in between wakes the owner again.
    let key = Key::new(&owner.namespace, &owner.name);
    context
        .wakeups
        .note(owner.kind, &key, used(blueprint, &path));
    let mut run = Run {
        client,
        context,
        owner,
        blueprint,
        outputs: HashMap::new(),
    };
    let mut resources: Vec<Option<Realization>> = vec![None; path.len()];
    let mut rejected = None;
    for index in plan.order().iter().copied() {
        let resource = &blueprint.resources[index];
        let realization = match &path[index] {
            Step::Selected { option } => {
                let selected = blueprint.selected(index, *option);
                run.step(resource, &selected).await
            }
            Step::Failed(why) => {
                let outcome = Outcome::Failed(Failure::NoTemplate(why.clone()));
                blank(resource, &[], None, outcome)
            }
            Step::Skipped(_) => continue,
        };
        if let Some(output) = &realization.output {
            run.outputs.insert(&resource.name, output.clone());
        }
        if let Outcome::Failed(failure @ Failure::Rejected { reason, .. }) = &realization.outcome
            && failure.is_retried()
        {
            rejected.get_or_insert_with(|| (resource.name.clone(), reason.clone()));
        }
        resources[index] = Some(realization);
    }
    Realized {
        resources: resources.into_iter().flatten().collect(),
        rejected,
    }
}

/// Returns the templates that are stamped.
fn used(blueprint: &Blueprint, path: &[Step]) -> Vec<Used> {
    let template = |(index, step): (usize, &Step)| {
        let Step::Selected { option } = step else {
            return None;
        };
        match blueprint.selected(index, *option).action {
            Action::Stamp(name) => {
                let kind = blueprint.resources[index].template_kind;
                Some(Used::Template(kind, name.to_owned()))
            }
            Action::PassThrough(_) => None,
        }
    };
    path.iter().enumerate().filter_map(template).collect()
}

/// Removes the objects of entries that nothing stamps any more. What cannot be removed is kept in sight.
pub(super) async fn remove(
    client: &Client,
    context: &Context,
    owner: &Owner,
    orphans: Vec<ResourceStatus>,
    status: &mut Status,
) -> Result<(), calls::Error> {
    let mut result = Ok(());
    for orphan in orphans {
        let Some(reference) = &orphan.stamped_ref else {
            continue;
        };
        if let Err(error) = stamped::remove(client, &context.watches, owner, reference).await {
            status.keep(orphan);
            result = Err(error);
        }
    }
    result
}

struct Run<'r> {
    client: &'r Client,
    context: &'r Context,
    owner: &'r Owner,
    blueprint: &'r Blueprint,
    outputs: HashMap<&'r str, Output>,
}

impl<'r> Run<'r> {
    async fn step(&self, resource: &'r Resource, selected: &Selected<'r>) -> Realization {
        let inputs = match self.inputs(selected) {
            Ok(inputs) => inputs,
            Err(missing) => {
                let template = match selected.action {
                    Action::Stamp(name) => Some((resource.template_kind, name.to_owned())),
                    Action::PassThrough(_) => None,
                };
                let outcome = Outcome::Waiting {
                    input: missing.name.clone(),
                    producer: missing.producer.clone(),
                };
                return blank(resource, &selected.inputs, template, outcome);
            }
        };
        match selected.action {
            Action::PassThrough(name) => pass_through(resource, selected, name, &inputs),
            Action::Stamp(name) => self.stamp(resource, selected, name, &inputs).await,
        }
    }

    /// Returns every input with its value, or the first that has none yet.
    fn inputs(&self, selected: &Selected<'r>) -> Result<Vec<(&'r Input, &Output)>, &'r Input> {
        let value = |input: &'r Input| self.outputs.get(input.producer.as_str()).ok_or(input);
        selected
            .inputs
            .iter()
            .map(|input| Ok((*input, value(input)?)))
            .collect()
    }

    async fn stamp(
        &self,
        resource: &Resource,
        selected: &Selected<'_>,
        name: &str,
        inputs: &[(&Input, &Output)],
    ) -> Realization {
        let template_ref = Some((resource.template_kind, name.to_owned()));
        let failed = |failure| {
            blank(
                resource,
                &selected.inputs,
                template_ref.clone(),
                Outcome::Failed(failure),
            )
        };
        let template = match self
            .context
            .catalogue
            .template(resource.template_kind, name)
        {
            Ok(template) => template,
            Err(reason) => return failed(Failure::TemplateUnavailable(reason)),
        };
        let stamp = Stamp {
            owner: self.owner,
            blueprint: self.blueprint,
            resource,
            template: &template,
            inputs,
        };
        let unstamped = |failure| Realization {
            health: health::judge(template.health_rule.as_ref(), template.kind(), None, false),
            ..failed(failure)
        };
        let rendered = match stamp.render() {
            Ok(rendered) => rendered,
            Err(error) => return unstamped(Failure::Stamp(error)),
        };
        match stamped::apply(self.client, &self.context.watches, self.owner, &rendered).await {
            Ok(stamped) => Realization {
                template: template_ref,
                ..read(resource, selected, &template, inputs, stamped)
            },
            Err(error) => {
                let name = rendered["metadata"]["name"].as_str().unwrap_or_default();
                let object = format!("{}/{name}", self.owner.namespace);
                unstamped(Failure::Rejected {
                    object,
                    reason: error.to_string(),
                    is_forbidden: error.is_forbidden(),
                })
            }
        }
    }
}

/// Reads what a stamped object gives, and how it is.
fn read(
    resource: &Resource,
    selected: &Selected<'_>,
    template: &Template,
    inputs: &[(&Input, &Output)],
    stamped: stamped::Stamped,
) -> Realization {
    let deployment = inputs
        .iter()
        .find(|(input, _)| input.kind == InputKind::Deployment);
    let deployment = deployment.map(|(_, output)| *output);
    let (output, outcome) = match output::read(&template.output, &stamped.object, deployment) {
        Ok(output) => (output, Outcome::Submitted),
        Err(unavailable) => (None, Outcome::Failed(Failure::Unavailable(unavailable))),
    };
    let rule = template.health_rule.as_ref();
    Realization {
        health: health::judge(
            rule,
            template.kind(),
            Some(&stamped.object),
            output.is_some(),
        ),
        stamped: Some(stamped.reference),
        output,
        ..blank(resource, &selected.inputs, None, outcome)
    }
}

fn pass_through(
    resource: &Resource,
    selected: &Selected<'_>,
    name: &str,
    inputs: &[(&Input, &Output)],
) -> Realization {
    let wanted = match resource.template_kind {
        TemplateKind::Source => Some(InputKind::Source),
        TemplateKind::Image => Some(InputKind::Image),
        TemplateKind::Config => Some(InputKind::Config),
        TemplateKind::Deployment | TemplateKind::Plain => None,
    };
    let input = inputs
        .iter()
        .find(|(input, _)| Some(input.kind) == wanted && input.name == name);
    let outcome = match input {
        Some(_) => Outcome::PassedThrough,
        None => Outcome::Failed(Failure::NoSuchInput(name.to_owned())),
    };
    Realization {
        output: input.map(|(_, output)| (*output).clone()),
        ..blank(resource, &selected.inputs, None, outcome)
    }
}

/// A realization of which nothing but the outcome is known.
fn blank(
    resource: &Resource,
    inputs: &[&Input],
    template: Option<(TemplateKind, String)>,
    outcome: Outcome,
) -> Realization {
    let health: Verdict = health::unknown();
    Realization {
        resource: resource.name.clone(),
        template,
        stamped: None,
        producers: inputs.iter().map(|input| input.producer.clone()).collect(),
        outcome,
        output: None,
        health,
        is_observed: true,
    }
}
