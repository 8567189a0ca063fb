//! `pathline blueprint paths`: every path, with the smallest owner that takes it.

use std::io::{self, Write};

use anstyle::Style;
use pathline_blueprint::blueprint::Blueprint;
use pathline_blueprint::path::{self, ResourceReport, State};
use pathline_blueprint::reach::{self, Budget, Path};
use serde::Serialize;
use serde_json::Value;

use super::source;
use crate::cli::PathsArgs;
use crate::terminal::output::print_data;
use crate::terminal::report::{CommandError, Exit};

const HEADER: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();

/// All paths, or as many as were asked for or could be found.
#[derive(Debug, Serialize)]
struct PathsReport {
    paths: Vec<ExamplePath>,
    /// Whether these are all.
    complete: bool,
}

/// A path and an owner that takes it; null if none could be made.
#[derive(Debug, Serialize)]
struct ExamplePath {
    resources: Vec<ResourceReport>,
    owner: Value,
}

pub(super) fn run(args: &PathsArgs) -> Result<Exit, CommandError> {
    let blueprint = source::blueprint(&args.blueprint)?;
    let found = reach::paths(&blueprint, args.limit, Budget::for_paths());
    let found = found.map_err(|fault| source::fault(&args.blueprint.file, &blueprint, fault))?;
    let paths = found.paths.into_iter();
    let report = PathsReport {
        paths: paths
            .map(|path| ExamplePath::new(&blueprint, path))
            .collect(),
        complete: found.complete,
    };
    print_data(args.output.format, &report, |out| report.write(out))?;
    Ok(Exit::Yes)
}

impl ExamplePath {
    fn new(blueprint: &Blueprint, path: Path) -> Self {
        match path.example {
            Ok(example) => Self {
                resources: path::resources(blueprint, &example.steps),
                owner: example.workload,
            },
            Err(why) => {
                let states = path.states.into_iter().enumerate();
                Self {
                    resources: states
                        .map(|(index, state)| {
                            path::resource(blueprint, index, state, why.to_string())
                        })
                        .collect(),
                    owner: Value::Null,
                }
            }
        }
    }
}

impl PathsReport {
    fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        for (index, path) in self.paths.iter().enumerate() {
            let selected = path.resources.iter().filter_map(in_short);
            let selected: Vec<String> = selected.collect();
            let selected = match selected.is_empty() {
                true => "nothing is selected".to_owned(),
                false => selected.join(", "),
            };
            writeln!(out, "{HEADER}{}.{HEADER:#} {selected}", index + 1)?;
            writeln!(out, "   {DIM}{}{DIM:#}", example(&path.owner))?;
        }
        let count = self.paths.len();
        match (self.complete, count) {
            (true, 1) => writeln!(out, "\n1 path"),
            (true, _) => writeln!(out, "\n{count} paths"),
            (false, _) => writeln!(out, "\n{count} paths; there may be more"),
        }
    }
}

fn in_short(resource: &ResourceReport) -> Option<String> {
    let name = &resource.name;
    match (resource.state, resource.option) {
        (State::Selected, Some(option)) => Some(format!("{name} {option}")),
        (State::Selected, None) => Some(name.clone()),
        (State::Failed, _) => Some(format!("{name} fails")),
        (State::Skipped, _) => None,
    }
}

/// Returns labels and fields of an owner in one line.
fn example(owner: &Value) -> String {
    if owner.is_null() {
        return "no example could be made".to_owned();
    }
    let mut said = Vec::new();
    let labels = owner.pointer("/metadata/labels").and_then(Value::as_object);
    for (name, value) in labels.into_iter().flatten() {
        said.push(format!(
            "label {name}={}",
            value.as_str().unwrap_or_default()
        ));
    }
    for part in ["metadata", "spec"] {
        flatten(part, &owner[part], &mut said);
    }
    match said.is_empty() {
        true => "for an owner that says nothing".to_owned(),
        false => format!("for {}", said.join(", ")),
    }
}

fn flatten(path: &str, value: &Value, said: &mut Vec<String>) {
    match value {
        Value::Null => {}
        Value::Object(fields) if fields.is_empty() && path != "spec" => {
            said.push(format!("{path}={{}}"))
        }
        Value::Object(fields) => {
            for (name, value) in fields {
                let is_told_elsewhere = path == "metadata" && (name == "labels" || name == "name");
                if !is_told_elsewhere {
                    flatten(&format!("{path}.{name}"), value, said);
                }
            }
        }
        other => said.push(format!("{path}={other}")),
    }
}
