//! The rules of what flows between resources.

use std::collections::HashMap;

use pathline_jsonpath::FieldPath;
use pathline_kinds::field_path;

use crate::admission::node::Node;
use crate::admission::{Refusal, Rule, Severity};
use crate::blueprint::{Blueprint, Input, InputKind, Resource};
use crate::owner::OwnerKind;
use crate::template::TemplateKind;

/// Refuses options that hand on what they do not take in.
pub(super) fn pass_through(blueprint: &Blueprint) -> Vec<Refusal> {
    let mut refusals = Vec::new();
    for (index, resource) in blueprint.resources.iter().enumerate() {
        for (option_index, option) in resource.options().iter().enumerate() {
            let Some(target) = option
                .pass_through
                .as_deref()
                .filter(|name| !name.is_empty())
            else {
                continue;
            };
            let path =
                field_path::option(&field_path::resource(index), option_index).field("passThrough");
            let problem = match handed_on(resource.template_kind) {
                None => Some((
                    Rule::PassThroughKind,
                    format!(
                        "TemplateRef.Kind [{}] is not a known type",
                        resource.template_kind.name()
                    ),
                )),
                Some(kind) => {
                    let mut inputs = resource.inputs.iter().chain(&option.inputs);
                    let is_input = inputs.any(|input| input.kind == kind && input.name == target);
                    (!is_input).then(|| {
                        (
                            Rule::UnknownPassThrough,
                            format!("pass through [{target}] does not refer to a known input"),
                        )
                    })
                }
            };
            refusals.extend(problem.map(|(rule, problem)| {
                let message = format!("error validating resource [{}]: {problem}", resource.name);
                refusal(rule, message, path)
            }));
        }
    }
    refusals
}

/// Returns what a resource with templates of a kind can hand on.
fn handed_on(kind: TemplateKind) -> Option<InputKind> {
    match kind {
        TemplateKind::Source => Some(InputKind::Source),
        TemplateKind::Image => Some(InputKind::Image),
        TemplateKind::Config => Some(InputKind::Config),
        TemplateKind::Deployment | TemplateKind::Plain => None,
    }
}

