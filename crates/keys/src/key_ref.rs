//! A view of one key inside a set.

use std::fmt;

use crate::key::Key;
use crate::metadata::Metadata;
use crate::name::{Name, Namespace};
use crate::tree::Leaf;
use crate::value::ValueRef;

/// A key inside a key set or a change set, without a copy of it.
///
/// ```
/// use pathline_keys::{Key, KeySet};
///
/// let set: KeySet = [Key::new("user:/a".parse()?).with_value("1")].into_iter().collect();
/// for key in &set {
///     assert_eq!(key.name().to_string(), "user:/a");
///     assert_eq!(key.value().text(), Some("1"));
/// }
/// # Ok::<(), pathline_keys::name::Error>(())
/// ```
#[derive(Clone, Copy)]
pub struct KeyRef<'a> {
    leaf: &'a Leaf,
    index: usize,
}

impl<'a> KeyRef<'a> {
    pub(crate) const fn new(leaf: &'a Leaf, index: usize) -> Self {
        Self { leaf, index }
    }

    /// Puts the name together, which allocates: a set keeps what names have in common only once.
    #[must_use]
    pub fn name(self) -> Name {
        self.leaf.name(self.index)
    }

    /// Returns the namespace of the name.
    #[must_use]
    pub fn namespace(self) -> Namespace {
        let byte = self.leaf.first_byte(self.index);
        Namespace::from_byte(byte).expect("the first byte was written by a namespace")
    }

    /// Returns the value.
    #[must_use]
    pub fn value(self) -> ValueRef<'a> {
        self.leaf.value(self.index)
    }

    /// Returns the metadata.
    #[must_use]
    pub fn metadata(self) -> &'a Metadata {
        self.leaf.metadata(self.index)
    }

    /// Returns a key of its own; a long value stays shared with the set.
    #[must_use]
    pub fn to_key(self) -> Key {
        Key::new(self.name())
            .with_value(self.leaf.to_value(self.index))
            .with_metadata(self.metadata().clone())
    }

    /// Tells whether both hold the same value and metadata, whatever their names.
    #[must_use]
    pub fn same_content(self, other: KeyRef<'_>) -> bool {
        self.leaf.same_content(self.index, other.leaf, other.index)
    }

    /// Tells whether value and metadata are those of a key.
    pub(crate) fn holds(self, key: &Key) -> bool {
        self.value() == key.value().as_ref() && self.metadata() == key.metadata()
    }
}

impl PartialEq<KeyRef<'_>> for KeyRef<'_> {
    fn eq(&self, other: &KeyRef<'_>) -> bool {
        self.same_content(*other) && self.name() == other.name()
    }
}

impl Eq for KeyRef<'_> {}

impl PartialEq<Key> for KeyRef<'_> {
    fn eq(&self, other: &Key) -> bool {
        self.holds(other) && self.name() == *other.name()
    }
}

impl fmt::Debug for KeyRef<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeyRef")
            .field("name", &self.name())
            .field("value", &self.value())
            .field("metadata", self.metadata())
            .finish()
    }
}
