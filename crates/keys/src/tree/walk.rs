//! A cursor over the keys of a tree that opens nodes only when it has to.

use std::sync::Arc;

use super::{Leaf, Node};

/// A half-open range of unescaped names.
#[derive(Debug, Clone, Default)]
pub(crate) struct Range {
    /// The least name in the range; empty for no bound.
    pub(crate) from: Vec<u8>,
    /// The least name behind the range.
    pub(crate) until: Option<Vec<u8>>,
}

impl Range {
    /// Returns the range of everything that begins with `prefix`.
    pub(crate) fn starting_with(prefix: &[u8]) -> Self {
        let mut until = prefix.to_vec();
        while until.last() == Some(&u8::MAX) {
            until.pop();
        }
        if let Some(last) = until.last_mut() {
            *last += 1;
        }
        Self {
            from: prefix.to_vec(),
            until: (!until.is_empty()).then_some(until),
        }
    }
}

/// Siblings, the one the cursor is at, and how many of them are inside the range.
#[derive(Debug, Clone, Copy)]
struct Frame<'a> {
    nodes: &'a [Arc<Node>],
    index: usize,
    end: usize,
}

/// An opened leaf.
#[derive(Debug, Clone, Copy)]
pub(super) struct Open<'a> {
    pub(super) node: &'a Arc<Node>,
    pub(super) leaf: &'a Leaf,
    pub(super) index: usize,
    pub(super) end: usize,
}

/// The cursor. Its position is the beginning of a node that has not been opened yet, or a key of an
/// open leaf. Level 0 is the leaves.
#[derive(Debug, Clone, Default)]
pub(crate) struct Walk<'a> {
    frames: Vec<Frame<'a>>,
    open: Option<Open<'a>>,
    height: usize,
    until: Option<Vec<u8>>,
    opened: usize,
}

impl<'a> Walk<'a> {
    /// Starts at the first key of the range.
    pub(crate) fn new(root: Option<&'a Arc<Node>>, range: &Range) -> Self {
        let mut walk = Self {
            frames: Vec::new(),
            open: None,
            height: root.map_or(0, |root| root.height()),
            until: range.until.clone(),
            opened: 0,
        };
        if let Some(root) = root {
            walk.frames.reserve(walk.height);
            walk.frames.push(Frame {
                nodes: std::slice::from_ref(root),
                index: 0,
                end: 1,
            });
            if !range.from.is_empty() {
                walk.seek(&range.from);
            }
        }
        walk
    }

    fn seek(&mut self, from: &[u8]) {
        while self.open.is_none() && !self.is_done() {
            let node = self.node();
            self.open();
            match (&**node, &mut self.open) {
                (Node::Inner(inner), _) => {
                    if let Some(frame) = self.frames.last_mut() {
                        frame.index = inner.child_for(from);
                    }
                }
                (Node::Leaf(leaf), Some(open)) => {
                    open.index = match leaf.search(from) {
                        Ok(at) | Err(at) => at,
                    };
                }
                _ => {}
            }
            self.settle();
        }
    }

    pub(super) fn is_done(&self) -> bool {
        self.frames.is_empty()
    }

    /// Returns how many nodes have been opened.
    pub(super) fn opened(&self) -> usize {
        self.opened
    }

    /// Returns the level of the node at the position.
    pub(super) fn level(&self) -> usize {
        self.height - self.frames.len()
    }

    pub(super) fn leaf(&self) -> Option<Open<'a>> {
        self.open
    }

    /// Returns the node of a level, if the position is at its very beginning.
    pub(super) fn starting(&self, level: usize) -> Option<&'a Arc<Node>> {
        let depth = self.height.checked_sub(level)?;
        let below_at_start = self
            .frames
            .get(depth..)?
            .iter()
            .all(|frame| frame.index == 0);
        let at_start = below_at_start && self.open.is_none_or(|open| open.index == 0);
        let frame = self
            .frames
            .get(depth.checked_sub(1)?)
            .filter(|_| at_start)?;
        Some(&frame.nodes[frame.index])
    }

    /// Steps over the siblings that both cursors have in common from their positions on, which are
    /// at the beginning of one and the same node of a level.
    pub(super) fn skip_common(&mut self, other: &mut Self, level: usize) {
        for walk in [&mut *self, &mut *other] {
            walk.open = None;
            walk.frames.truncate(walk.height - level);
        }
        if let (Some(own), Some(theirs)) = (self.frames.last_mut(), other.frames.last_mut()) {
            let pairs = own.nodes[own.index..own.end]
                .iter()
                .zip(&theirs.nodes[theirs.index..theirs.end]);
            let common = pairs.take_while(|(a, b)| Arc::ptr_eq(a, b)).count();
            own.index += common;
            theirs.index += common;
        }
        self.settle();
        other.settle();
    }

    /// Opens the node at the position.
    pub(super) fn open(&mut self) {
        let node = self.node();
        self.opened += 1;
        let until = self.until.as_deref();
        match &**node {
            Node::Inner(inner) => {
                let end = until.map_or(inner.len(), |until| inner.children_before(until));
                self.frames.push(Frame {
                    nodes: inner.children(),
                    index: 0,
                    end,
                });
            }
            Node::Leaf(leaf) => {
                let end = until.map_or(leaf.len(), |until| match leaf.search(until) {
                    Ok(at) | Err(at) => at,
                });
                self.open = Some(Open {
                    node,
                    leaf,
                    index: 0,
                    end,
                });
                self.settle();
            }
        }
    }

    /// Moves to a key of the open leaf, or behind it.
    pub(super) fn move_to(&mut self, index: usize) {
        if let Some(open) = &mut self.open {
            open.index = index;
        }
        self.settle();
    }

    /// Returns the next key, and steps behind it.
    pub(crate) fn next_key(&mut self) -> Option<(&'a Arc<Node>, &'a Leaf, usize)> {
        while self.open.is_none() && !self.is_done() {
            self.open();
        }
        let open = self.open?;
        self.move_to(open.index + 1);
        Some((open.node, open.leaf, open.index))
    }

    fn node(&self) -> &'a Arc<Node> {
        let frame = self
            .frames
            .last()
            .expect("callers ask only while there is a position");
        &frame.nodes[frame.index]
    }

    /// Leaves what is exhausted.
    fn settle(&mut self) {
        if let Some(open) = self.open {
            if open.index < open.end {
                return;
            }
            self.open = None;
            if let Some(frame) = self.frames.last_mut() {
                frame.index += 1;
            }
        }
        while let Some(frame) = self.frames.last() {
            if frame.index < frame.end {
                return;
            }
            self.frames.pop();
            if let Some(frame) = self.frames.last_mut() {
                frame.index += 1;
            }
        }
    }
}
