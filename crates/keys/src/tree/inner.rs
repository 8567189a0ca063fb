//! Inner nodes: children, and the shortest names that separate them.

use std::sync::Arc;

use super::Node;
use super::packed::{Packed, Record};

/// Children in order. Separator `i` is above every name of child `i` and not above any of child
/// `i + 1`.
#[derive(Debug, Clone)]
pub(crate) struct Inner {
    separators: Packed,
    children: Vec<Arc<Node>>,
}

impl Inner {
    /// Takes children with the separators between them, one fewer.
    pub(super) fn new(separators: &[Vec<u8>], children: Vec<Arc<Node>>) -> Self {
        debug_assert_eq!(separators.len() + 1, children.len());
        Self {
            separators: pack(separators),
            children,
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.children.len()
    }

    pub(crate) fn children(&self) -> &[Arc<Node>] {
        &self.children
    }

    pub(super) fn child_mut(&mut self, index: usize) -> &mut Arc<Node> {
        &mut self.children[index]
    }

    /// Returns the child that may hold a name.
    pub(crate) fn child_for(&self, name: &[u8]) -> usize {
        match self.separators.search(name) {
            Ok(at) => at + 1,
            Err(at) => at,
        }
    }

    /// Returns how many children may hold names below a bound.
    pub(super) fn children_before(&self, bound: &[u8]) -> usize {
        let separators_before = match self.separators.search(bound) {
            Ok(at) | Err(at) => at,
        };
        separators_before + 1
    }

    pub(super) fn separators(&self) -> Vec<Vec<u8>> {
        (0..self.separators.len())
            .map(|index| self.separators.name(index))
            .collect()
    }

    /// Puts a child, split off from child `index`, behind it.
    pub(super) fn insert_after(&mut self, index: usize, separator: Vec<u8>, child: Arc<Node>) {
        let mut separators = self.separators();
        separators.insert(index, separator);
        self.children.insert(index + 1, child);
        self.separators = pack(&separators);
    }

    /// Replaces children `index` and `index + 1` by one, or by two with the separator between them.
    pub(super) fn replace_pair(
        &mut self,
        index: usize,
        first: Arc<Node>,
        second: Option<(Vec<u8>, Arc<Node>)>,
    ) {
        let mut separators = self.separators();
        self.children[index] = first;
        match second {
            Some((separator, child)) => {
                separators[index] = separator;
                self.children[index + 1] = child;
            }
            None => {
                separators.remove(index);
                self.children.remove(index + 1);
            }
        }
        self.separators = pack(&separators);
    }
}

fn pack(separators: &[Vec<u8>]) -> Packed {
    let records: Vec<_> = separators
        .iter()
        .map(|name| Record::new(name, &[]))
        .collect();
    Packed::new(&records)
}

/// Returns the shortest name above `left` that is not above `right`.
pub(super) fn separator(left: &[u8], right: &[u8]) -> Vec<u8> {
    let shared = left.iter().zip(right).take_while(|(a, b)| a == b).count();
    right[..=shared].to_vec()
}
