//! The habits of a text: how far its blocks are indented.

use crate::document::{Data, Document, Layout, Node, Origin};
use crate::edit::Scene;
use crate::gap::line_start;
use crate::write::block::Lines;

/// Returns in which column of its line an offset is.
pub(super) fn column(text: &str, at: usize) -> usize {
    at - line_start(text, at)
}

pub(super) fn spaces(count: usize) -> String {
    " ".repeat(count)
}

/// Tells whether a value needs lines of its own.
pub(super) fn is_collection(value: &Document) -> bool {
    let node = value.node(value.root());
    node.children().next().is_some()
}

/// Finds how the blocks of a text are indented, by the first of each kind.
pub(super) fn detect<'s>(scene: &Scene<'s>) -> Lines<'s> {
    let document = scene.document;
    let mut found = (None, None);
    let mut open = vec![document.root()];
    while let Some(id) = open.pop() {
        let node = document.node(id);
        for child in node.children() {
            let below = document.node(child.id);
            if child.origin != Origin::Written {
                continue;
            }
            if let Some(step) = step(scene.text, node, below) {
                match below.data {
                    Data::List(_) => found.1 = found.1.or(Some(step)),
                    _ => found.0 = found.0.or(Some(step)),
                }
            }
            open.push(child.id);
        }
        if found.0.is_some() && found.1.is_some() {
            break;
        }
    }
    let usual = Lines::default();
    Lines {
        step: found.0.filter(|step| *step > 0).unwrap_or(usual.step),
        list_step: found.1.unwrap_or(usual.list_step),
        newline: scene.newline,
        ..usual
    }
}

/// Returns how much further a block of a map begins.
fn step(text: &str, parent: &Node, below: &Node) -> Option<usize> {
    let is_map = matches!(parent.data, Data::Map(_));
    if !is_map || parent.layout != Layout::Block || below.layout != Layout::Block {
        return None;
    }
    let (outer, inner) = (
        column(text, parent.span.start),
        column(text, below.span.start),
    );
    inner.checked_sub(outer).filter(|step| *step <= 8)
}
