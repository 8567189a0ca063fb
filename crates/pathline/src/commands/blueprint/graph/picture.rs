//! What there is to draw, whatever it is drawn with.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use pathline_blueprint::blueprint::{Blueprint, Resource, Templates};

use super::super::report::{ResourceReport, State};

/// How many options a node lists.
const OPTIONS_MAX: usize = 8;
/// How long a line of a node may be, in characters.
const LINE_MAX: usize = 48;

/// A blueprint as nodes and edges. The first node is the owner.
pub(super) struct Picture {
    pub(super) nodes: Vec<Node>,
    pub(super) edges: Vec<Edge>,
}

/// The owner, or a resource.
pub(super) struct Node {
    pub(super) name: String,
    /// What it stamps: a line for its kind, one for its template or for each option.
    pub(super) lines: Vec<String>,
    /// Whether it is on the path, if there is one.
    pub(super) state: Option<State>,
    /// Why.
    pub(super) reason: Option<String>,
}

/// Something flows from one node to another, or an option has nothing but the owner to decide it.
pub(super) struct Edge {
    pub(super) from: usize,
    pub(super) to: usize,
    /// The options it belongs to; none if it is there for all.
    pub(super) options: Vec<usize>,
    /// Whether the path takes it, if there is one.
    pub(super) is_taken: Option<bool>,
}

/// Index of the owner.
const OWNER: usize = 0;

impl Picture {
    pub(super) fn new(blueprint: &Blueprint, path: Option<&[ResourceReport]>) -> Self {
        let owner = Node {
            name: blueprint.owner_kind.noun().to_owned(),
            lines: Vec::new(),
            state: path.map(|_| State::Selected),
            reason: None,
        };
        let resources = blueprint.resources.iter().enumerate();
        let resources =
            resources.map(|(index, resource)| node(resource, path.map(|path| &path[index])));
        Self {
            nodes: [owner].into_iter().chain(resources).collect(),
            edges: edges(blueprint, path),
        }
    }

    /// Returns the nodes that are not on the path, with the reason.
    pub(super) fn left_out(&self) -> impl Iterator<Item = (&Node, State, &str)> {
        self.nodes.iter().filter_map(|node| {
            let state = node.state.filter(|state| *state != State::Selected)?;
            Some((node, state, node.reason.as_deref().unwrap_or_default()))
        })
    }
}

impl Edge {
    /// Returns what is written at it; nothing if it is there for all options.
    pub(super) fn label(&self) -> Option<String> {
        let options: Vec<String> = self.options.iter().map(ToString::to_string).collect();
        match options.len() {
            0 => None,
            1 => Some(format!("option {}", options[0])),
            _ => Some(format!("options {}", options.join(", "))),
        }
    }
}

fn node(resource: &Resource, report: Option<&ResourceReport>) -> Node {
    let mut lines = vec![resource.template_kind.name().to_owned()];
    match &resource.templates {
        Templates::One(name) => lines.push(cut(name)),
        Templates::Options(options) => {
            let chosen = report.and_then(|report| report.option);
            for (index, option) in options.iter().enumerate().take(OPTIONS_MAX) {
                let mark = if chosen == Some(index) { "▸ " } else { "" };
                let passes = if option.pass_through.is_some() {
                    "passes on "
                } else {
                    ""
                };
                lines.push(cut(&format!("{mark}{index}: {passes}{}", option.label())));
            }
            if options.len() > OPTIONS_MAX {
                lines.push(format!("and {} more", options.len() - OPTIONS_MAX));
            }
        }
    }
    let state = report.map(|report| report.state);
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
    match whole.char_indices().nth(LINE_MAX) {
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
                options: if belongs.to_all {
                    Vec::new()
                } else {
                    belongs.options.into_iter().collect()
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
        report.state == State::Selected && (self.to_all || of_option)
    }
}
