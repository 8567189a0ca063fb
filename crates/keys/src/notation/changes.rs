//! Change sets.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use serde_json::{Value as Json, json};

use super::{Error, Meta, read_metadata, read_name, show_metadata};
use crate::change::{Change, ChangeSet};
use crate::key::Key;
use crate::key_ref::KeyRef;
use crate::metadata::short_name;
use crate::value::{Value, ValueRef};

/// Prints a change set: `{"added":[{"name","value","meta"}],"removed":[…],"modified":[{"name",
/// "old":{"value","meta"},"new":{…},"meta":{"added":{},"removed":{},"modified":{"k":[old,new]}}}]}`,
/// ordered by name. A value is a text, null, or `{"base64": …}`.
///
/// ```
/// use pathline_keys::notation::change_set_to_json;
/// use pathline_keys::{Key, KeySet};
///
/// let new = KeySet::from_iter([Key::new("user:/a".parse()?).with_value("1")]);
/// let json = change_set_to_json(&KeySet::diff(&KeySet::new(), &new, None));
/// assert_eq!(json["added"][0]["name"], "user:/a");
/// # Ok::<(), pathline_keys::name::Error>(())
/// ```
#[must_use]
pub fn change_set_to_json(changes: &ChangeSet) -> Json {
    let named = |key: KeyRef<'_>| {
        let mut object = show_side(key);
        object["name"] = json!(key.name().to_string());
        object
    };
    let is_modified = |change: &Change<'_>| change.old().is_some() && change.current().is_some();
    json!({
        "added": changes.added().map(named).collect::<Json>(),
        "removed": changes.removed().map(named).collect::<Json>(),
        "modified": changes.iter().filter(is_modified).map(show_modified).collect::<Json>(),
    })
}

fn show_side(key: KeyRef<'_>) -> Json {
    let value = match key.value() {
        ValueRef::Absent | ValueRef::Binary([]) => Json::Null,
        ValueRef::Text(text) => json!(text),
        ValueRef::Binary(bytes) => json!({ "base64": STANDARD.encode(bytes) }),
    };
    json!({ "value": value, "meta": show_metadata(key.metadata().iter()) })
}

fn show_modified(change: Change<'_>) -> Json {
    let meta = change.meta_changes();
    let modified: serde_json::Map<_, _> = meta
        .modified
        .iter()
        .map(|(name, old, new)| (short_name(name), json!([old, new])))
        .collect();
    json!({
        "name": change.name().to_string(),
        "old": change.old().map(show_side),
        "new": change.current().map(show_side),
        "meta": {
            "added": show_metadata(meta.added.into_iter()),
            "removed": show_metadata(meta.removed.into_iter()),
            "modified": modified,
        },
    })
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Changes {
    #[serde(default)]
    added: Vec<Named>,
    #[serde(default)]
    removed: Vec<Named>,
    #[serde(default)]
    modified: Vec<Modified>,
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
    meta: Meta,
}

#[derive(Deserialize)]
struct Modified {
    name: String,
    old: Side,
    new: Side,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Content {
    Text(String),
    Binary { base64: String },
}

/// Reads what [`change_set_to_json`] prints. What `meta` says about a modified key follows from its
/// sides and is not read.
///
/// ```
/// use pathline_keys::notation::{change_set_from_json, change_set_to_json};
///
/// let changes = change_set_from_json(r#"{"removed":[{"name":"user:/a","value":"1"}]}"#)?;
/// assert_eq!(changes.removed().count(), 1);
/// let printed = change_set_to_json(&changes).to_string();
/// assert_eq!(change_set_from_json(&printed)?, changes);
/// # Ok::<(), pathline_keys::notation::Error>(())
/// ```
pub fn change_set_from_json(json: &str) -> Result<ChangeSet, Error> {
    let changes: Changes = serde_json::from_str(json)?;
    let named = |keys: Vec<Named>| -> Result<Vec<Key>, Error> {
        keys.into_iter()
            .map(|key| read_side(&key.name, key.side))
            .collect()
    };
    let modified: Vec<_> = changes
        .modified
        .into_iter()
        .map(|key| {
            Ok((
                read_side(&key.name, key.old)?,
                read_side(&key.name, key.new)?,
            ))
        })
        .collect::<Result<_, Error>>()?;
    Ok(ChangeSet::from_parts(
        named(changes.added)?,
        named(changes.removed)?,
        modified,
    ))
}

fn read_side(name: &str, side: Side) -> Result<Key, Error> {
    let value = match side.value {
        None => Value::Absent,
        Some(Content::Text(text)) => text.into(),
        Some(Content::Binary { base64 }) => {
            let bytes = STANDARD.decode(base64);
            let name = name.to_owned();
            Value::Binary(
                bytes
                    .map_err(|_| Error::Bytes {
                        name,
                        encoding: "base64",
                    })?
                    .into(),
            )
        }
    };
    Ok(Key::new(read_name(name)?)
        .with_value(value)
        .with_metadata(read_metadata(side.meta)?))
}
