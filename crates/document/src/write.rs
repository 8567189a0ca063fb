//! Writing documents.
//!
//! All formats can put a value into one line (`flow`); YAML and TOML add a layout for people.

#[cfg(feature = "yaml")]
pub(crate) mod block;
pub(crate) mod flow;
#[cfg(feature = "toml")]
mod sections;
pub(crate) mod style;

#[cfg(feature = "yaml")]
pub(crate) use self::block::yaml;
#[cfg(feature = "toml")]
pub(crate) use self::sections::toml;
#[cfg(feature = "json")]
use crate::document::Document;
#[cfg(feature = "json")]
use crate::error::WriteError;

/// Writes JSON in one line.
#[cfg(feature = "json")]
pub(crate) fn json(document: &Document) -> Result<String, WriteError> {
    let mut out = String::new();
    flow::write(document, document.root(), &style::Json, &mut out)?;
    out.push('\n');
    Ok(out)
}
