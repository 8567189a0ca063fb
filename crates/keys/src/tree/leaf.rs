//! Leaves: up to 64 keys, packed.

use std::cmp::Ordering;

use super::packed::{Packed, Record};
use crate::key::Key;
use crate::metadata::Metadata;
use crate::name::Name;
use crate::value::{Value, ValueRef};

/// Values up to this size lie in the leaf. Longer ones are shared from leaf to leaf, so that a write
/// never copies them.
const INLINE_MAX: usize = 128;

const TEXT: u8 = 1;
const BINARY: u8 = 2;
const SHARED: u8 = 3;

static NO_METADATA: Metadata = Metadata::new();

/// Keys in order.
#[derive(Debug, Clone)]
pub(crate) struct Leaf {
    packed: Packed,
    /// One for each key, or none at all if no key has any.
    metadata: Option<Box<[Metadata]>>,
    /// The long values, with the index of their keys.
    shared: Option<Box<[(u32, Value)]>>,
}

/// One key on its way into a leaf.
#[derive(Debug, Clone, Copy)]
pub(super) struct Item<'a> {
    record: Record<'a>,
    metadata: &'a Metadata,
    shared: Option<&'a Value>,
}

impl<'a> Item<'a> {
    pub(super) fn new(key: &'a Key, payload: &'a [u8]) -> Self {
        Self {
            record: Record::new(key.name().unescaped(), payload),
            metadata: key.metadata(),
            shared: is_long(key.value()).then(|| key.value()),
        }
    }
}

/// Writes the part of a value that lies in the leaf.
pub(super) fn encode(value: &Value, out: &mut Vec<u8>) {
    out.clear();
    let (kind, bytes) = match value {
        _ if is_long(value) => (SHARED, &[][..]),
        Value::Absent => return,
        Value::Text(text) => (TEXT, text.as_bytes()),
        Value::Binary(bytes) => (BINARY, &**bytes),
    };
    out.push(kind);
    out.extend_from_slice(bytes);
}

fn is_long(value: &Value) -> bool {
    value.as_ref().bytes().len() > INLINE_MAX
}

impl Leaf {
    pub(super) fn new(items: &[Item<'_>]) -> Self {
        let records: Vec<_> = items.iter().map(|item| item.record).collect();
        let described = items.iter().any(|item| !item.metadata.is_empty());
        let shared: Vec<_> = (0..)
            .zip(items)
            .filter_map(|(index, item)| Some((index, item.shared?.clone())))
            .collect();
        Self {
            packed: Packed::new(&records),
            metadata: described.then(|| items.iter().map(|item| item.metadata.clone()).collect()),
            shared: (!shared.is_empty()).then(|| shared.into()),
        }
    }

    pub(crate) fn single(key: &Key) -> Self {
        let mut payload = Vec::new();
        encode(key.value(), &mut payload);
        Self::new(&[Item::new(key, &payload)])
    }

    pub(crate) fn len(&self) -> usize {
        self.packed.len()
    }

    pub(crate) fn search(&self, name: &[u8]) -> Result<usize, usize> {
        self.packed.search(name)
    }

    pub(super) fn item(&self, index: usize) -> Item<'_> {
        Item {
            record: self.packed.record(index),
            metadata: self.metadata(index),
            shared: self.shared(index),
        }
    }

    pub(super) fn items(&self) -> impl Iterator<Item = Item<'_>> {
        (0..self.len()).map(|index| self.item(index))
    }

    pub(crate) fn name(&self, index: usize) -> Name {
        Name::from_unescaped(self.packed.name(index))
    }

    pub(crate) fn name_bytes(&self, index: usize) -> Vec<u8> {
        self.packed.name(index)
    }

    /// Returns the namespace byte, without putting the name together.
    pub(crate) fn first_byte(&self, index: usize) -> u8 {
        let first = self
            .packed
            .prefix()
            .first()
            .or_else(|| self.packed.suffix(index).first());
        *first.expect("names begin with their namespace")
    }

    pub(crate) fn value(&self, index: usize) -> ValueRef<'_> {
        match self.packed.payload(index) {
            [] => ValueRef::Absent,
            [TEXT, text @ ..] => {
                ValueRef::Text(std::str::from_utf8(text).expect("was written from a text"))
            }
            [BINARY, bytes @ ..] => ValueRef::Binary(bytes),
            _ => self
                .shared(index)
                .expect("the payload says that it is shared")
                .as_ref(),
        }
    }

    /// Returns the value, sharing the content of a long one.
    pub(crate) fn to_value(&self, index: usize) -> Value {
        self.shared(index)
            .cloned()
            .unwrap_or_else(|| self.value(index).to_value())
    }

    pub(crate) fn metadata(&self, index: usize) -> &Metadata {
        self.metadata
            .as_ref()
            .map_or(&NO_METADATA, |all| &all[index])
    }

    fn shared(&self, index: usize) -> Option<&Value> {
        let all = self.shared.as_deref()?;
        let at = all
            .binary_search_by_key(&index, |(index, _)| *index as usize)
            .ok()?;
        Some(&all[at].1)
    }

    /// Tells whether names and values are all there is, so that equal records are equal keys.
    pub(super) fn is_plain(&self) -> bool {
        self.metadata.is_none() && self.shared.is_none()
    }

    pub(super) fn packed(&self) -> &Packed {
        &self.packed
    }

    pub(super) fn cmp_names(&self, index: usize, other: &Self, others: usize) -> Ordering {
        self.packed.cmp_names(index, &other.packed, others)
    }

    /// Tells whether two keys of one name hold the same, by the rule of [`Value`].
    pub(crate) fn same_content(&self, index: usize, other: &Self, others: usize) -> bool {
        let (own, theirs) = (self.metadata(index), other.metadata(others));
        let (value, other_value) = (self.shared(index), other.shared(others));
        let one_value = match (value, other_value) {
            (Some(Value::Text(a)), Some(Value::Text(b))) => std::sync::Arc::ptr_eq(a, b),
            (Some(Value::Binary(a)), Some(Value::Binary(b))) => std::sync::Arc::ptr_eq(a, b),
            _ => false,
        };
        (one_value || self.value(index).same_content(other.value(others)))
            && (own.is_shared_with(theirs) || own == theirs)
    }
}
