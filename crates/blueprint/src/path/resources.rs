//! The path of an owner as a report: the decision for each resource, and its reason.
//!
//! The same for one owner, for all paths of a blueprint, for tests and for drawings.

use serde::Serialize;
use serde_json::{Map, Value};

use crate::blueprint::{Blueprint, InputKind};
use crate::reach;
use crate::selection::{Action, Selected, Step, explain};

/// The decision for one resource, and its reason.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ResourceReport {
    /// The name of the resource.
    pub name: String,
    /// The state: whether it is on the path.
    pub state: State,
    /// The index of the option; none for a single template.
    pub option: Option<usize>,
    /// The template that is stamped.
    pub template: Option<String>,
    /// The input that is passed on instead.
    pub pass_through: Option<String>,
    /// The producers of its inputs, by the kind and the name under which templates know them.
    pub inputs: Map<String, Value>,
    /// The reason for the decision, for people.
    pub reason: String,
}

/// Tells whether a resource is on the path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// It is.
    Selected,
    /// It is left out.
    Skipped,
    /// It should be, and cannot.
    Failed,
}

impl State {
    /// Returns the word for the state.
    pub fn name(self) -> &'static str {
        match self {
            Self::Selected => "selected",
            Self::Skipped => "skipped",
            Self::Failed => "failed",
        }
    }
}

/// Returns the decisions for all resources, in declared order.
pub fn resources(blueprint: &Blueprint, steps: &[Step]) -> Vec<ResourceReport> {
    let decided = steps.iter().enumerate();
    decided
        .map(|(index, step)| {
            let reason = explain(blueprint, index, steps);
            resource(blueprint, index, reach::State::from(step), reason)
        })
        .collect()
}

/// Returns the decision for a resource, given by its index.
pub fn resource(
    blueprint: &Blueprint,
    index: usize,
    state: reach::State,
    reason: String,
) -> ResourceReport {
    let (state, selected) = match state {
        reach::State::Selected { option } => {
            (State::Selected, Some(blueprint.selected(index, option)))
        }
        reach::State::Skipped => (State::Skipped, None),
        reach::State::Failed => (State::Failed, None),
    };
    let action = selected.as_ref().map(|selected| selected.action);
    ResourceReport {
        name: blueprint.resources[index].name.clone(),
        state,
        option: selected.as_ref().and_then(|selected| selected.option),
        template: match action {
            Some(Action::Stamp(name)) => Some(name.to_owned()),
            _ => None,
        },
        pass_through: match action {
            Some(Action::PassThrough(input)) => Some(input.to_owned()),
            _ => None,
        },
        inputs: selected.as_ref().map(inputs).unwrap_or_default(),
        reason,
    }
}

fn inputs(selected: &Selected<'_>) -> Map<String, Value> {
    let mut inputs = Map::new();
    for input in &selected.inputs {
        let producer = Value::from(input.producer.as_str());
        if input.kind == InputKind::Deployment {
            inputs.insert(input.kind.field().to_owned(), producer);
        } else {
            let kind = inputs
                .entry(input.kind.field())
                .or_insert_with(|| Map::new().into());
            kind[input.name.as_str()] = producer;
        }
    }
    inputs
}

impl ResourceReport {
    /// Returns what is done for the resource, in few words.
    pub fn choice(&self) -> String {
        let what = match (&self.template, &self.pass_through) {
            (Some(template), _) => template.clone(),
            (None, Some(input)) => format!("passes on {input}"),
            (None, None) => String::new(),
        };
        match self.option {
            Some(option) => format!("{option}: {what}"),
            None => what,
        }
    }
}
