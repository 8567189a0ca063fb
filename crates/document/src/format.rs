//! The formats, and how each is read and written.

use crate::document::Document;
use crate::error::{ErrorAt, ReadError, WriteError};
use crate::limits::Limits;
use crate::write;

/// A format of documents.
///
/// ```
/// use pathline_document::Format;
///
/// assert_eq!(Format::of_path("deploy/values.yml"), Some(Format::Yaml));
/// let documents = Format::Json.read(r#"{"replicas": 2, "tags": ["a"]}"#)?;
/// assert_eq!(Format::Yaml.write(&documents[0])?, "replicas: 2\ntags:\n- a\n");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Format {
    /// JSON, RFC 8259.
    #[cfg(feature = "json")]
    Json,
    /// TOML 1.1.
    #[cfg(feature = "toml")]
    Toml,
    /// YAML 1.2, core schema, with merge keys; a stream of documents.
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

    /// Reads all documents of a text, empty ones included. JSON and TOML have one.
    ///
    /// # Errors
    ///
    /// Fails with the position of what is not of the format or goes beyond [`Limits::default`].
    pub fn read(self, text: &str) -> Result<Vec<Document>, ReadError> {
        self.read_with(text, &Limits::default())
    }

    /// Reads all documents of a text within limits.
    ///
    /// # Errors
    ///
    /// Fails with the position of what is not of the format or goes beyond the limits.
    pub fn read_with(self, text: &str, limits: &Limits) -> Result<Vec<Document>, ReadError> {
        let documents = match self {
            #[cfg(feature = "json")]
            Self::Json => crate::json::parse(text, limits).map(|document| vec![document]),
            #[cfg(feature = "toml")]
            Self::Toml => crate::toml::parse(text, limits).map(|document| vec![document]),
            #[cfg(feature = "yaml")]
            Self::Yaml => crate::yaml::parse(text, limits),
        };
        documents.map_err(|ErrorAt { offset, kind }| ReadError::new(text, offset, kind))
    }

    /// Writes a document; reading it gives an equal one.
    ///
    /// # Errors
    ///
    /// Fails if the format cannot hold one of the values.
    pub fn write(self, document: &Document) -> Result<String, WriteError> {
        match self {
            #[cfg(feature = "json")]
            Self::Json => write::json(document),
            #[cfg(feature = "toml")]
            Self::Toml => write::toml(document),
            #[cfg(feature = "yaml")]
            Self::Yaml => write::yaml(document),
        }
    }
}
