//! Writing to a tree: one path is copied where it is shared, and changed in place where it is not.

use std::sync::Arc;

use super::inner::{Inner, separator};
use super::leaf::{Item, Leaf, encode};
use super::{INNER_MAX, LEAF_MAX, Node};
use crate::key::Key;

/// A node split off to the right, with the separator before it.
type Split = (Vec<u8>, Arc<Node>);

/// Puts a key into the tree and tells whether its name is new.
pub(crate) fn insert(root: &mut Option<Arc<Node>>, key: &Key) -> bool {
    let Some(node) = root else {
        *root = Some(Arc::new(Node::Leaf(Leaf::single(key))));
        return true;
    };
    let mut payload = Vec::new();
    encode(key.value(), &mut payload);
    let inserted = insert_into(node, Item::new(key, &payload), key, true);
    if let Some((separator, right)) = inserted.split {
        let children = vec![Arc::clone(node), right];
        *node = Arc::new(Node::Inner(Inner::new(&[separator], children)));
    }
    inserted.is_new
}

struct Inserted {
    is_new: bool,
    split: Option<Split>,
}

/// `at_edge` is set on the way along the right edge of the tree, where appending splits leave full
/// nodes behind.
fn insert_into(node: &mut Arc<Node>, item: Item<'_>, key: &Key, at_edge: bool) -> Inserted {
    let name = key.name().unescaped();
    if let Node::Leaf(leaf) = &**node {
        let (first, inserted) = insert_into_leaf(leaf, item, name, at_edge);
        *node = Arc::new(Node::Leaf(first));
        return inserted;
    }
    let Node::Inner(inner) = Arc::make_mut(node) else {
        unreachable!("leaves were handled above")
    };
    let index = inner.child_for(name);
    let is_last = index + 1 == inner.len();
    let mut inserted = insert_into(inner.child_mut(index), item, key, at_edge && is_last);
    if let Some((separator, right)) = inserted.split.take() {
        inner.insert_after(index, separator, right);
        if inner.len() > INNER_MAX {
            inserted.split = Some(split_inner(inner, at_edge && is_last));
        }
    }
    inserted
}

fn insert_into_leaf(leaf: &Leaf, item: Item<'_>, name: &[u8], at_edge: bool) -> (Leaf, Inserted) {
    let mut items: Vec<_> = leaf.items().collect();
    let at = match leaf.search(name) {
        Ok(at) => {
            items[at] = item;
            return (
                Leaf::new(&items),
                Inserted {
                    is_new: false,
                    split: None,
                },
            );
        }
        Err(at) => at,
    };
    items.insert(at, item);
    if items.len() <= LEAF_MAX {
        return (
            Leaf::new(&items),
            Inserted {
                is_new: true,
                split: None,
            },
        );
    }
    let appended = at_edge && at == leaf.len();
    let (first, right) = split_items(&items, if appended { at } else { items.len() / 2 });
    (
        first,
        Inserted {
            is_new: true,
            split: Some(right),
        },
    )
}

fn split_items(items: &[Item<'_>], at: usize) -> (Leaf, Split) {
    let (left, right) = (Leaf::new(&items[..at]), Leaf::new(&items[at..]));
    let separator = separator(&left.name_bytes(left.len() - 1), &right.name_bytes(0));
    (left, (separator, Arc::new(Node::Leaf(right))))
}

fn split_inner(inner: &mut Inner, appended: bool) -> Split {
    let at = if appended {
        inner.len() - 1
    } else {
        inner.len() / 2
    };
    let (left, right) = cut_inner(&inner.separators(), inner.children(), at);
    *inner = left;
    right
}

/// Cuts children into those before `at` and the others; the separator between them moves up.
fn cut_inner(separators: &[Vec<u8>], children: &[Arc<Node>], at: usize) -> (Inner, Split) {
    let left = Inner::new(&separators[..at - 1], children[..at].to_vec());
    let right = Inner::new(&separators[at..], children[at..].to_vec());
    (
        left,
        (separators[at - 1].clone(), Arc::new(Node::Inner(right))),
    )
}

/// Takes a name that is in the tree out of it.
pub(crate) fn remove(root: &mut Option<Arc<Node>>, name: &[u8]) {
    let Some(node) = root else { return };
    remove_from(node, name);
    match &**node {
        Node::Leaf(leaf) if leaf.len() == 0 => *root = None,
        Node::Inner(inner) if inner.len() == 1 => {
            let only = Arc::clone(&inner.children()[0]);
            *node = only;
        }
        _ => {}
    }
}

fn remove_from(node: &mut Arc<Node>, name: &[u8]) {
    if let Node::Leaf(leaf) = &**node {
        let gone = leaf.search(name).ok();
        let items: Vec<_> = (0..leaf.len())
            .filter(|index| Some(*index) != gone)
            .map(|index| leaf.item(index))
            .collect();
        *node = Arc::new(Node::Leaf(Leaf::new(&items)));
        return;
    }
    let Node::Inner(inner) = Arc::make_mut(node) else {
        unreachable!("leaves were handled above")
    };
    let index = inner.child_for(name);
    remove_from(inner.child_mut(index), name);
    if inner.children()[index].is_underfull() && inner.len() > 1 {
        rebalance(inner, index.saturating_sub(1));
    }
}

/// Merges children `index` and `index + 1`, or lets them share if one node cannot hold both.
fn rebalance(inner: &mut Inner, index: usize) {
    let (left, right) = match (&*inner.children()[index], &*inner.children()[index + 1]) {
        (Node::Leaf(a), Node::Leaf(b)) => {
            let items: Vec<_> = a.items().chain(b.items()).collect();
            if items.len() <= LEAF_MAX {
                (Node::Leaf(Leaf::new(&items)), None)
            } else {
                let (first, second) = split_items(&items, items.len() / 2);
                (Node::Leaf(first), Some(second))
            }
        }
        (Node::Inner(a), Node::Inner(b)) => {
            let (first, second) = join_inner(a, inner.separators().swap_remove(index), b);
            (Node::Inner(first), second)
        }
        _ => unreachable!("siblings have the same height"),
    };
    inner.replace_pair(index, Arc::new(left), right);
}

fn join_inner(a: &Inner, between: Vec<u8>, b: &Inner) -> (Inner, Option<Split>) {
    let mut separators = a.separators();
    separators.push(between);
    separators.extend(b.separators());
    let children: Vec<_> = a.children().iter().chain(b.children()).cloned().collect();
    if children.len() <= INNER_MAX {
        (Inner::new(&separators, children), None)
    } else {
        let half = children.len() / 2;
        let (left, right) = cut_inner(&separators, &children, half);
        (left, Some(right))
    }
}
