//! Documents in YAML, JSON and TOML: what a text says, and where.
//!
//! [`Format`] reads YAML streams, JSON and TOML into one kind of [`Document`]: every value with its
//! type and with the bytes it is written in, aliases and merge keys resolved, all within [`Limits`].
//!
//! ```
//! use pathline_document::{Format, Path};
//!
//! let text = "image: app\nports: [80, 443] # public\n";
//! let document = &Format::Yaml.read(text)?[0];
//! let port = document.find(&Path::default().key("ports").index(1)).expect("it is there");
//! assert_eq!(&text[port.span.clone()], "443");
//! # Ok::<(), pathline_document::ReadError>(())
//! ```
//!
//! [`Format::edit`] sets and removes values and leaves every other byte alone.
//!
//! ```
//! use pathline_document::{Document, Format, Path, Scalar};
//!
//! let text = "[image]\ntag = '1.0' # pinned\n";
//! let tag = Path::default().key("image").key("tag");
//! let edits = [(tag, Some(Document::scalar(Scalar::Text, "1.1")))];
//! assert_eq!(Format::Toml.edit(text, &edits)?.text, "[image]\ntag = '1.1' # pinned\n");
//! # Ok::<(), pathline_document::Refused>(())
//! ```
//!
//! No I/O, and no recursion on what is read.
//!
//! # Features
//!
//! `yaml`, `json` and `toml` each add a format; `serde_json` adds conversions from and to
//! `serde_json::Value`. None is on by default.

mod document;
#[cfg(any(feature = "json", feature = "yaml"))]
mod duplicates;
#[cfg(any(feature = "json", feature = "toml", feature = "yaml"))]
mod edit;
mod error;
#[cfg(any(feature = "json", feature = "toml", feature = "yaml"))]
mod format;
#[cfg(any(feature = "json", feature = "toml", feature = "yaml"))]
mod gap;
#[cfg(feature = "json")]
mod json;
#[cfg(feature = "serde_json")]
mod json_value;
mod limits;
mod lines;
mod path;
#[cfg(any(feature = "json", feature = "toml", feature = "yaml"))]
mod read;
mod scalar;
#[cfg(feature = "toml")]
mod toml;
#[cfg(any(feature = "json", feature = "toml", feature = "yaml"))]
mod write;
#[cfg(feature = "yaml")]
mod yaml;

pub use self::document::{Child, Data, Document, Member, Node, NodeId, Origin};
#[cfg(any(feature = "json", feature = "toml", feature = "yaml"))]
pub use self::edit::{Edited, Reason, Refused, Touched};
pub use self::error::{ReadError, ReadErrorKind, WriteError};
#[cfg(any(feature = "json", feature = "toml", feature = "yaml"))]
pub use self::format::Format;
pub use self::limits::Limits;
pub use self::lines::{Lines, Position};
pub use self::path::{Path, Segment};
pub use self::scalar::Scalar;

/// The examples of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
