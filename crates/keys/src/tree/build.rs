//! Building a tree from sorted keys, bottom-up, with full nodes.

use std::sync::Arc;

use super::inner::{Inner, separator};
use super::leaf::{Item, Leaf, encode};
use super::{INNER_MAX, INNER_MIN, LEAF_MAX, LEAF_MIN, Node};
use crate::key::Key;

/// A finished node and what its first and last names are.
struct Built {
    node: Arc<Node>,
    first: Vec<u8>,
    last: Vec<u8>,
}

/// Builds a tree from keys sorted by name, without duplicates.
pub(crate) fn from_sorted(keys: &[Key]) -> Option<Arc<Node>> {
    let mut level: Vec<_> = portions(keys, LEAF_MAX, LEAF_MIN).map(leaf).collect();
    while level.len() > 1 {
        level = portions(&level, INNER_MAX, INNER_MIN).map(inner).collect();
    }
    level.pop().map(|built| built.node)
}

fn leaf(keys: &[Key]) -> Built {
    let mut payloads = vec![Vec::new(); keys.len()];
    for (key, payload) in keys.iter().zip(&mut payloads) {
        encode(key.value(), payload);
    }
    let items: Vec<_> = keys
        .iter()
        .zip(&payloads)
        .map(|(key, p)| Item::new(key, p))
        .collect();
    Built {
        node: Arc::new(Node::Leaf(Leaf::new(&items))),
        first: keys[0].name().unescaped().to_vec(),
        last: keys[keys.len() - 1].name().unescaped().to_vec(),
    }
}

fn inner(children: &[Built]) -> Built {
    let separators: Vec<_> = children
        .windows(2)
        .map(|pair| separator(&pair[0].last, &pair[1].first))
        .collect();
    let nodes = children
        .iter()
        .map(|child| Arc::clone(&child.node))
        .collect();
    Built {
        node: Arc::new(Node::Inner(Inner::new(&separators, nodes))),
        first: children[0].first.clone(),
        last: children[children.len() - 1].last.clone(),
    }
}

/// Cuts a slice into full portions; the last two share if the last one would be too small.
fn portions<T>(all: &[T], most: usize, fewest: usize) -> impl Iterator<Item = &[T]> {
    let mut rest = all;
    std::iter::from_fn(move || {
        let take = match rest.len() {
            0 => return None,
            length if length <= most => length,
            length if length < most + fewest => length.div_ceil(2),
            _ => most,
        };
        let (portion, after) = rest.split_at(take);
        rest = after;
        Some(portion)
    })
}
