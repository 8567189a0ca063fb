//! The structure under a key set: a persistent B+tree with shared nodes.
//!
//! Leaves hold up to 64 keys, packed: what all names of a leaf begin with is kept once, and names,
//! values and offsets lie in two allocations. Nothing but this module knows how; the rest of the
//! crate sees [`KeyRef`] and [`Slot`].
//!
//! Nodes never change once they are shared. A write copies the path from the root to one leaf; all
//! other nodes stay common to both trees, which is what a diff lives on.

mod build;
mod edit;
mod inner;
mod leaf;
mod packed;
mod pair;
mod walk;

use std::sync::Arc;

pub(crate) use self::build::from_sorted;
pub(crate) use self::edit::{insert, remove};
pub(crate) use self::inner::Inner;
pub(crate) use self::leaf::Leaf;
pub(crate) use self::pair::{Pairs, Place, compare};
pub(crate) use self::walk::{Range, Walk};
use crate::key::Key;
use crate::key_ref::KeyRef;

/// The most keys in a leaf. A diff reads whole leaves, so this weighs its cost against memory.
pub(crate) const LEAF_MAX: usize = 64;
/// The fewest keys in a leaf, except in a root and at the right edge of a tree that was appended to.
pub(crate) const LEAF_MIN: usize = 24;
/// The most children of an inner node; copying one increments as many reference counts.
pub(crate) const INNER_MAX: usize = 32;
/// The fewest children of an inner node, with the same exceptions.
pub(crate) const INNER_MIN: usize = 12;

/// One node; its height is known from where it hangs.
#[derive(Debug, Clone)]
pub(crate) enum Node {
    Leaf(Leaf),
    Inner(Inner),
}

impl Node {
    /// Tells whether the node has become too small to stay beside a sibling.
    fn is_underfull(&self) -> bool {
        match self {
            Self::Leaf(leaf) => leaf.len() < LEAF_MIN,
            Self::Inner(inner) => inner.len() < INNER_MIN,
        }
    }

    /// Returns the number of levels; a leaf has one.
    pub(crate) fn height(&self) -> usize {
        let mut height = 1;
        let mut node = self;
        while let Self::Inner(inner) = node {
            height += 1;
            node = &inner.children()[0];
        }
        height
    }

    /// Finds the leaf that may hold a name, and the name's place in it.
    pub(crate) fn find(&self, name: &[u8]) -> Option<(&Leaf, usize)> {
        let mut node = self;
        loop {
            match node {
                Self::Inner(inner) => node = &inner.children()[inner.child_for(name)],
                Self::Leaf(leaf) => return leaf.search(name).ok().map(|index| (leaf, index)),
            }
        }
    }
}

/// One key inside a shared leaf: cheap to keep, since it holds the leaf and not a copy.
#[derive(Debug, Clone)]
pub(crate) struct Slot {
    node: Arc<Node>,
    index: u32,
}

impl Slot {
    pub(crate) fn new(node: &Arc<Node>, index: usize) -> Self {
        let index = u32::try_from(index).expect("a leaf has at most LEAF_MAX keys");
        Self {
            node: Arc::clone(node),
            index,
        }
    }

    /// Puts a key into a leaf of its own.
    pub(crate) fn lone(key: &Key) -> Self {
        Self {
            node: Arc::new(Node::Leaf(Leaf::single(key))),
            index: 0,
        }
    }

    pub(crate) fn key(&self) -> KeyRef<'_> {
        match &*self.node {
            Node::Leaf(leaf) => KeyRef::new(leaf, self.index as usize),
            Node::Inner(_) => unreachable!("slots are made for leaves only"),
        }
    }
}
