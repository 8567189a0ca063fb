//! Keys and key sets.

use std::collections::BTreeMap;

use serde::de::Deserializer;
use serde::ser::Serializer;
use serde::{Deserialize, Serialize};

use super::object::Object;
use super::{Error, metadata, read_name, refuse};
use crate::key::Key;
use crate::key_ref::KeyRef;
use crate::metadata::{Metadata, is_binary_name, short_name};
use crate::name::Name;
use crate::set::KeySet;
use crate::value::{Value, ValueRef};

/// One key as it is written; `bin` is there or not, and null if it is a null binary.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Written {
    n: String,
    #[serde(default)]
    v: Option<String>,
    #[serde(default, deserialize_with = "present")]
    bin: Option<Option<String>>,
    #[serde(default)]
    m: metadata::Written,
}

fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Option<String>>, D::Error> {
    Option::deserialize(deserializer).map(Some)
}

impl<'de> Deserialize<'de> for Key {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        read(Object::deserialize(deserializer)?.0).map_err(|error| refuse(&error))
    }
}

impl<'de> Deserialize<'de> for KeySet {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        read_all(Vec::deserialize(deserializer)?).map_err(|error| refuse(&error))
    }
}

pub(super) fn read_all(written: Vec<Object<Written>>) -> Result<KeySet, Error> {
    let count = written.len();
    let keys: Vec<_> = written
        .into_iter()
        .map(|key| read(key.0))
        .collect::<Result<_, _>>()?;
    let set: KeySet = keys.iter().cloned().collect();
    if set.len() < count {
        let mut names: Vec<_> = keys.iter().map(Key::name).collect();
        names.sort();
        if let Some(pair) = names.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(Error::Duplicate {
                name: pair[0].clone(),
            });
        }
    }
    Ok(set)
}

fn read(written: Written) -> Result<Key, Error> {
    let value = match (written.bin, written.v) {
        (Some(hex), _) => {
            let bytes = from_hex(&hex.unwrap_or_default()).ok_or_else(|| Error::Bytes {
                name: written.n.clone(),
                encoding: "hexadecimal",
            })?;
            Value::Binary(bytes.into())
        }
        (None, Some(text)) => text.into(),
        (None, None) => Value::Absent,
    };
    let key = Key::new(read_name(&written.n)?).with_value(value);
    Ok(key.with_metadata(written.m.read(&written.n)?))
}

impl Serialize for Key {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Shown::new(self.name().clone(), self.value().as_ref(), self.metadata())
            .serialize(serializer)
    }
}

impl Serialize for KeyRef<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Shown::new(self.name(), self.value(), self.metadata()).serialize(serializer)
    }
}

impl Serialize for KeySet {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self)
    }
}

/// One key as it is printed.
#[derive(Serialize)]
struct Shown<'a> {
    n: Name,
    #[serde(skip_serializing_if = "Option::is_none")]
    v: Option<Option<&'a str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bin: Option<Option<String>>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    m: BTreeMap<String, &'a str>,
}

impl<'a> Shown<'a> {
    fn new(name: Name, value: ValueRef<'a>, metadata: &'a Metadata) -> Self {
        let (v, bin) = match value {
            ValueRef::Absent => (Some(None), None),
            ValueRef::Text(text) => (Some(Some(text)), None),
            ValueRef::Binary([]) => (None, Some(None)),
            ValueRef::Binary(bytes) => (None, Some(Some(to_hex(bytes)))),
        };
        // `bin` says that it is binary.
        let entries = metadata.iter().filter(|(name, _)| !is_binary_name(name));
        Self {
            n: name,
            v,
            bin,
            m: entries
                .map(|(name, text)| (short_name(name), text))
                .collect(),
        }
    }
}

fn from_hex(hex: &str) -> Option<Vec<u8>> {
    let digits: Vec<_> = hex
        .chars()
        .map(|digit| digit.to_digit(16))
        .collect::<Option<_>>()?;
    let byte = |pair: &[u32]| u8::try_from(pair[0] << 4 | pair[1]).ok();
    if digits.len() % 2 == 1 {
        None
    } else {
        digits.chunks(2).map(byte).collect()
    }
}

fn to_hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
