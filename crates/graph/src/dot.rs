//! A drawing in DOT, for Graphviz.

use crate::{Edge, Graph, Node, State};

/// Draws a graph in DOT.
pub fn write(graph: &Graph) -> String {
    let mut lines = vec![
        format!("digraph {} {{", graph.name),
        "  node [shape=box, style=\"rounded,filled\", fillcolor=white, fontname=\"sans-serif\"];"
            .to_owned(),
        "  edge [fontname=\"sans-serif\", fontsize=10];".to_owned(),
    ];
    let nodes = graph.nodes.iter().enumerate();
    lines.extend(nodes.map(|(index, node)| format!("  {}", declaration(index, node))));
    lines.extend(graph.edges.iter().map(|edge| format!("  {}", arrow(edge))));
    lines.push("}".to_owned());
    lines.join("\n") + "\n"
}

fn declaration(index: usize, node: &Node) -> String {
    let mut text = escape(&node.name);
    for line in &node.lines {
        text += &format!("\\n{}", escape(line));
    }
    let look = match node.state {
        _ if index == 0 => ", shape=oval",
        None => "",
        Some(State::Selected) => ", color=\"#1e8e3e\", fillcolor=\"#e6f4ea\", penwidth=2",
        Some(State::Skipped) => ", color=\"#bdc1c6\", fillcolor=\"#f1f3f4\", fontcolor=\"#5f6368\"",
        Some(State::Failed) => ", color=\"#d93025\", fillcolor=\"#fce8e6\", penwidth=2",
    };
    let mut tooltip = String::new();
    if let Some(reason) = &node.reason {
        tooltip = format!(", tooltip=\"{}\"", escape(reason));
        if node.state != Some(State::Selected) {
            text += &format!("\\n{}", escape(reason));
        }
    }
    format!("n{index} [label=\"{text}\"{look}{tooltip}];")
}

fn arrow(edge: &Edge) -> String {
    let label = edge
        .label
        .as_ref()
        .map(|label| format!("label=\"{}\"", escape(label)));
    let look = match edge.is_taken {
        None => None,
        Some(true) => Some("color=\"#1e8e3e\", penwidth=2".to_owned()),
        Some(false) => Some("color=\"#bdc1c6\", fontcolor=\"#5f6368\", style=dashed".to_owned()),
    };
    let attributes: Vec<String> = label.into_iter().chain(look).collect();
    let attributes = match attributes.is_empty() {
        true => String::new(),
        false => format!(" [{}]", attributes.join(", ")),
    };
    format!("n{} -> n{}{attributes};", edge.from, edge.to)
}

fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '"' | '\\' => escaped.extend(['\\', character]),
            '\n' | '\r' => escaped.push(' '),
            other => escaped.push(other),
        }
    }
    escaped
}
