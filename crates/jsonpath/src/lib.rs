//! The JSONPath dialect of Kubernetes' client-go, the one that `kubectl -o jsonpath` and the printer
//! columns of a CustomResourceDefinition are written in.
//!
//! [`JsonPath`] is one path, with or without braces and leading dot; [`one`] evaluates a path that is
//! used only once. [`Template`] is a text with paths in braces, `{range}` and `{end}`.
//!
//! ```
//! use pathline_jsonpath::JsonPath;
//! use serde_json::json;
//!
//! let object = json!({"status": {"conditions": [{"type": "Ready", "status": "True"}]}});
//! let path: JsonPath = "status.conditions[?(@.type=='Ready')].status".parse()?;
//! assert_eq!(path.one(&object)?.as_deref(), Some(&json!("True")));
//! # Ok::<(), pathline_jsonpath::Error>(())
//! ```
//!
//! The dialect differs from RFC 9535 in many small ways: `['a.b']` is two steps (`['a\.b']` is one), an
//! index beyond the end is an error while an absent key is not, and an integer does not compare with a
//! float. Keys that are absent yield no result (client-go's `AllowMissingKeys`); a key that holds `null`
//! yields `null`. Errors have the messages of client-go.
//!
//! [`JsonPath::places`] tells, without any object, where a path looks, as [`FieldPath`]s.

mod compare;
mod eval;
mod field_path;
pub mod go;
mod parse;
mod path;
mod places;
mod simple_step;
mod template;
#[cfg(test)]
mod tests;

pub use eval::EvalError;
pub use field_path::{FieldPath, Segment};
pub use parse::ParseError;
pub use path::{Error, JsonPath, one};
pub use simple_step::SimpleStep;
pub use template::Template;

/// The examples of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
