//! Key sets.

use serde::Deserialize;
use serde_json::{Map, Value as Json, json};

use super::{Error, Meta, read_metadata, read_name, show_metadata};
use crate::key::Key;
use crate::set::KeySet;
use crate::value::{Value, ValueRef};

/// One key; `bin` is there or not, and null if it is a null binary.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Notation {
    n: String,
    #[serde(default)]
    v: Option<String>,
    #[serde(default, deserialize_with = "present")]
    bin: Option<Option<String>>,
    #[serde(default)]
    m: Meta,
}

fn present<'de, D: serde::Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Option<String>>, D::Error> {
    Option::deserialize(deserializer).map(Some)
}

/// Reads a key set.
///
/// ```
/// use pathline_keys::notation::{key_set_from_json, key_set_to_json};
///
/// let json = r##"[{"n":"user:/a","v":"1","m":{"unit":"s"}},{"n":"user:/b","bin":"00ff"}]"##;
/// let keys = key_set_from_json(json)?;
/// assert_eq!(keys.len(), 2);
/// assert_eq!(key_set_from_json(&key_set_to_json(&keys).to_string())?, keys);
/// # Ok::<(), pathline_keys::notation::Error>(())
/// ```
pub fn key_set_from_json(json: &str) -> Result<KeySet, Error> {
    let notations: Vec<Notation> = serde_json::from_str(json)?;
    let count = notations.len();
    let keys: Vec<_> = notations.into_iter().map(read).collect::<Result<_, _>>()?;
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

fn read(notation: Notation) -> Result<Key, Error> {
    let value = match (notation.bin, notation.v) {
        (Some(hex), _) => {
            let bytes = from_hex(&hex.unwrap_or_default());
            let name = notation.n.clone();
            Value::Binary(
                bytes
                    .ok_or(Error::Bytes {
                        name,
                        encoding: "hexadecimal",
                    })?
                    .into(),
            )
        }
        (None, Some(text)) => text.into(),
        (None, None) => Value::Absent,
    };
    let key = Key::new(read_name(&notation.n)?).with_value(value);
    Ok(key.with_metadata(read_metadata(notation.m)?))
}

/// Prints a key set. Reading it gives an equal one.
#[must_use]
pub fn key_set_to_json(keys: &KeySet) -> Json {
    let show = |key: crate::KeyRef<'_>| {
        let mut object = Map::new();
        object.insert("n".to_owned(), json!(key.name().to_string()));
        let (field, value) = match key.value() {
            ValueRef::Absent => ("v", Json::Null),
            ValueRef::Text(text) => ("v", json!(text)),
            ValueRef::Binary([]) => ("bin", Json::Null),
            ValueRef::Binary(bytes) => ("bin", json!(to_hex(bytes))),
        };
        object.insert(field.to_owned(), value);
        let shown = key.metadata().iter().filter(|(name, _)| {
            // `bin` says it already.
            !(key.value().is_binary() && name.base_name() == Some(b"binary"))
        });
        let metadata = show_metadata(shown);
        if !metadata.is_empty() {
            object.insert("m".to_owned(), Json::Object(metadata));
        }
        Json::Object(object)
    };
    keys.iter().map(show).collect()
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
