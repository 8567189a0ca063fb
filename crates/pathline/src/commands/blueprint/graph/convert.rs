//! Blueprints as graphs.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use pathline_blueprint::blueprint::{Blueprint, Resource, Templates};
use pathline_blueprint::path::{self, ResourceReport};
use pathline_graph::{Edge, Graph, Node, State};

/// The most options that a node lists.
const MAX_OPTIONS: usize = 8;
/// The longest line of a node, in characters.
const MAX_LINE: usize = 48;

/// Index of the owner.
const OWNER: usize = 0;

/// Returns a blueprint as a graph, whose root is the owner; with a path, what is on it.
pub(super) fn graph(blueprint: &Blueprint, path: Option<&[ResourceReport]>) -> Graph {
    let owner = Node {
        name: blueprint.owner_kind.noun().to_owned(),
        lines: Vec::new(),
        state: path.map(|_| State::Selected),
        reason: None,
    };
    let resources = blueprint.resources.iter().enumerate();
    let resources =
        resources.map(|(index, resource)| node(resource, path.map(|path| &path[index])));
    Graph {
        name: "blueprint".to_owned(),
        nodes: [owner].into_iter().chain(resources).collect(),
        edges: edges(blueprint, path),
    }
}

/// Returns the text at an edge of some options; none if it is there for all.
fn label(options: &BTreeSet<usize>) -> Option<String> {
    let options: Vec<String> = options.iter().map(ToString::to_string).collect();
    match options.len() {
        0 => None,
        1 => Some(format!("option {}", options[0])),
        _ => Some(format!("options {}", options.join(", "))),
    }
}

fn node(resource: &Resource, report: Option<&ResourceReport>) -> Node {
    let mut lines = vec![resource.template_kind.name().to_owned()];
    match &resource.templates {
        Templates::One(name) => lines.push(cut(name)),
        Templates::Options(options) => {
            let chosen = report.and_then(|report| report.option);
            for (index, option) in options.iter().enumerate().take(MAX_OPTIONS) {
                let mark = if chosen == Some(index) { "▸ " } else { "" };
                let passes = if option.pass_through.is_some() {
                    "passes on "
                } else {
                    ""
                };
                lines.push(cut(&format!("{mark}{index}: {passes}{}", option.label())));
            }
            if options.len() > MAX_OPTIONS {
                lines.push(format!("and {} more", options.len() - MAX_OPTIONS));
            }
        }
    }
    let state = report.map(|report| state(report.state));
    lines.extend(
        state
            .filter(|state| *state != State::Selected)
            .map(|state| state.name().to_owned()),
    );
    Node {
        name: cut(&resource.name),
        lines,
        state,
        reason: report.map(|report| report.reason.clone()),
    }
}

fn state(state: path::State) -> State {
    match state {
        path::State::Selected => State::Selected,
        path::State::Skipped => State::Skipped,
        path::State::Failed => State::Failed,
    }
}

/// Shortens a line, and keeps what would act on a terminal or break a line out of it.
fn cut(line: &str) -> String {
    let printable = |character: char| {
        if character.is_control() {
            '\u{fffd}'
        } else {
            character
        }
    };
    let whole: String = line.chars().map(printable).collect();
    match whole.char_indices().nth(MAX_LINE) {
        None => whole,
        Some((end, _)) => format!("{}…", &whole[..end]),
    }
}

/// The options that an edge belongs to, and whether it belongs to all.
#[derive(Default)]
struct Belongs {
    to_all: bool,
    options: BTreeSet<usize>,
}

fn edges(blueprint: &Blueprint, path: Option<&[ResourceReport]>) -> Vec<Edge> {
    let names = blueprint.resources.iter().enumerate();
    let indexes: HashMap<&str, usize> = names
        .map(|(index, resource)| (resource.name.as_str(), index + 1))
        .collect();
    let mut edges = Vec::new();
    for (index, resource) in blueprint.resources.iter().enumerate() {
        let report = path.map(|path| &path[index]);
        for (from, belongs) in incoming(resource, &indexes) {
            edges.push(Edge {
                from,
                to: index + 1,
                is_taken: report.map(|report| belongs.is_taken(report)),
                label: match belongs.to_all {
                    true => None,
                    false => label(&belongs.options),
                },
            });
        }
    }
    edges
}

fn incoming(resource: &Resource, indexes: &HashMap<&str, usize>) -> BTreeMap<usize, Belongs> {
    let mut incoming: BTreeMap<usize, Belongs> = BTreeMap::new();
    for input in &resource.inputs {
        let from = indexes[input.producer.as_str()];
        incoming.entry(from).or_default().to_all = true;
    }
    for (option, declared) in resource.options().iter().enumerate() {
        for input in &declared.inputs {
            let from = indexes[input.producer.as_str()];
            incoming.entry(from).or_default().options.insert(option);
        }
        if declared.inputs.is_empty() && resource.inputs.is_empty() {
            incoming.entry(OWNER).or_default().options.insert(option);
        }
    }
    if incoming.is_empty() {
        incoming.entry(OWNER).or_default().to_all = true;
    }
    incoming
}

impl Belongs {
    fn is_taken(&self, report: &ResourceReport) -> bool {
        let of_option = report
            .option
            .is_some_and(|option| self.options.contains(&option));
        report.state == path::State::Selected && (self.to_all || of_option)
    }
}
