//! Key sets: ordered, unique by name, with free snapshots.

mod diff;
mod iter;

use std::collections::BTreeMap;
use std::fmt;
use std::ops::ControlFlow;
use std::sync::Arc;

pub use self::iter::Iter;
use crate::key::Key;
use crate::key_ref::KeyRef;
use crate::name::{Name, Namespace};
use crate::tree::{self, Node, Pairs, Place, Range};

/// An ordered set of keys, unique by name.
///
/// A clone is a snapshot: it copies one pointer and allocates nothing. Afterwards a write to either
/// copies the few nodes on the way to one leaf; everything else stays shared.
///
/// ```
/// use pathline_keys::{Key, KeySet};
///
/// let mut set: KeySet = [("user:/app/port", "80"), ("user:/app/host", "a")]
///     .map(|(name, value)| Key::new(name.parse().expect("a literal")).with_value(value))
///     .into_iter()
///     .collect();
/// let before = set.clone();
/// set.insert(Key::new("user:/app/port".parse()?).with_value("443"));
///
/// let changes = KeySet::diff(&before, &set, None);
/// assert_eq!(changes.len(), 1);
/// assert_eq!(before.get(&"user:/app/port".parse()?).map(|key| key.value().text()), Some(Some("80")));
/// # Ok::<(), pathline_keys::name::Error>(())
/// ```
#[derive(Clone, Default)]
pub struct KeySet {
    root: Option<Arc<Node>>,
    len: usize,
}

impl KeySet {
    /// Returns an empty set, which allocates nothing.
    #[must_use]
    pub const fn new() -> Self {
        Self { root: None, len: 0 }
    }

    /// Returns the number of keys.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Tells whether there are no keys.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the number of levels of the tree under the set.
    #[must_use]
    pub fn height(&self) -> usize {
        self.root.as_ref().map_or(0, |root| root.height())
    }

    /// Returns the key of that very name.
    #[must_use]
    pub fn get(&self, name: &Name) -> Option<KeyRef<'_>> {
        let (leaf, index) = self.root.as_deref()?.find(name.unescaped())?;
        Some(KeyRef::new(leaf, index))
    }

    /// Tells whether there is a key of that very name.
    #[must_use]
    pub fn contains(&self, name: &Name) -> bool {
        self.get(name).is_some()
    }

    /// Puts a key in, in place of one of the same name, and tells whether the name is new.
    ///
    /// A key that is there already, just so, changes nothing: the set stays one with its snapshots.
    #[expect(
        clippy::needless_pass_by_value,
        reason = "how keys are packed is not for callers"
    )]
    pub fn insert(&mut self, key: Key) -> bool {
        if self.get(key.name()).is_some_and(|known| known.holds(&key)) {
            return false;
        }
        let is_new = tree::insert(&mut self.root, &key);
        self.len += usize::from(is_new);
        is_new
    }

    /// Takes a key out and returns it.
    pub fn remove(&mut self, name: &Name) -> Option<Key> {
        let key = self.get(name)?.to_key();
        tree::remove(&mut self.root, name.unescaped());
        self.len -= 1;
        Some(key)
    }

    /// Takes all keys at and below a name out, of all namespaces if it is cascading, and returns
    /// them.
    pub fn cut(&mut self, name: &Name) -> Self {
        let cut: Self = self.below(name).map(KeyRef::to_key).collect();
        if cut.len() == self.len {
            return std::mem::take(self);
        }
        for key in &cut {
            self.remove(&key.name());
        }
        cut
    }

    /// Returns all keys, in order.
    #[must_use]
    pub fn iter(&self) -> Iter<'_> {
        Iter::new(self.root.as_ref(), vec![Range::default()])
    }

    /// Returns the keys at and below a name, of all namespaces if it is cascading.
    #[must_use]
    pub fn below(&self, name: &Name) -> Iter<'_> {
        Iter::new(self.root.as_ref(), ranges_below(name, &Namespace::ALL))
    }
}

/// Returns the ranges of names that are the same as or below a name, in the given namespaces.
fn ranges_below(name: &Name, namespaces: &[Namespace]) -> Vec<Range> {
    if name.namespace() != Namespace::Cascading {
        return vec![Range::starting_with(name.subtree())];
    }
    let range = |namespace: &Namespace| {
        let other = name.with_namespace(*namespace);
        let mut range = Range::starting_with(other.subtree());
        if name.is_root() && *namespace != Namespace::Cascading {
            // The roots of other namespaces are not below the cascading one, and a NUL more makes
            // the least name behind a root.
            range.from = [other.unescaped(), &[0]].concat();
        }
        range
    };
    namespaces.iter().map(range).collect()
}

/// Stops at the first difference.
struct Any(bool);

impl Pairs for Any {
    fn differ(&mut self, _: Option<Place<'_>>, _: Option<Place<'_>>) -> ControlFlow<()> {
        self.0 = true;
        ControlFlow::Break(())
    }
}

impl PartialEq for KeySet {
    fn eq(&self, other: &Self) -> bool {
        let mut any = Any(false);
        if self.len == other.len {
            tree::compare(
                self.root.as_ref(),
                other.root.as_ref(),
                &Range::default(),
                &mut any,
            );
        }
        self.len == other.len && !any.0
    }
}

impl Eq for KeySet {}

impl fmt::Debug for KeySet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self).finish()
    }
}

impl<'a> IntoIterator for &'a KeySet {
    type Item = KeyRef<'a>;
    type IntoIter = Iter<'a>;

    fn into_iter(self) -> Iter<'a> {
        self.iter()
    }
}

impl FromIterator<Key> for KeySet {
    /// Builds full nodes, whatever the order of the keys; of two of the same name the last counts.
    fn from_iter<I: IntoIterator<Item = Key>>(keys: I) -> Self {
        let mut keys: Vec<_> = keys.into_iter().collect();
        if !keys.is_sorted_by(|a, b| a.name() < b.name()) {
            let by_name: BTreeMap<_, _> = keys
                .into_iter()
                .map(|key| (key.name().clone(), key))
                .collect();
            keys = by_name.into_values().collect();
        }
        Self {
            root: tree::from_sorted(&keys),
            len: keys.len(),
        }
    }
}

impl Extend<Key> for KeySet {
    fn extend<I: IntoIterator<Item = Key>>(&mut self, keys: I) {
        if self.is_empty() {
            *self = keys.into_iter().collect();
        } else {
            for key in keys {
                self.insert(key);
            }
        }
    }
}
