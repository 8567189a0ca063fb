//! A drawing for a browser: one file, without scripts or fonts.

use std::fmt::Write as _;

use crate::layout::{self, Area, Route};
use crate::{Edge, Graph, Node, State};

/// The size of a cell in pixels.
const CELL: (usize, usize) = (8, 17);
const MARGIN: usize = 12;

const STYLE: &str = "\
text{font:13px ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',monospace;fill:#202124;white-space:pre}\
.name{font-weight:700}.kind{fill:#5f6368}\
rect{fill:#fff;stroke:#5f6368;stroke-width:1.2}\
.edge{fill:none;stroke:#5f6368;stroke-width:1.3;marker-end:url(#arrow)}.label{fill:#1967d2;font-size:12px}\
.halo{fill:#fff;stroke:none}\
.selected rect{fill:#e6f4ea;stroke:#1e8e3e;stroke-width:2}\
.skipped rect{fill:#f1f3f4;stroke:#bdc1c6}.skipped text,.reason{fill:#80868b}\
.failed rect{fill:#fce8e6;stroke:#d93025;stroke-width:2}\
.taken .edge{stroke:#1e8e3e;stroke-width:2.4}\
.spared .edge{stroke:#bdc1c6;stroke-dasharray:4 3}.spared .label{fill:#9aa0a6}";

/// Draws a graph as SVG, unless it is too large.
pub fn write(graph: &Graph) -> Option<String> {
    let layout = layout::place(graph)?;
    let notes: Vec<String> = graph.left_out().map(note).collect();
    let columns = notes.iter().map(|note| note.chars().count()).max();
    let width = layout.width.max(columns.unwrap_or_default()) * CELL.0 + 2 * MARGIN;
    let rows = layout.height + if notes.is_empty() { 0 } else { notes.len() + 1 };
    let height = rows * CELL.1 + 2 * MARGIN;

    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\">\n\
         <style>{STYLE}</style>\n\
         <defs><marker id=\"arrow\" viewBox=\"0 0 10 10\" refX=\"9\" refY=\"5\" markerUnits=\"userSpaceOnUse\" \
         markerWidth=\"9\" markerHeight=\"9\" orient=\"auto\"><path d=\"M0 0L10 5L0 10z\" fill=\"context-stroke\"/></marker></defs>\n\
         <rect class=\"halo\" width=\"{width}\" height=\"{height}\"/>\n"
    );
    let mut edges: Vec<(&Edge, &Route)> = graph.edges.iter().zip(&layout.edges).collect();
    // What is taken lies above what is not.
    edges.sort_by_key(|(edge, _)| edge.is_taken);
    for (edge, route) in edges {
        svg += &draw_edge(edge, route, &layout.nodes);
    }
    for (node, area) in graph.nodes.iter().zip(&layout.nodes) {
        svg += &draw_node(node, *area);
    }
    for (row, note) in notes.iter().enumerate() {
        svg += &text("reason", (0, layout.height + 1 + row), note);
    }
    svg += "</svg>\n";
    Some(svg)
}

fn note((node, state, reason): (&Node, State, &str)) -> String {
    format!("{} {}: {reason}", node.name, state.name())
}

fn draw_node(node: &Node, area: Area) -> String {
    let class = node.state.map_or("plain", State::name);
    let (x, y) = corner((area.x, area.y));
    let (width, height) = (area.width * CELL.0, area.height * CELL.1);
    let mut drawn = format!("<g class=\"{class}\">");
    if let Some(reason) = &node.reason {
        let _ = write!(drawn, "<title>{}</title>", escape(reason));
    }
    let inset = CELL.1 / 3;
    let _ = writeln!(
        drawn,
        "<rect x=\"{x}\" y=\"{}\" width=\"{width}\" height=\"{}\" rx=\"6\"/>",
        y + inset,
        height - 2 * inset
    );
    drawn += &text("name", (area.x + 2, area.y + 1), &node.name);
    for (row, line) in node.lines.iter().enumerate() {
        drawn += &text("kind", (area.x + 2, area.y + 2 + row), line);
    }
    drawn + "</g>\n"
}

