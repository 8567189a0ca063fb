//! Label and field selectors of list and watch requests.

mod field;
mod label;

pub(crate) use field::FieldSelector;
pub(crate) use label::LabelSelector;

/// The reason for which a selector could not be read, worded as Kubernetes words it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub(crate) struct ParseError(pub(crate) String);