/// Applies the rules about who deploys, which only deliveries have.
pub(super) fn deployments(blueprint: &Blueprint, written: &[Node<'_>]) -> Vec<Refusal> {
    if blueprint.owner_kind != OwnerKind::Deliverable {
        return Vec::new();
    }
    let resources = || blueprint.resources.iter().zip(written);
    let receivers = resources().filter_map(|(resource, node)| {
        let deploys = resource.template_kind == TemplateKind::Deployment;
        let problem = match (deploys, node.get("deployment").is_some()) {
            (true, false) => "is a ClusterDeploymentTemplate and must receive a deployment",
            (false, true) => "receives a deployment but is not a ClusterDeploymentTemplate",
            (true, true) | (false, false) => return None,
        };
        Some((resource, node.nearest("deployment"), problem))
    });
    let configured = resources().filter_map(|(resource, node)| {
        let configs = node.get("configs")?;
        let problem = "is a ClusterDeploymentTemplate and must not receive config";
        (resource.template_kind == TemplateKind::Deployment).then_some((resource, configs, problem))
    });
    receivers
        .chain(configured)
        .map(|(resource, node, problem)| {
            let message = format!("spec.resources[{}] {problem}", resource.name);
            node.refuse(Rule::DeploymentInput, message)
        })
        .collect()
}

/// Refuses inputs from resources that do not exist, or that give something else.
pub(super) fn producers(blueprint: &Blueprint) -> Vec<Refusal> {
    let kinds: HashMap<&str, TemplateKind> = blueprint
        .resources
        .iter()
        .rev()
        .map(|resource| (resource.name.as_str(), resource.template_kind))
        .collect();
    let mut refusals = Vec::new();
    for (index, resource) in blueprint.resources.iter().enumerate() {
        for (consumer, place, inputs) in takers(index, resource) {
            for (input, path) in placed(inputs, &place) {
                let problem = producer_wrong(input, kinds.get(input.producer.as_str()).copied());
                refusals.extend(problem.map(|(rule, problem)| {
                    let field = input.declared.field();
                    refusal(
                        rule,
                        format!("invalid {field} for {consumer}: {problem}"),
                        path,
                    )
                }));
            }
        }
    }
    refusals
}

/// Refuses two producers of what a template knows by one name.
pub(super) fn conflicts(blueprint: &Blueprint) -> Vec<Refusal> {
    let mut refusals = Vec::new();
    for (index, resource) in blueprint.resources.iter().enumerate() {
        let mut of_resource = HashMap::new();
        for (position, (consumer, place, inputs)) in takers(index, resource).into_iter().enumerate()
        {
            let mut known = of_resource.clone();
            for (input, path) in placed(inputs, &place) {
                let first = *known
                    .entry((input.kind, input.name.as_str()))
                    .or_insert(input.producer.as_str());
                if first != input.producer {
                    let message = format!(
                        "{} for {consumer} take [{}] from both [{first}] and [{}]",
                        input.kind.field(),
                        input.name,
                        input.producer
                    );
                    refusals.push(refusal(Rule::DuplicateInput, message, path));
                }
            }
            if position == 0 {
                of_resource = known;
            }
        }
    }
    refusals
}

/// Returns who takes inputs in, what messages call it, and where: the resource, then its options.
fn takers(index: usize, resource: &Resource) -> Vec<(String, FieldPath, &[Input])> {
    let place = field_path::resource(index);
    let consumer = format!("resource [{}]", resource.name);
    let options = resource.options().iter().enumerate();
    let options = options.map(|(option_index, option)| {
        let label = option.name.as_deref().unwrap_or("passThrough");
        (
            format!("option [{label}] of {consumer}"),
            field_path::option(&place, option_index),
            option.inputs.as_slice(),
        )
    });
    let mut takers: Vec<_> = options.collect();
    takers.insert(0, (consumer, place, resource.inputs.as_slice()));
    takers
}

/// Returns inputs with their places: those of one kind stand in one list, in order.
fn placed<'b>(inputs: &'b [Input], at: &FieldPath) -> Vec<(&'b Input, FieldPath)> {
    let mut counts: HashMap<InputKind, usize> = HashMap::new();
    let place = |input: &'b Input| {
        let count = counts.entry(input.declared).or_default();
        let list = at.field(input.declared.field());
        let path = match input.declared {
            InputKind::Deployment => list,
            InputKind::Source | InputKind::Image | InputKind::Config => list.index(*count),
        };
        *count += 1;
        (input, path)
    };
    inputs.iter().map(place).collect()
}

fn producer_wrong(input: &Input, producer: Option<TemplateKind>) -> Option<(Rule, String)> {
    let name = match input.declared {
        InputKind::Deployment => "deployment",
        InputKind::Source | InputKind::Image | InputKind::Config => &input.name,
    };
    let Some(producer) = producer else {
        let problem = format!(
            "[{name}] is provided by unknown resource [{}]",
            input.producer
        );
        return Some((Rule::UnknownResource, problem));
    };
    let (wanted, template) = match input.declared {
        InputKind::Source | InputKind::Deployment => (InputKind::Source, TemplateKind::Source),
        InputKind::Image => (InputKind::Image, TemplateKind::Image),
        InputKind::Config => (InputKind::Config, TemplateKind::Config),
    };
    (InputKind::made_by(producer) != Some(wanted)).then(|| {
        let problem = format!(
            "resource [{}] providing [{name}] must reference a {}",
            input.producer,
            template.name()
        );
        (Rule::KindMismatch, problem)
    })
}

fn refusal(rule: Rule, message: String, path: FieldPath) -> Refusal {
    Refusal {
        rule,
        severity: Severity::Error,
        message,
        path,
    }
}
