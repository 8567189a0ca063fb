//! A drawing for the terminal.

use std::io::{self, Write};

use anstyle::Style;

use crate::layout::{self, Layout};
use crate::{Graph, Node, State};

/// Draws a graph with characters, in the styles of a terminal; a large one is listed instead.
///
/// # Errors
/// If `out` cannot be written to.
pub fn write(graph: &Graph, out: &mut dyn Write) -> io::Result<()> {
    match layout::place(graph) {
        Some(layout) => write_drawing(graph, &layout, out)?,
        None => write_list(graph, out)?,
    }
    for (node, state, reason) in graph.left_out() {
        let (style, state) = (state.style(), state.name());
        writeln!(out, "{style}{} {state}: {reason}{style:#}", node.name)?;
    }
    Ok(())
}

fn write_drawing(graph: &Graph, layout: &Layout, out: &mut dyn Write) -> io::Result<()> {
    for (row, line) in layout.drawn.trim_end().lines().enumerate() {
        let mut painted = graph.nodes.iter().zip(&layout.nodes);
        let mut spans: Vec<_> = painted
            .by_ref()
            .filter(|(_, area)| (area.y..area.y + area.height).contains(&row))
            .map(|(node, area)| (area.x, area.x + area.width, style(node)))
            .collect();
        spans.sort_by_key(|(start, ..)| *start);
        write_line(line.trim_end(), &spans, out)?;
    }
    writeln!(out)
}

/// Writes a line of which some columns are styled.
fn write_line(line: &str, spans: &[(usize, usize, Style)], out: &mut dyn Write) -> io::Result<()> {
    let characters: Vec<char> = line.chars().collect();
    let piece = |from: usize, to: usize| -> String {
        let end = to.min(characters.len());
        characters[from.min(end)..end].iter().collect()
    };
    let mut column = 0;
    for (start, end, style) in spans {
        let (before, inside) = (piece(column, *start), piece(*start, *end));
        write!(out, "{before}{style}{inside}{style:#}")?;
        column = *end;
    }
    writeln!(out, "{}", piece(column, characters.len()))
}

fn write_list(graph: &Graph, out: &mut dyn Write) -> io::Result<()> {
    let mut incoming = vec![Vec::new(); graph.nodes.len()];
    for edge in &graph.edges {
        let from = &graph.nodes[edge.from].name;
        incoming[edge.to].push(match &edge.label {
            Some(label) => format!("{from} ({label})"),
            None => from.clone(),
        });
    }
    for (node, incoming) in graph.nodes.iter().zip(&incoming).skip(1) {
        let style = style(node);
        writeln!(
            out,
            "{style}{}{style:#} <- {}",
            node.name,
            incoming.join(", ")
        )?;
    }
    writeln!(out)
}

fn style(node: &Node) -> Style {
    node.state.map_or_else(Style::new, State::style)
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::*;
    use crate::Edge;

    fn drawn(graph: &Graph) -> String {
        let mut out = Vec::new();
        write(graph, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn large_graph_is_listed() {
        let nodes = (0..200).map(|index| Node::new(format!("n{index}")));
        let graph = Graph {
            nodes: nodes.collect(),
            edges: vec![Edge {
                to: 1,
                label: Some("first".to_owned()),
                ..Edge::default()
            }],
            ..Graph::default()
        };
        let listed = drawn(&graph);
        assert_snapshot!(listed.lines().next().unwrap_or_default(), @"n1 <- n0 (first)");
    }
}
