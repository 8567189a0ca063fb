//! A path, as it is printed: the same for one owner, for all paths and for tests.

use std::io::{self, Write};

use anstyle::{AnsiColor, Style};
use pathline_blueprint::blueprint::{Blueprint, InputKind};
use pathline_blueprint::reach;
use pathline_blueprint::selection::{Action, Selected, Step, explain};
use serde::Serialize;
use serde_json::{Map, Value};

const SELECTED: Style = AnsiColor::Green.on_default();
const SKIPPED: Style = Style::new().dimmed();
const FAILED: Style = AnsiColor::Red.on_default().bold();
const HEADER: Style = Style::new().bold();

/// What is decided for one resource, and why.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ResourceReport {
    pub(super) name: String,
    pub(super) state: State,
    /// The index of the option; none for a single template.
    pub(super) option: Option<usize>,
    pub(super) template: Option<String>,
    pub(super) pass_through: Option<String>,
    inputs: Map<String, Value>,
    pub(super) reason: String,
}

/// Whether a resource is on the path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum State {
    Selected,
    Skipped,
    Failed,
}

impl State {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Selected => "selected",
            Self::Skipped => "skipped",
            Self::Failed => "failed",
        }
    }

    pub(super) fn style(self) -> Style {
        match self {
            Self::Selected => SELECTED,
            Self::Skipped => SKIPPED,
            Self::Failed => FAILED,
        }
    }
}

/// Returns what was decided for all resources, in declared order.
pub(super) fn resources(blueprint: &Blueprint, steps: &[Step]) -> Vec<ResourceReport> {
    let decided = steps.iter().enumerate();
    decided
        .map(|(index, step)| {
            let reason = explain(blueprint, index, steps);
            resource(blueprint, index, reach::State::from(step), reason)
        })
        .collect()
}

/// Returns what becomes of a resource.
pub(super) fn resource(
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

/// Returns the producers of inputs, by the kind and the name under which templates know them.
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
    pub(super) fn choice(&self) -> String {
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

/// Writes one line for each resource.
pub(super) fn write_table(resources: &[ResourceReport], out: &mut dyn Write) -> io::Result<()> {
    let choices: Vec<String> = resources.iter().map(ResourceReport::choice).collect();
    let names = resources.iter().map(|resource| resource.name.as_str());
    let name_width = width(names.chain(["RESOURCE"]));
    let choice_width = width(choices.iter().map(String::as_str).chain(["TEMPLATE"]));
    writeln!(
        out,
        "{HEADER}{:name_width$}  STATE     {:choice_width$}  REASON{HEADER:#}",
        "RESOURCE", "TEMPLATE"
    )?;
    for (resource, choice) in resources.iter().zip(&choices) {
        let (name, state) = (&resource.name, resource.state.name());
        let (style, reason) = (resource.state.style(), &resource.reason);
        writeln!(
            out,
            "{name:name_width$}  {style}{state:8}{style:#}  {choice:choice_width$}  {reason}"
        )?;
    }
    Ok(())
}

fn width<'t>(texts: impl Iterator<Item = &'t str>) -> usize {
    texts
        .map(|text| text.chars().count())
        .max()
        .unwrap_or_default()
}
