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
#[cfg(feature = "json")]
mod json;
mod number;
mod to_keys;
#[cfg(feature = "toml")]
mod toml;
mod tree;
mod write;
#[cfg(feature = "yaml")]
mod yaml;

use self::error::Failure;
pub use self::error::{Position, ReadError, ReadErrorKind, WriteError};
use crate::set::KeySet;

/// A format of documents.
///
/// ```
/// use pathline_keys::document::Format;
///
/// assert_eq!(Format::of_path("deploy/values.yml"), Some(Format::Yaml));
/// let keys = Format::Json.read(r#"{"replicas": 2, "tags": ["a"]}"#)?;
/// assert_eq!(keys.len(), 3);
/// assert_eq!(Format::Yaml.write(&keys)?, "replicas: 2\ntags:\n- a\n");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Format {
    /// JSON, RFC 8259.
    #[cfg(feature = "json")]
    Json,
    /// TOML 1.1.
    #[cfg(feature = "toml")]
    Toml,
    /// YAML 1.2, core schema, with merge keys; one document.
    #[cfg(feature = "yaml")]
    Yaml,
}

impl Format {
    /// Guesses the format from the end of a file's name.
    #[must_use]
    pub fn of_path(path: &str) -> Option<Self> {
        let (_, extension) = path.rsplit_once('.')?;
        match extension.to_ascii_lowercase().as_str() {
            #[cfg(feature = "json")]
            "json" => Some(Self::Json),
            #[cfg(feature = "toml")]
            "toml" => Some(Self::Toml),
            #[cfg(feature = "yaml")]
            "yaml" | "yml" => Some(Self::Yaml),
            _ => None,
        }
    }

    /// Reads a document into keys below `user:/`.
    pub fn read(self, text: &str) -> Result<KeySet, ReadError> {
        let tree = match self {
            #[cfg(feature = "json")]
            Self::Json => json::parse(text),
            #[cfg(feature = "toml")]
            Self::Toml => toml::parse(text),
            #[cfg(feature = "yaml")]
            Self::Yaml => yaml::parse(text),
        };
        tree.and_then(|tree| to_keys::to_keys(&tree))
            .map_err(|failure| failure.locate(text))
    }

    /// Reads a document from bytes, which have to be UTF-8.
    pub fn read_bytes(self, bytes: &[u8]) -> Result<KeySet, ReadError> {
        let text = std::str::from_utf8(bytes).map_err(|error| {
            let (valid, _) = bytes.split_at(error.valid_up_to());
            let failure = Failure::new(valid.len(), ReadErrorKind::NotText);
            failure.locate(&String::from_utf8_lossy(valid))
        })?;
        self.read(text)
    }

    /// Writes keys as a document; reading it gives equal keys.
    pub fn write(self, keys: &KeySet) -> Result<String, WriteError> {
        let tree = from_keys::from_keys(keys)?;
        match self {
            #[cfg(feature = "json")]
            Self::Json => write::json(&tree),
            #[cfg(feature = "toml")]
            Self::Toml => write::toml(&tree),
            #[cfg(feature = "yaml")]
            Self::Yaml => write::yaml(&tree),
        }
    }
}
