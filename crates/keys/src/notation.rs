//! The JSON in which key sets and change sets are exchanged.
//!
//! A key set is an array of `{"n": name, "v": text or null, "m": {metadata}}`; a binary key has
//! `"bin"`, in hexadecimal, instead of `"v"`. A change set is what [`change_set_to_json`] shows.
//! Metadata names are without `meta:/`.

mod changes;
mod keys;

pub use self::changes::{change_set_from_json, change_set_to_json};
pub use self::keys::{key_set_from_json, key_set_to_json};
use crate::metadata::{Metadata, short_name};
use crate::name::{self, Name};

/// Why a text is not a key set or change set.
///
/// ```
/// use pathline_keys::notation::{Error, key_set_from_json};
///
/// let error = key_set_from_json(r#"[{"n": "user:"}]"#).expect_err("that is no name");
/// assert!(matches!(error, Error::Name { .. }));
/// ```
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The text is not JSON of the right shape; the message says where.
    #[error("not in the notation")]
    Json(#[from] serde_json::Error),
    /// A name is not one.
    #[error("`{written}` is not a name")]
    Name {
        /// As it is written.
        written: String,
        /// What is wrong with it.
        #[source]
        source: name::Error,
    },
    /// Bytes are not spelled as bytes.
    #[error("{name}: not {encoding}")]
    Bytes {
        /// The key.
        name: String,
        /// How bytes are spelled here.
        encoding: &'static str,
    },
    /// A name is there twice.
    #[error("{name}: there twice")]
    Duplicate {
        /// The key.
        name: Name,
    },
}

type Meta = std::collections::BTreeMap<String, Option<String>>;

fn read_name(written: &str) -> Result<Name, Error> {
    Name::parse(written).map_err(|source| Error::Name {
        written: written.to_owned(),
        source,
    })
}

fn read_metadata(entries: Meta) -> Result<Metadata, Error> {
    let mut metadata = Metadata::new();
    for (written, text) in entries {
        let inserted = metadata.insert(&written, text.unwrap_or_default());
        inserted.map_err(|source| Error::Name {
            written: written.clone(),
            source,
        })?;
    }
    Ok(metadata)
}

fn show_metadata<'a>(
    entries: impl Iterator<Item = (&'a Name, &'a str)>,
) -> serde_json::Map<String, serde_json::Value> {
    entries
        .map(|(name, text)| (short_name(name), text.into()))
        .collect()
}
