//! The sources of documents and key sets: files, and revisions of a git repository.

use std::fs;
use std::path::Path;

use pathline_keys::KeySet;
use pathline_keys::document::{self, Format, ReadError};
use pathline_keys::notation;
use pathline_remote::local;

/// An error because of which the answer cannot be known.
#[derive(Debug, thiserror::Error)]
pub(crate) enum KeysError {
    #[error("cannot read {name}")]
    File {
        name: String,
        #[source]
        source: std::io::Error,
    },
    #[error("cannot read {name} from git")]
    Git {
        name: String,
        #[source]
        source: local::Error,
    },
    #[error("{name} is not a document that can be compared")]
    Document {
        name: String,
        #[source]
        source: ReadError,
    },
    #[error("{name} cannot be used")]
    Notation {
        name: String,
        #[source]
        source: notation::Error,
    },
    #[error("{name} is not UTF-8")]
    NotText { name: String },
}

/// Reads a document from a file, or from `REV:PATH` where there is no such file.
pub(super) fn document(name: &str) -> Result<KeySet, KeysError> {
    let format = Format::of_path(name).unwrap_or(Format::Yaml);
    let document = document::read_bytes(format, &bytes(name)?);
    document.map_err(|source| KeysError::Document {
        name: name.to_owned(),
        source,
    })
}

/// Reads a key set in the notation.
pub(super) fn key_set(name: &str) -> Result<KeySet, KeysError> {
    parse(name, bytes(name)?, notation::key_set_from_json)
}

/// Reads a file in one of the notations.
pub(super) fn notation<T>(
    path: &Path,
    read: impl FnOnce(&str) -> Result<T, notation::Error>,
) -> Result<T, KeysError> {
    let name = path.display().to_string();
    let bytes = fs::read(path);
    let bytes = bytes.map_err(|source| KeysError::File {
        name: name.clone(),
        source,
    })?;
    parse(&name, bytes, read)
}

fn parse<T>(
    name: &str,
    bytes: Vec<u8>,
    read: impl FnOnce(&str) -> Result<T, notation::Error>,
) -> Result<T, KeysError> {
    let name = name.to_owned();
    match String::from_utf8(bytes) {
        Ok(text) => read(&text).map_err(|source| KeysError::Notation { name, source }),
        Err(_) => Err(KeysError::NotText { name }),
    }
}

fn bytes(name: &str) -> Result<Vec<u8>, KeysError> {
    match (fs::read(name), name.split_once(':')) {
        (Ok(bytes), _) => Ok(bytes),
        (Err(_), Some((revision, path))) if !revision.is_empty() && !path.is_empty() => {
            local::file_at(Path::new("."), revision, path).map_err(|source| KeysError::Git {
                name: name.to_owned(),
                source,
            })
        }
        (Err(source), _) => Err(KeysError::File {
            name: name.to_owned(),
            source,
        }),
    }
}
