//! Change sets.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::de::Deserializer;
use serde::ser::Serializer;
use serde::{Deserialize, Serialize};

use super::object::Object;
use super::{Error, metadata, read_name, refuse};
use crate::change::{Change, ChangeSet, MetaChanges};
use crate::key::Key;
use crate::key_ref::KeyRef;
use crate::metadata::{Metadata, short_name};
use crate::name::Name;
use crate::value::{Value, ValueRef};

impl Serialize for ChangeSet {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let modified = self.iter().filter_map(|change| {
            let (old, new) = change.old().zip(change.current())?;
            Some(ShownModified::new(change, old, new))
        });
        let shown = Shown {
            added: self.added().map(ShownKey::new).collect(),
            removed: self.removed().map(ShownKey::new).collect(),
            modified: modified.collect(),
        };
        shown.serialize(serializer)
    }
}

/// A change set as it is printed.
#[derive(Serialize)]
struct Shown<'a> {
    added: Vec<ShownKey<'a>>,
    removed: Vec<ShownKey<'a>>,
    modified: Vec<ShownModified<'a>>,
}

#[derive(Serialize)]
struct ShownKey<'a> {
    name: Name,
    value: ShownValue<'a>,
    meta: &'a Metadata,
}

impl<'a> ShownKey<'a> {
    fn new(key: KeyRef<'a>) -> Self {
        Self {
            name: key.name(),
            value: ShownValue::new(key.value()),
            meta: key.metadata(),
        }
    }
}

#[derive(Serialize)]
#[serde(untagged)]
enum ShownValue<'a> {
    Absent,
    Text(&'a str),
    Binary { base64: String },
}

impl<'a> ShownValue<'a> {
    fn new(value: ValueRef<'a>) -> Self {
        match value {
            ValueRef::Absent | ValueRef::Binary([]) => Self::Absent,
            ValueRef::Text(text) => Self::Text(text),
            ValueRef::Binary(bytes) => Self::Binary {
                base64: STANDARD.encode(bytes),
            },
        }
    }
}

#[derive(Serialize)]
struct ShownSide<'a> {
    value: ShownValue<'a>,
    meta: &'a Metadata,
}

impl<'a> ShownSide<'a> {
    fn new(key: KeyRef<'a>) -> Self {
        Self {
            value: ShownValue::new(key.value()),
            meta: key.metadata(),
        }
    }
}

#[derive(Serialize)]
struct ShownModified<'a> {
    name: Name,
    old: ShownSide<'a>,
    new: ShownSide<'a>,
    meta: ShownMeta<'a>,
}

impl<'a> ShownModified<'a> {
    fn new(change: Change<'a>, old: KeyRef<'a>, new: KeyRef<'a>) -> Self {
        Self {
            name: change.name(),
            old: ShownSide::new(old),
            new: ShownSide::new(new),
            meta: ShownMeta::new(change.meta_changes()),
        }
    }
}

#[derive(Serialize)]
struct ShownMeta<'a> {
    added: BTreeMap<String, &'a str>,
    removed: BTreeMap<String, &'a str>,
    modified: BTreeMap<String, [&'a str; 2]>,
}

impl<'a> ShownMeta<'a> {
    fn new(changes: MetaChanges<'a>) -> Self {
        let texts = |entries: Vec<(&'a Name, &'a str)>| {
            let named = entries
                .into_iter()
                .map(|(name, text)| (short_name(name), text));
            named.collect()
        };
        let modified = changes.modified.into_iter();
        Self {
            added: texts(changes.added),
            removed: texts(changes.removed),
            modified: modified
                .map(|(name, old, new)| (short_name(name), [old, new]))
                .collect(),
        }
    }
}

/// A change set as it is written. What `meta` says about a modified key follows from its sides and
/// is not read.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Written {
    #[serde(default)]
    added: Vec<Object<Named>>,
    #[serde(default)]
    removed: Vec<Object<Named>>,
    #[serde(default)]
    modified: Vec<Object<Modified>>,
}

#[derive(Deserialize)]
struct Named {
    name: String,
    #[serde(flatten)]
    side: Side,
}

#[derive(Deserialize)]
struct Side {
    #[serde(default)]
    value: Option<Content>,
    #[serde(default)]
    meta: metadata::Written,
}

#[derive(Deserialize)]
struct Modified {
    name: String,
    old: Object<Side>,
    new: Object<Side>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Content {
    Text(String),
    Binary(Object<Base64>),
}

#[derive(Deserialize)]
struct Base64 {
    base64: String,
}

impl<'de> Deserialize<'de> for ChangeSet {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        read(Object::deserialize(deserializer)?).map_err(|error| refuse(&error))
    }
}

pub(super) fn read(Object(written): Object<Written>) -> Result<ChangeSet, Error> {
    let named = |keys: Vec<Object<Named>>| -> Result<Vec<Key>, Error> {
        keys.into_iter()
            .map(|Object(key)| read_side(&key.name, key.side))
            .collect()
    };
    let modified: Vec<_> = written
        .modified
        .into_iter()
        .map(|Object(key)| {
            Ok((
                read_side(&key.name, key.old.0)?,
                read_side(&key.name, key.new.0)?,
            ))
        })
        .collect::<Result<_, Error>>()?;
    Ok(ChangeSet::from_parts(
        named(written.added)?,
        named(written.removed)?,
        modified,
    ))
}

fn read_side(name: &str, side: Side) -> Result<Key, Error> {
    let value = match side.value {
        None => Value::Absent,
        Some(Content::Text(text)) => text.into(),
        Some(Content::Binary(Object(Base64 { base64 }))) => {
            let bytes = STANDARD.decode(base64).map_err(|_| Error::Bytes {
                name: name.to_owned(),
                encoding: "base64",
            })?;
            Value::Binary(bytes.into())
        }
    };
    Ok(Key::new(read_name(name)?)
        .with_value(value)
        .with_metadata(side.meta.read(name)?))
}
