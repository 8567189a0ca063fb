//! The reasons of a decision, in words.

use std::collections::HashSet;

use pathline_kinds::carto::{Operator, Selector};

use super::step::{NoTemplate, Skip, Step, Unmet};
use crate::blueprint::{Blueprint, Input};
use crate::selector::{Requirement, Subject, requirements};

/// The largest number of options or producers that a reason speaks of, so that it stays readable.
const MAX_LISTED: usize = 10;

/// Returns the reason for what was decided for a resource, given what was decided for all.
pub fn explain(blueprint: &Blueprint, resource: usize, steps: &[Step]) -> String {
    let explained = Explained {
        blueprint,
        resource,
        steps,
    };
    match &steps[resource] {
        Step::Selected { option: None } => explained.single(),
        Step::Selected {
            option: Some(index),
        } => explained.chosen(*index),
        Step::Skipped(Skip::Unmet(unmet)) => explained.unmet(None, *unmet),
        Step::Skipped(Skip::NoOption(unmet)) => explained.no_option(unmet),
        Step::Failed(why) => explained.failed(why),
    }
}

struct Explained<'e> {
    blueprint: &'e Blueprint,
    resource: usize,
    steps: &'e [Step],
}

impl Explained<'_> {
    fn single(&self) -> String {
        let (selector, inputs) = self.demands(None);
        met(selector, inputs).map_or_else(|| "it is on every path".to_owned(), |met| met.join(", "))
    }

    fn chosen(&self, option: usize) -> String {
        if !self.blueprint.is_multi_path() {
            return format!("option {option} matches best");
        }
        let (selector, inputs) = self.demands(Some(option));
        let what = format!("option {option} is the first that is selected");
        match met(selector, inputs) {
            Some(met) => format!("{what}: {}", met.join(", ")),
            None => what,
        }
    }

    fn no_option(&self, unmet: &[Unmet]) -> String {
        if unmet.is_empty() {
            return "it has neither a template nor an option".to_owned();
        }
        let reasons: Vec<String> = unmet
            .iter()
            .enumerate()
            .map(|(option, unmet)| format!("option {option}: {}", self.unmet(Some(option), *unmet)))
            .collect();
        format!("no option is selected: {}", listed(&reasons, "; "))
    }

    fn unmet(&self, option: Option<usize>, unmet: Unmet) -> String {
        let (selector, inputs) = self.demands(option);
        match unmet {
            Unmet::Selector { requirement } => {
                let mut requirements = selector.into_iter().flat_map(requirements);
                requirements
                    .nth(requirement)
                    .map_or_else(String::new, denied)
            }
            Unmet::Producer { input, producer } => {
                let state = match self.steps[producer] {
                    Step::Failed(_) => "has failed",
                    Step::Skipped(_) | Step::Selected { .. } => "is skipped",
                };
                let Input { name, producer, .. } = &inputs[input];
                let name = if name.is_empty() { "deployment" } else { name };
                format!("the producer [{producer}] of input [{name}] {state}")
            }
        }
    }

    fn failed(&self, why: &NoTemplate) -> String {
        match why {
            NoTemplate::Matches(options) if options.is_empty() => {
                "no option matches; exactly one must match best".to_owned()
            }
            NoTemplate::Matches(options) => format!(
                "options [{}] match equally well; exactly one must match best",
                options.join(", ")
            ),
            NoTemplate::Selector { option, reason } => {
                format!("the selector of option [{option}] cannot be evaluated: {reason}")
            }
            NoTemplate::OwnSelector(reason) => {
                format!("its selector cannot be evaluated: {reason}")
            }
        }
    }

    fn demands(&self, option: Option<usize>) -> (Option<&Selector>, &[Input]) {
        let resource = &self.blueprint.resources[self.resource];
        match option {
            None => (resource.selector.as_ref(), &resource.inputs),
            Some(option) => {
                let option = &resource.options()[option];
                (option.selector.as_ref(), &option.inputs)
            }
        }
    }
}

/// Returns what speaks for something that was selected, if it asks for anything.
fn met(selector: Option<&Selector>, inputs: &[Input]) -> Option<Vec<String>> {
    let mut met = Vec::new();
    if selector.is_some_and(|selector| requirements(selector).next().is_some()) {
        met.push("its selector matches".to_owned());
    }
    let mut known = HashSet::new();
    let producers = inputs.iter().map(|input| input.producer.as_str());
    let producers: Vec<String> = producers
        .filter(|producer| known.insert(*producer))
        .map(|producer| format!("[{producer}]"))
        .collect();
    match &producers[..] {
        [] => {}
        [one] => met.push(format!("{one} is selected")),
        several => met.push(format!("{} are selected", listed(several, " and "))),
    }
    (!met.is_empty()).then_some(met)
}

/// Joins the first of many parts, and counts the others.
fn listed(parts: &[String], separator: &str) -> String {
    match parts.len().checked_sub(MAX_LISTED) {
        None | Some(0) => parts.join(separator),
        Some(more) => {
            let first = parts[..MAX_LISTED].join(separator);
            format!("{first}{separator}{more} more")
        }
    }
}

/// Says how a requirement does not hold.
fn denied(requirement: Requirement<'_>) -> String {
    let subject = match requirement.subject {
        Subject::Label(key) => format!("label [{key}]"),
        Subject::Field(key) => format!("field [{key}]"),
    };
    let values = requirement.values.join(", ");
    match (Operator::named(requirement.operator), requirement.values) {
        (Some(Operator::In), [_]) => format!("{subject} is not [{values}]"),
        (Some(Operator::In), _) => format!("{subject} is none of [{values}]"),
        (Some(Operator::NotIn), [_]) => format!("{subject} is [{values}]"),
        (Some(Operator::NotIn), _) => format!("{subject} is one of [{values}]"),
        (Some(Operator::Exists), _) => format!("{subject} does not exist"),
        (Some(Operator::DoesNotExist), _) => format!("{subject} exists"),
        (None, _) => format!("{subject} cannot be compared"),
    }
}
