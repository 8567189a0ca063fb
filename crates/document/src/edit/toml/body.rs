//! The lines that tables of TOML consist of.

use std::ops::Range;

use crate::document::{Data, Document, Layout, Node, NodeId};
use crate::edit::Scene;
use crate::edit::refused::Reason;
use crate::gap::line_start;

/// The pairs of keys and values that follow a header, those with dots included, in the order of the text.
pub(super) struct Body {
    /// From the last part of each key to the end of its value.
    pub(super) pairs: Vec<Range<usize>>,
}

impl Body {
    pub(super) fn of(document: &Document, id: NodeId) -> Self {
        let mut pairs = Vec::new();
        let mut open = vec![id];
        while let Some(id) = open.pop() {
            let Data::Map(members) = &document.node(id).data else {
                continue;
            };
            for member in members {
                match document.node(member.value.id).layout {
                    Layout::Plain | Layout::Flow => {
                        pairs.push(member.key_span.start..member.value.span.end);
                    }
                    Layout::Dotted => open.push(member.value.id),
                    _ => {}
                }
            }
        }
        pairs.sort_by_key(|pair| pair.start);
        Self { pairs }
    }
}

/// Returns what stands before the keys of a table that is made by keys with dots.
pub(super) fn key_prefix<'s>(scene: &Scene<'s>, node: &Node) -> Result<&'s str, Reason> {
    let Data::Map(members) = &node.data else {
        return Err(Reason::Nowhere);
    };
    let first = members.first().ok_or(Reason::Nowhere)?;
    let start = line_start(scene.text, first.key_span.start);
    let prefix = scene.text[start..first.key_span.start].trim_start();
    if prefix.contains(['=', '{', '#']) {
        return Err(Reason::Layout("a part of an inline table"));
    }
    Ok(prefix)
}

/// Returns where the first header below a table is that has none, and the name of the table in it.
pub(super) fn implied_name<'s>(scene: &Scene<'s>, node: &Node) -> Result<(usize, &'s str), Reason> {
    let Data::Map(members) = &node.data else {
        return Err(Reason::Nowhere);
    };
    let key = members.iter().map(|member| member.key_span.start).min();
    let key = key.ok_or(Reason::Nowhere)?;
    let header = scene.text[line_start(scene.text, key)..key].trim_start();
    let name = header.trim_start_matches('[').trim();
    match name.strip_suffix('.') {
        Some(name) if header.starts_with('[') => Ok((key, name.trim_end())),
        _ => Err(Reason::Layout("a table without a header of its own")),
    }
}

/// Returns where the first header begins.
pub(super) fn first_header(document: &Document) -> Option<usize> {
    let nodes = (0..document.len()).map(|index| document.node(NodeId(index)));
    let headers = nodes.filter(|node| node.layout == Layout::Section && !node.span.is_empty());
    headers.map(|node| node.span.start).min()
}

/// Returns where the last line of a table and of those below it ends.
pub(super) fn end(document: &Document, id: NodeId) -> usize {
    let ranges = ranges(document, id, document.node(id).span.start);
    ranges.into_iter().map(|range| range.end).max().unwrap_or(0)
}

/// Returns the ranges, to be removed by whole lines, that a value consists of.
pub(super) fn ranges(document: &Document, id: NodeId, key: usize) -> Vec<Range<usize>> {
    let mut ranges = Vec::new();
    let mut open = vec![(id, key)];
    while let Some((id, key)) = open.pop() {
        let node = document.node(id);
        match node.layout {
            Layout::Plain | Layout::Flow => ranges.push(key..node.span.end),
            Layout::Section => {
                let body = Body::of(document, id);
                let end = body.pairs.last().map_or(node.span.end, |pair| pair.end);
                ranges.push(node.span.start..end);
                open.extend(tables(document, node));
            }
            _ => open.extend(keyed(node)),
        }
    }
    ranges
}

/// Returns the parts of a table that are not in its body.
fn tables(document: &Document, node: &Node) -> Vec<(NodeId, usize)> {
    let is_table = |(id, _): &(NodeId, usize)| {
        let layout = document.node(*id).layout;
        matches!(layout, Layout::Section | Layout::Sections | Layout::Implied)
    };
    keyed(node).into_iter().filter(is_table).collect()
}

fn keyed(node: &Node) -> Vec<(NodeId, usize)> {
    match &node.data {
        Data::Scalar(..) => Vec::new(),
        Data::List(items) => items.iter().map(|it| (it.id, it.span.start)).collect(),
        Data::Map(members) => {
            let values = members.iter();
            values.map(|it| (it.value.id, it.key_span.start)).collect()
        }
    }
}
