//! Iterating over keys.

use std::sync::Arc;

use crate::key_ref::KeyRef;
use crate::tree::{Node, Range, Walk};

/// The keys of a set, or of a part of it, in order.
///
/// ```
/// use pathline_keys::{Key, KeySet};
///
/// let names = ["user:/ab", "user:/a-b", "user:/a/b", "user:/a"];
/// let set: KeySet = names.iter().filter_map(|name| name.parse().ok()).map(Key::new).collect();
/// let order: Vec<_> = set.iter().map(|key| key.name().to_string()).collect();
/// assert_eq!(order, ["user:/a", "user:/a/b", "user:/a-b", "user:/ab"]);
/// assert_eq!(set.below(&"user:/a".parse()?).count(), 2);
/// # Ok::<(), pathline_keys::name::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Iter<'a> {
    root: Option<&'a Arc<Node>>,
    ranges: std::vec::IntoIter<Range>,
    walk: Walk<'a>,
}

impl<'a> Iter<'a> {
    pub(super) fn new(root: Option<&'a Arc<Node>>, ranges: Vec<Range>) -> Self {
        Self {
            root,
            ranges: ranges.into_iter(),
            walk: Walk::default(),
        }
    }
}

impl<'a> Iterator for Iter<'a> {
    type Item = KeyRef<'a>;

    fn next(&mut self) -> Option<KeyRef<'a>> {
        loop {
            if let Some((_, leaf, index)) = self.walk.next_key() {
                return Some(KeyRef::new(leaf, index));
            }
            self.walk = Walk::new(self.root, &self.ranges.next()?);
        }
    }
}
