//! A drawing for the terminal.

use std::io::{self, Write};

use anstyle::Style;

use super::super::report::State;
use super::layout::{self, Layout};
use super::picture::{Node, Picture};

/// Draws a blueprint; a large one is listed instead.
pub(super) fn write(picture: &Picture, out: &mut dyn Write) -> io::Result<()> {
    match layout::place(picture) {
        Some(layout) => write_drawing(picture, &layout, out)?,
        None => write_list(picture, out)?,
    }
    for (node, state, reason) in picture.left_out() {
        let (style, state) = (state.style(), state.name());
        writeln!(out, "{style}{} {state}: {reason}{style:#}", node.name)?;
    }
    Ok(())
}

fn write_drawing(picture: &Picture, layout: &Layout, out: &mut dyn Write) -> io::Result<()> {
    for (row, line) in layout.drawn.trim_end().lines().enumerate() {
        let mut painted = picture.nodes.iter().zip(&layout.nodes);
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

fn write_list(picture: &Picture, out: &mut dyn Write) -> io::Result<()> {
    let mut incoming = vec![Vec::new(); picture.nodes.len()];
    for edge in &picture.edges {
        let from = &picture.nodes[edge.from].name;
        incoming[edge.to].push(match edge.label() {
            Some(label) => format!("{from} ({label})"),
            None => from.clone(),
        });
    }
    for (node, incoming) in picture.nodes.iter().zip(&incoming).skip(1) {
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
