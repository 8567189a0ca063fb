//! Writing documents.
//!
//! All formats can put a value into one line (`flow`); YAML and TOML add a layout for people.

#[cfg(feature = "yaml")]
mod block;
mod flow;
#[cfg(feature = "toml")]
mod sections;
mod style;

#[cfg(feature = "yaml")]
pub(super) use self::block::yaml;
#[cfg(feature = "toml")]
pub(super) use self::sections::toml;
#[cfg(feature = "json")]
use super::error::WriteError;
#[cfg(feature = "json")]
use super::tree::Tree;

/// Writes JSON in one line.
#[cfg(feature = "json")]
pub(super) fn json(tree: &Tree) -> Result<String, WriteError> {
    let mut out = String::new();
    flow::write(tree, tree.root, &style::Json, &mut out)?;
    out.push('\n');
    Ok(out)
}
