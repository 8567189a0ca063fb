//! Documents as keys, and back.
//!
//! The root of a document is `user:/`. Scalars become values; what a value alone cannot say is
//! metadata, so that two documents give equal key sets exactly if their parsed values and types are
//! equal:
//!
//! | in the document | key | metadata |
//! | --- | --- | --- |
//! | text | value | none |
//! | integer, float, boolean, date or time | value, in one canonical spelling | `type` = `integer`, `float`, `boolean`, `datetime` |
//! | null | no value | `type` = `null` |
//! | `!!binary` of YAML | bytes | `binary` |
//! | list | no value; its items are below as `#0`, … `#9`, `#_10` | `array` |
//! | empty map | no value | `map` |
//! | map that is not empty | no key of its own | |
//! | member of a map whose key is not a text (YAML) | a key of its own | `key` = the type of the key |
//! | any other tag (YAML) | a key of its own | `tag` |
//!
//! Aliases and merge keys of YAML are resolved, within a budget. What cannot be a key is an error
//! with line and column: a NUL in the key of a map, an empty key directly below the root, a key that
//! is there twice or is no scalar.

mod error;
mod from_keys;
mod lost;
mod to_keys;
mod types;

use pathline_document::{Document, Limits};
pub use pathline_document::{Format, Position};

use self::error::ErrorAt;
pub use self::error::{ReadError, ReadErrorKind, WriteError};
use crate::set::KeySet;

/// Reads a document into keys below `user:/`.
///
/// ```
/// use pathline_keys::document::{self, Format};
///
/// let keys = document::read(Format::Json, r#"{"replicas": 2, "tags": ["a"]}"#)?;
/// assert_eq!(keys.len(), 3);
/// assert_eq!(document::write(Format::Yaml, &keys)?, "replicas: 2\ntags:\n- a\n");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// Fails with line and column of what is not of the format or cannot be keys.
pub fn read(format: Format, text: &str) -> Result<KeySet, ReadError> {
    let documents = format.read_with(text, &limits());
    let documents = documents.map_err(|error| ReadError {
        at: error.position,
        kind: error.kind.into(),
    })?;
    let keys = match &documents[..] {
        [] => to_keys::to_keys(&Document::default()),
        [document] => to_keys::to_keys(document),
        [_, second, ..] => Err(ErrorAt::new(second.start, ReadErrorKind::SeveralDocuments)),
    };
    keys.map_err(|error| error.locate(text))
}

/// Reads a document from bytes, which have to be UTF-8.
///
/// # Errors
///
/// Fails as [`read`] does, and where the bytes are not UTF-8.
pub fn read_bytes(format: Format, bytes: &[u8]) -> Result<KeySet, ReadError> {
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let (valid, _) = bytes.split_at(error.valid_up_to());
        let error = ErrorAt::new(valid.len(), ReadErrorKind::NotText);
        error.locate(&String::from_utf8_lossy(valid))
    })?;
    read(format, text)
}

/// Writes keys as a document. It is read again before it is returned: what it gives are equal
/// keys, or nothing is written. No keys at all are an empty map.
///
/// # Errors
///
/// Fails if the keys are not those of a document, or not of one that the format can hold; of
/// metadata that would be lost, it names the key and the metadata.
pub fn write(format: Format, keys: &KeySet) -> Result<String, WriteError> {
    let document = from_keys::from_keys(keys)?;
    let text = format.write(&document)?;
    let again = read(format, &text).map_err(WriteError::Unreadable)?;
    lost::refuse_lost(keys, &again)?;
    Ok(text)
}

/// Returns the limits of what is read; what aliases repeat is limited where keys are made.
fn limits() -> Limits {
    Limits::default()
        .with_nesting(50_000)
        .with_values(usize::MAX)
        .with_merged(1_000_000)
}
