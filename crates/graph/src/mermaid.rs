//! A drawing in Mermaid, for Markdown.

use crate::{Edge, Graph, Node, State};

/// Draws a graph as a flowchart of Mermaid.
pub fn write(graph: &Graph) -> String {
    let mut lines = vec!["flowchart TD".to_owned()];
    let nodes = graph.nodes.iter().enumerate();
    lines.extend(nodes.map(|(index, node)| format!("  {}", declaration(index, node))));
    lines.extend(graph.edges.iter().map(|edge| format!("  {}", arrow(edge))));
    if graph.nodes.iter().any(|node| node.state.is_some()) {
        lines.extend(classes(graph));
    }
    lines.join("\n") + "\n"
}

fn declaration(index: usize, node: &Node) -> String {
    if index == 0 {
        return format!("n0([\"{}\"])", escape(&node.name));
    }
    let mut text = format!("<b>{}</b>", escape(&node.name));
    for line in &node.lines {
        text += &format!("<br/>{}", escape(line));
    }
    if let (Some(State::Skipped | State::Failed), Some(reason)) = (node.state, &node.reason) {
        text += &format!("<br/><i>{}</i>", escape(reason));
    }
    format!("n{index}[\"{text}\"]")
}

fn arrow(edge: &Edge) -> String {
    let line = match edge.is_taken {
        None => "-->",
        Some(true) => "==>",
        Some(false) => "-.->",
    };
    let label = edge
        .label
        .as_ref()
        .map(|label| format!("|{}|", escape(label)))
        .unwrap_or_default();
    format!("n{} {line}{label} n{}", edge.from, edge.to)
}

fn classes(graph: &Graph) -> Vec<String> {
    let mut lines: Vec<String> = [
        "  classDef selected fill:#e6f4ea,stroke:#1e8e3e,stroke-width:2px,color:#202124",
        "  classDef skipped fill:#f1f3f4,stroke:#bdc1c6,color:#5f6368",
        "  classDef failed fill:#fce8e6,stroke:#d93025,stroke-width:2px,color:#202124",
    ]
    .map(str::to_owned)
    .into();
    for (index, node) in graph.nodes.iter().enumerate() {
        lines.extend(
            node.state
                .map(|state| format!("  class n{index} {}", state.name())),
        );
    }
    lines
}

/// Mermaid reads text as HTML, with entities that begin with `#`.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '"' => escaped += "#quot;",
            '#' => escaped += "#35;",
            '&' => escaped += "#amp;",
            '<' => escaped += "#lt;",
            '>' => escaped += "#gt;",
            '`' => escaped += "#96;",
            '\n' | '\r' => escaped.push(' '),
            other => escaped.push(other),
        }
    }
    escaped
}