fn draw_edge(edge: &Edge, route: &Route, nodes: &[Area]) -> String {
    let class = match edge.is_taken {
        None => "plain",
        Some(true) => "taken",
        Some(false) => "spared",
    };
    let (from, to) = (nodes[edge.from], nodes[edge.to]);
    let inset = CELL.1 / 3;
    // Nodes are drawn a little smaller than their cells; edges begin and end at what is drawn.
    let bottom = corner((0, from.y + from.height)).1 - inset;
    let top = corner((0, to.y)).1 + inset;
    let mut points: Vec<(usize, usize)> = route.turns.iter().map(|turn| middle(*turn)).collect();
    if let [first, .., last] = &mut points[..] {
        (first.1, last.1) = (bottom, top);
    }
    let points = orthogonal(&points);
    let points: Vec<String> = points.iter().map(|(x, y)| format!("{x},{y}")).collect();
    let mut drawn = format!(
        "<g class=\"{class}\"><polyline class=\"edge\" points=\"{}\"/>",
        points.join(" ")
    );
    if let (Some(label), Some(at)) = (&edge.label, route.label) {
        let (x, y) = corner(at);
        let width = (label.chars().count() + 2) * CELL.0;
        let _ = write!(
            drawn,
            "<rect class=\"halo\" x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{}\"/>",
            CELL.1
        );
        drawn += &text("label", (at.0 + 1, at.1), label);
    }
    drawn + "</g>\n"
}

/// Adds the turns between points that are not below each other: just after a point, as edges in the
/// terminal turn.
fn orthogonal(points: &[(usize, usize)]) -> Vec<(usize, usize)> {
    let mut turns = Vec::with_capacity(points.len() * 3);
    for (index, pair) in points.windows(2).enumerate() {
        let (from, to) = (pair[0], pair[1]);
        turns.push(from);
        if from.0 != to.0 && from.1 != to.1 {
            let bend = from.1 + if index == 0 { CELL.1 * 3 / 4 } else { CELL.1 };
            turns.extend([(from.0, bend), (to.0, bend)]);
        }
    }
    turns.extend(points.last());
    turns
}

fn text(class: &str, at: (usize, usize), text: &str) -> String {
    let (x, y) = corner(at);
    let (y, text) = (y + CELL.1 * 3 / 4, escape(text));
    format!("<text class=\"{class}\" x=\"{x}\" y=\"{y}\">{text}</text>")
}

fn corner((column, row): (usize, usize)) -> (usize, usize) {
    (MARGIN + column * CELL.0, MARGIN + row * CELL.1)
}

fn middle(cell: (usize, usize)) -> (usize, usize) {
    let (x, y) = corner(cell);
    (x + CELL.0 / 2, y + CELL.1 / 2)
}

/// XML has no place for control characters, however they are escaped.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped += "&amp;",
            '<' => escaped += "&lt;",
            '>' => escaped += "&gt;",
            '"' => escaped += "&quot;",
            '\u{fffe}' | '\u{ffff}' => escaped.push('\u{fffd}'),
            other if other.is_control() => escaped.push('\u{fffd}'),
            other => escaped.push(other),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_and_names_stay_text() {
        let graph = Graph {
            nodes: vec![Node::new("<a> & \u{1b}"), Node::new("b")],
            edges: vec![Edge {
                to: 1,
                label: Some("\"<i>".to_owned()),
                ..Edge::default()
            }],
            ..Graph::default()
        };
        let svg = write(&graph).expect("it is small");
        let document = roxmltree::Document::parse(&svg).expect("well-formed XML");
        let mut names = document.descendants().filter_map(|it| it.text());
        assert!(names.any(|name| name == "<a> & \u{fffd}"), "{svg}");
    }
}
