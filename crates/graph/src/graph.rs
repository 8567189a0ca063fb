//! Graphs, whatever they are drawn with.

use anstyle::{AnsiColor, Style};

/// Nodes and edges. The first node is the root, from which everything flows. Drawing panics if an edge
/// names a node that is not there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Graph {
    /// The name of the graph, an identifier for languages that want one.
    pub name: String,
    /// The nodes; edges name them by their index.
    pub nodes: Vec<Node>,
    /// The edges.
    pub edges: Vec<Edge>,
}

/// A box with some lines of text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Node {
    /// The first line.
    pub name: String,
    /// The other lines.
    pub lines: Vec<String>,
    /// The state: whether it is on the path, if there is one.
    pub state: Option<State>,
    /// The reason that it is, or is not.
    pub reason: Option<String>,
}

/// An arrow from one node to another.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Edge {
    /// The index of the node that it comes from.
    pub from: usize,
    /// The index of the node that it goes to.
    pub to: usize,
    /// The text at it.
    pub label: Option<String>,
    /// Whether the path takes it, if there is one.
    pub is_taken: Option<bool>,
}

/// Tells whether a node is on the path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// It is.
    Selected,
    /// It is left out.
    Skipped,
    /// It should be, and cannot.
    Failed,
}

impl Graph {
    /// Returns the nodes that are not on the path, with the reason.
    pub fn left_out(&self) -> impl Iterator<Item = (&Node, State, &str)> {
        self.nodes.iter().filter_map(|node| {
            let state = node.state.filter(|state| *state != State::Selected)?;
            Some((node, state, node.reason.as_deref().unwrap_or_default()))
        })
    }
}

impl Node {
    /// Returns a node that has only a name.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            ..Self::default()
        }
    }
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

    /// Returns the style of the state on a terminal.
    pub fn style(self) -> Style {
        match self {
            Self::Selected => AnsiColor::Green.on_default(),
            Self::Skipped => Style::new().dimmed(),
            Self::Failed => AnsiColor::Red.on_default().bold(),
        }
    }
}
