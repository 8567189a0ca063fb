//! The notation as JSON, with errors that say what is wrong.

use serde_json::Value as Json;

use super::{Error, changes, keys};
use crate::change::ChangeSet;
use crate::set::KeySet;

/// Reads a key set.
///
/// ```
/// use pathline_keys::notation::{key_set_from_json, key_set_to_json};
///
/// let json = r##"[{"n":"user:/a","v":"1","m":{"unit":"s"}},{"n":"user:/b","bin":"00ff"}]"##;
/// let keys = key_set_from_json(json)?;
/// assert_eq!(keys.len(), 2);
/// assert_eq!(key_set_from_json(&key_set_to_json(&keys)?.to_string())?, keys);
/// # Ok::<(), pathline_keys::notation::Error>(())
/// ```
///
/// # Errors
///
/// Fails if the text is not in the notation, or has a name twice.
pub fn key_set_from_json(json: &str) -> Result<KeySet, Error> {
    keys::read_all(serde_json::from_str(json)?)
}

/// Prints a key set. Reading it gives an equal one.
///
/// # Errors
///
/// Fails if a name is not UTF-8, which JSON is.
pub fn key_set_to_json(keys: &KeySet) -> Result<Json, Error> {
    Ok(serde_json::to_value(keys)?)
}

/// Reads what [`change_set_to_json`] prints. What `meta` says about a modified key follows from its
/// sides and is not read.
///
/// ```
/// use pathline_keys::notation::{change_set_from_json, change_set_to_json};
///
/// let changes = change_set_from_json(r#"{"removed":[{"name":"user:/a","value":"1"}]}"#)?;
/// assert_eq!(changes.removed().count(), 1);
/// let printed = change_set_to_json(&changes)?.to_string();
/// assert_eq!(change_set_from_json(&printed)?, changes);
/// # Ok::<(), pathline_keys::notation::Error>(())
/// ```
///
/// # Errors
///
/// Fails if the text is not in the notation.
pub fn change_set_from_json(json: &str) -> Result<ChangeSet, Error> {
    changes::read(serde_json::from_str(json)?)
}

/// Prints a change set, without the name that it is limited to.
///
/// ```
/// use pathline_keys::notation::change_set_to_json;
/// use pathline_keys::{Key, KeySet};
///
/// let new = KeySet::from_iter([Key::new("user:/a".parse()?).with_value("1")]);
/// let json = change_set_to_json(&KeySet::diff(&KeySet::new(), &new, None))?;
/// assert_eq!(json["added"][0]["name"], "user:/a");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// Fails if a name is not UTF-8, which JSON is.
pub fn change_set_to_json(changes: &ChangeSet) -> Result<Json, Error> {
    Ok(serde_json::to_value(changes)?)
}
