//! The notation in which key sets and change sets are exchanged: their form for serde, and as JSON.
//!
//! A key set is an array of `{"n": name, "v": text or null, "m": {metadata}}`; a binary key has
//! `"bin"`, in hexadecimal, instead of `"v"`. A change set is `{"added": [{"name", "value", "meta"}],
//! "removed": […], "modified": [{"name", "old": {"value", "meta"}, "new": {…}, "meta": {"added": {},
//! "removed": {}, "modified": {"k": [old, new]}}}]}`, where a value is a text, null, or
//! `{"base64": …}`. Both are ordered by name. Metadata names are without `meta:/`.
//!
//! [`Key`](crate::Key), [`KeySet`](crate::KeySet), [`ChangeSet`](crate::ChangeSet),
//! [`Metadata`](crate::Metadata) and [`Name`] have this form in every format of serde that describes
//! itself, as JSON and YAML do.
//!
//! ```
//! use pathline_keys::{Key, KeySet, Name};
//! use serde::{Deserialize, Serialize};
//!
//! #[derive(Serialize, Deserialize)]
//! struct Snapshot {
//!     root: Name,
//!     keys: KeySet,
//! }
//!
//! let keys = KeySet::from_iter([Key::new("user:/app/port".parse()?).with_value("80")]);
//! let text = serde_json::to_string(&Snapshot { root: "user:/app".parse()?, keys })?;
//! assert_eq!(text, r#"{"root":"user:/app","keys":[{"n":"user:/app/port","v":"80"}]}"#);
//! assert_eq!(serde_json::from_str::<Snapshot>(&text)?.keys.len(), 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Only names that are UTF-8 can be written; any other one is an error.

mod changes;
#[cfg(feature = "json")]
mod json;
mod keys;
mod metadata;
mod name;
mod object;

#[cfg(feature = "json")]
pub use self::json::{
    change_set_from_json, change_set_to_json, key_set_from_json, key_set_to_json,
};
use crate::name::{Error as NameError, Name};

/// The reason for which a text is not a key set or change set.
///
/// ```
/// use pathline_keys::notation::{Error, key_set_from_json};
///
/// let error = key_set_from_json(r#"[{"n": "user:"}]"#).expect_err("that is no name");
/// assert!(matches!(error, Error::Name { .. }));
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The text is not JSON of the right shape, or a name cannot be in one; the source says where.
    #[cfg(feature = "json")]
    #[error("not in the notation")]
    Json(#[from] serde_json::Error),
    /// A name is not one.
    #[error("`{written}` is not a name")]
    Name {
        /// As it is written.
        written: String,
        /// The fault in it.
        #[source]
        source: NameError,
    },
    /// Bytes are not spelled as bytes.
    #[error("{name}: not {encoding}")]
    Bytes {
        /// The key.
        name: String,
        /// The encoding in which bytes are spelled here.
        encoding: &'static str,
    },
    /// A name is there twice.
    #[error("{name}: there twice")]
    Duplicate {
        /// The key.
        name: Name,
    },
    /// A key has one metadata under two spellings of its name, or twice.
    #[error("{name}: the metadata `{metadata}` is there twice")]
    DuplicateMetadata {
        /// The key.
        name: String,
        /// The name of the metadata, as it is spelled the second time.
        metadata: String,
    },
}

/// Makes an error of a format, which has no source and so needs the whole text.
fn refuse<E: serde::de::Error>(error: &Error) -> E {
    match error {
        Error::Name { source, .. } => E::custom(format_args!("{error}: {source}")),
        _ => E::custom(error),
    }
}

fn read_name(written: &str) -> Result<Name, Error> {
    Name::parse(written).map_err(|source| Error::Name {
        written: written.to_owned(),
        source,
    })
}
