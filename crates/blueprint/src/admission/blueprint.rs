//! The rules of supply chains and deliveries, in the order in which they are asked.

mod inputs;
#[cfg(test)]
mod multi_path_tests;
mod options;
#[cfg(test)]
mod tests;

use std::collections::HashSet;

use pathline_kinds::lenient;
use serde_json::Value;

use super::node::Node;
use super::selector::Spelling;
use super::{Refusal, Rule, Severity};
use crate::blueprint::Blueprint;
use crate::graph;
use crate::owner::OwnerKind;

/// Returns what is wrong with a blueprint.
///
/// In a multi-path blueprint the loose spellings are read as what they mean, and some rules only warn.
pub(super) fn blueprint(object: &Value) -> Vec<Refusal> {
    let blueprint = match Blueprint::read(without_fields(object)) {
        Ok(blueprint) => blueprint,
        Err(error) => return vec![malformed(object, &error)],
    };
    let is_multi_path = blueprint.is_multi_path();
    let mut corrected;
    let written = if is_multi_path {
        corrected = object.clone();
        lenient::correct_blueprint(&mut corrected);
        &corrected
    } else {
        object
    };
    let mut refusals = rules(&blueprint, &Node::root(written));
    let noun = blueprint.owner_kind.blueprint_kind().to_lowercase();
    for refusal in &mut refusals {
        refusal.message = format!(
            "error validating {noun} [{}]: {}",
            blueprint.name, refusal.message
        );
        refusal.severity = severity(refusal.rule, blueprint.owner_kind, is_multi_path);
    }
    refusals
}

fn rules(blueprint: &Blueprint, root: &Node<'_>) -> Vec<Refusal> {
    let owner = blueprint.owner_kind;
    let spec = root.nearest("spec");
    let resources = spec.items("resources");
    let mut refusals = Vec::new();
    if Spelling::BLUEPRINT.is_empty(&spec) {
        let message =
            "at least one selector, selectorMatchExpression, selectorMatchField must be specified";
        refusals.push(spec.refuse(Rule::NoBlueprintSelector, message));
    }
    refusals.extend(params(&spec, &resources));
    refusals.extend(Spelling::BLUEPRINT.check(&spec, owner));
    refusals.extend(duplicate_resources(owner, &resources));
    refusals.extend(resources.iter().flat_map(options::duplicate_templates));
    refusals.extend(
        resources
            .iter()
            .flat_map(|resource| options::template_ref(resource, owner)),
    );
    refusals.extend(inputs::pass_through(blueprint));
    refusals.extend(inputs::deployments(blueprint, &resources));
    refusals.extend(inputs::producers(blueprint));
    refusals.extend(inputs::conflicts(blueprint));
    refusals.extend(cycle(blueprint, &spec));
    refusals
}

/// Says what follows from a broken rule.
///
/// Cartographer never asks where the inputs of a delivery come from, nor whether two have one name;
/// what it stores, Pathline stores.
fn severity(rule: Rule, owner: OwnerKind, is_multi_path: bool) -> Severity {
    let only_warns = match rule {
        Rule::DuplicateTemplate | Rule::DuplicateSelector | Rule::EmptySelector => is_multi_path,
        Rule::KindMismatch => is_multi_path || owner == OwnerKind::Deliverable,
        Rule::UnknownResource => !is_multi_path && owner == OwnerKind::Deliverable,
        Rule::DuplicateInput => !is_multi_path,
        _ => false,
    };
    if only_warns {
        Severity::Warning
    } else {
        Severity::Error
    }
}

/// Returns the blueprint without its requirements on fields: what is wrong with those has rules of its
/// own, and nothing else depends on them.
fn without_fields(object: &Value) -> Value {
    let mut object = object.clone();
    let resources = object.pointer_mut("/spec/resources");
    for resource in resources
        .and_then(Value::as_array_mut)
        .into_iter()
        .flatten()
    {
        drop_fields(resource);
        let options = resource.pointer_mut("/templateRef/options");
        for option in options.and_then(Value::as_array_mut).into_iter().flatten() {
            drop_fields(option);
        }
    }
    if let Some(spec) = object.get_mut("spec").and_then(Value::as_object_mut) {
        spec.remove("selectorMatchFields");
    }
    object
}

fn drop_fields(holder: &mut Value) {
    let selector = holder.get_mut("selector").and_then(Value::as_object_mut);
    if let Some(selector) = selector {
        selector.remove("matchFields");
    }
}

fn malformed(object: &Value, error: &dyn std::error::Error) -> Refusal {
    let mut message = error.to_string();
    if let Some(source) = error.source() {
        message = format!("{message}: {source}");
    }
    Node::root(object)
        .nearest("spec")
        .refuse(Rule::Malformed, message)
}

fn params(spec: &Node<'_>, resources: &[Node<'_>]) -> Vec<Refusal> {
    let mut refusals: Vec<Refusal> = undecided_params(spec, "").collect();
    for resource in resources {
        let prefix = format!("resource [{}] is invalid: ", name(resource));
        refusals.extend(undecided_params(resource, &prefix));
    }
    refusals
}

/// A null is a value: it was written, and it is honoured.
fn undecided_params(holder: &Node<'_>, prefix: &str) -> impl Iterator<Item = Refusal> {
    let params = holder.items("params").into_iter();
    let undecided = params
        .filter(|param| param.value.get("value").is_some() == param.value.get("default").is_some());
    undecided.map(move |param| {
        let message = format!(
            "{prefix}param [{}] is invalid: must set exactly one of value and default",
            name(&param)
        );
        param.refuse(Rule::Param, message)
    })
}

fn duplicate_resources(owner: OwnerKind, resources: &[Node<'_>]) -> Vec<Refusal> {
    let mut seen = HashSet::new();
    let again = resources
        .iter()
        .enumerate()
        .filter(|(_, resource)| !seen.insert(name(resource)));
    again
        .map(|(index, resource)| {
            let name = name(resource);
            let message = match owner {
                OwnerKind::Workload => format!("duplicate resource name [{name}] found"),
                OwnerKind::Deliverable => {
                    format!("spec.resources[{index}].name \"{name}\" cannot appear twice")
                }
            };
            resource
                .nearest("name")
                .refuse(Rule::DuplicateResource, message)
        })
        .collect()
}

/// Cartographer accepts cycles, and never finishes them.
fn cycle(blueprint: &Blueprint, spec: &Node<'_>) -> Option<Refusal> {
    let Err(fault @ graph::Fault::Cycle(_)) = graph::order(blueprint) else {
        return None;
    };
    Some(
        spec.nearest("resources")
            .refuse(Rule::Cycle, fault.to_string()),
    )
}

/// Returns the name of a resource or a param, as messages show it.
fn name<'v>(node: &Node<'v>) -> &'v str {
    node.text("name").unwrap_or_default()
}
