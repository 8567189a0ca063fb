//! One change of one key.

use crate::key_ref::KeyRef;
use crate::name::Name;

/// The kind of a change of a key.
///
/// ```
/// use pathline_keys::ChangeKind;
///
/// assert!(ChangeKind::Added < ChangeKind::Removed);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "lowercase"))]
pub enum ChangeKind {
    /// The key is new.
    Added,
    /// The key is gone.
    Removed,
    /// The key was there before and is there after.
    Modified,
}

/// One key before and after.
///
/// ```
/// use pathline_keys::{Key, KeySet};
///
/// let key = Key::new("user:/a".parse()?).with_value("1");
/// let old = KeySet::from_iter([key.clone()]);
/// let new = KeySet::from_iter([key.with_meta("unit", "s")?]);
/// let changes = KeySet::diff(&old, &new, None);
/// let change = changes.iter().next().expect("the metadata differs");
/// assert!(change.only_meta_changed());
/// assert_eq!(change.meta_changes().added.len(), 1);
/// # Ok::<(), pathline_keys::name::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Change<'a> {
    old: Option<KeyRef<'a>>,
    new: Option<KeyRef<'a>>,
}

impl<'a> Change<'a> {
    pub(super) const fn new(old: Option<KeyRef<'a>>, new: Option<KeyRef<'a>>) -> Self {
        Self { old, new }
    }

    /// Returns what happened.
    #[must_use]
    pub const fn kind(self) -> ChangeKind {
        match (self.old, self.new) {
            (None, _) => ChangeKind::Added,
            (_, None) => ChangeKind::Removed,
            _ => ChangeKind::Modified,
        }
    }

    /// Returns the name of the key.
    #[must_use]
    pub fn name(self) -> Name {
        self.old.or(self.new).expect("a change has a side").name()
    }

    /// Returns the key before; an added one has none.
    #[must_use]
    pub const fn old(self) -> Option<KeyRef<'a>> {
        self.old
    }

    /// Returns the key after; a removed one has none.
    #[must_use]
    pub const fn current(self) -> Option<KeyRef<'a>> {
        self.new
    }

    /// Tells whether a modified key has another value.
    #[must_use]
    pub fn value_changed(self) -> bool {
        self.old
            .zip(self.new)
            .is_some_and(|(old, new)| !old.value().same_content(new.value()))
    }

    /// Tells whether a modified key has the same value.
    #[must_use]
    pub fn only_meta_changed(self) -> bool {
        self.kind() == ChangeKind::Modified && !self.value_changed()
    }

    /// Returns how the metadata of a modified key changed; of others, nothing.
    #[must_use]
    pub fn meta_changes(self) -> MetaChanges<'a> {
        self.old
            .zip(self.new)
            .map_or_else(MetaChanges::default, |(o, n)| MetaChanges::between(o, n))
    }
}

/// The changes of the metadata of a key.
///
/// ```
/// use pathline_keys::{Key, KeySet, MetaChanges};
///
/// let set = KeySet::from_iter([
///     Key::new("user:/a".parse()?).with_meta("x", "1")?,
///     Key::new("user:/b".parse()?).with_meta("x", "2")?,
/// ]);
/// let mut keys = set.iter();
/// let (a, b) = (keys.next().expect("first"), keys.next().expect("second"));
/// let changes = MetaChanges::between(a, b);
/// assert_eq!((changes.modified[0].1, changes.modified[0].2), ("1", "2"));
/// # Ok::<(), pathline_keys::name::Error>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct MetaChanges<'a> {
    /// New names and their texts.
    pub added: Vec<(&'a Name, &'a str)>,
    /// Names that are gone and the texts they had.
    pub removed: Vec<(&'a Name, &'a str)>,
    /// Names with the texts before and after.
    pub modified: Vec<(&'a Name, &'a str, &'a str)>,
}

impl<'a> MetaChanges<'a> {
    /// Compares the metadata of two keys.
    #[must_use]
    pub fn between(old: KeyRef<'a>, new: KeyRef<'a>) -> Self {
        let (old, new) = (old.metadata(), new.metadata());
        let mut changes = Self::default();
        if old.is_shared_with(new) {
            return changes;
        }
        for (name, before) in old.iter() {
            match new.get_name(name) {
                None => changes.removed.push((name, before)),
                Some(after) if after != before => changes.modified.push((name, before, after)),
                Some(_) => {}
            }
        }
        changes.added = new
            .iter()
            .filter(|(name, _)| old.get_name(name).is_none())
            .collect();
        changes
    }

    /// Tells whether nothing changed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.added.is_empty() && self.removed.is_empty() && self.modified.is_empty()
    }
}
