//! Change sets: what leads from one key set to another.

mod apply;
mod compose;
mod one;

use std::fmt;

pub use self::apply::ApplyError;
pub use self::compose::ComposeError;
pub use self::one::{Change, ChangeKind, MetaChanges};
use crate::key::Key;
use crate::key_ref::KeyRef;
use crate::name::Name;
use crate::tree::Slot;

/// One change: a key before and after. Not both are absent, and both have the same name.
#[derive(Debug, Clone)]
pub(crate) struct Record {
    pub(crate) old: Option<Slot>,
    pub(crate) new: Option<Slot>,
}

impl Record {
    fn view(&self) -> Change<'_> {
        Change::new(
            self.old.as_ref().map(Slot::key),
            self.new.as_ref().map(Slot::key),
        )
    }

    fn name(&self) -> Name {
        self.view().name()
    }
}

/// The changes that lead from one key set to another, ordered by name.
///
/// It keeps the keys' leaves alive and copies nothing, so it is as cheap as the diff that made it.
///
/// ```
/// use pathline_keys::{ChangeKind, Key, KeySet};
///
/// let key = |(name, value): (&str, &str)| {
///     Key::new(name.parse().expect("a literal")).with_value(value)
/// };
/// let a = KeySet::from_iter([("user:/x", "1"), ("user:/y", "1")].map(key));
/// let b = KeySet::from_iter([("user:/x", "2")].map(key));
/// let c = KeySet::from_iter([("user:/x", "3"), ("user:/z", "1")].map(key));
///
/// let first = KeySet::diff(&a, &b, None);
/// let both = first.compose(&KeySet::diff(&b, &c, None))?;
/// assert_eq!(both, KeySet::diff(&a, &c, None));
/// assert_eq!(both.apply(&a)?, c);
/// assert_eq!(both.reverse().apply(&c)?, a);
/// assert_eq!(both.get(&"user:/z".parse()?).map(|c| c.kind()), Some(ChangeKind::Added));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Default)]
pub struct ChangeSet {
    records: Vec<Record>,
    parent: Option<Name>,
}

impl ChangeSet {
    /// Takes changes that did not come from a diff: added keys, removed keys, and modified ones
    /// before and after.
    ///
    /// Nothing is left out, not even a modification that changes nothing or several changes of one
    /// name; the latter can be filtered and printed, but neither composed nor applied.
    ///
    /// ```
    /// use pathline_keys::{ChangeSet, Key};
    ///
    /// let added = [Key::new("user:/a".parse()?)];
    /// assert_eq!(ChangeSet::from_parts(added, [], []).len(), 1);
    /// # Ok::<(), pathline_keys::name::Error>(())
    /// ```
    pub fn from_parts(
        added: impl IntoIterator<Item = Key>,
        removed: impl IntoIterator<Item = Key>,
        modified: impl IntoIterator<Item = (Key, Key)>,
    ) -> Self {
        let added = added.into_iter().map(|key| (None, Some(key)));
        let removed = removed.into_iter().map(|key| (Some(key), None));
        let modified = modified.into_iter().map(|(old, new)| {
            let new = new.with_name(old.name().clone());
            (Some(old), Some(new))
        });
        let lone = |key: Option<Key>| key.as_ref().map(Slot::lone);
        let mut records: Vec<_> = added
            .chain(removed)
            .chain(modified)
            .map(|(old, new)| Record {
                old: lone(old),
                new: lone(new),
            })
            .collect();
        records.sort_by_cached_key(Record::name);
        Self {
            records,
            parent: None,
        }
    }

    pub(crate) const fn from_records(records: Vec<Record>, parent: Option<Name>) -> Self {
        Self { records, parent }
    }

    /// Returns the number of changed keys.
    #[must_use]
    pub fn len(&self) -> usize {
        self.records.len()
    }

    /// Tells whether nothing changed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    /// Returns the name that the changes are limited to, if they are.
    #[must_use]
    pub const fn parent(&self) -> Option<&Name> {
        self.parent.as_ref()
    }

    /// Returns all changes, in order of names.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = Change<'_>> + ExactSizeIterator {
        self.records.iter().map(Record::view)
    }

    /// Returns the keys that are only on the new side.
    pub fn added(&self) -> impl Iterator<Item = KeyRef<'_>> {
        self.iter()
            .filter(|change| change.kind() == ChangeKind::Added)
            .filter_map(|c| c.current())
    }

    /// Returns the keys that are only on the old side.
    pub fn removed(&self) -> impl Iterator<Item = KeyRef<'_>> {
        self.iter()
            .filter(|change| change.kind() == ChangeKind::Removed)
            .filter_map(|c| c.old())
    }

    /// Returns the keys that are on both sides, old and new.
    pub fn modified(&self) -> impl Iterator<Item = (KeyRef<'_>, KeyRef<'_>)> {
        self.iter()
            .filter_map(|change| change.old().zip(change.current()))
    }

    /// Returns the change of a name.
    #[must_use]
    pub fn get(&self, name: &Name) -> Option<Change<'_>> {
        let at = self
            .records
            .binary_search_by(|record| record.name().cmp(name))
            .ok()?;
        Some(self.records[at].view())
    }

    /// Returns what leads back.
    #[must_use]
    pub fn reverse(&self) -> Self {
        let back = |record: &Record| Record {
            old: record.new.clone(),
            new: record.old.clone(),
        };
        Self {
            records: self.records.iter().map(back).collect(),
            parent: self.parent.clone(),
        }
    }

    /// Returns the changes that a condition holds for.
    #[must_use]
    pub fn filter(&self, mut condition: impl FnMut(Change<'_>) -> bool) -> Self {
        let records = self
            .records
            .iter()
            .filter(|record| condition(record.view()))
            .cloned();
        Self {
            records: records.collect(),
            parent: self.parent.clone(),
        }
    }

    /// Returns the changes at and below a name, which becomes the parent.
    #[must_use]
    pub fn below(&self, name: &Name) -> Self {
        let mut below = self.filter(|change| change.name().is_same_or_below(name));
        below.parent = Some(name.clone());
        below
    }

    /// Returns the changes that are neither at nor below a name.
    #[must_use]
    pub fn without_below(&self, name: &Name) -> Self {
        self.filter(|change| !change.name().is_same_or_below(name))
    }

    /// Returns all changes but those of that very name.
    #[must_use]
    pub fn without(&self, name: &Name) -> Self {
        self.filter(|change| change.name() != *name)
    }

    /// Takes the changes at and below a name out, and returns them.
    pub fn cut(&mut self, name: &Name) -> Self {
        let cut = self.below(name);
        *self = self.without_below(name);
        cut
    }

    /// Returns the first name that is there more than once.
    fn contradiction(&self) -> Option<Name> {
        let mut names = self
            .records
            .windows(2)
            .map(|pair| (pair[0].name(), pair[1].name()));
        names.find_map(|(a, b)| (a == b).then_some(a))
    }
}

impl PartialEq for ChangeSet {
    /// Compares the changes, not what they are limited to.
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && self.iter().zip(other.iter()).all(|(a, b)| a == b)
    }
}

impl Eq for ChangeSet {}

impl fmt::Debug for ChangeSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}
