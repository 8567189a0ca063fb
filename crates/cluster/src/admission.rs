//! Admission: the hook that may refuse a write, or comment on it, before it is stored.
//!
//! The cluster knows no kinds but Kubernetes' own. Rules of others come in here and are asked where a
//! real server asks its validating webhooks: after the schema, before the store, also in dry runs, and
//! for objects themselves rather than their subresources.

use std::fmt;

use serde_json::Value;

/// Asked before every write of an object.
pub trait Admission: fmt::Debug + Send + Sync {
    /// Returns the name by which a refusal is signed, as a webhook has one.
    fn name(&self) -> &str;

    /// Decides about one write. It is called on every write of every kind, so it must be quick.
    fn review(&self, review: &Review<'_>) -> Verdict;
}

/// A write that is about to be stored.
#[derive(Debug, Clone, Copy)]
pub struct Review<'a> {
    /// The API group, empty for the core group.
    pub group: &'a str,
    /// The kind.
    pub kind: &'a str,
    /// The object as it would be stored.
    pub object: &'a Value,
    /// The object that is there; `None` for a new one.
    pub old: Option<&'a Value>,
}

/// The answer of an admission hook to a write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// It is stored; the client is shown these warnings.
    Allowed(Vec<String>),
    /// It is refused with this message.
    Denied(String),
}

impl Verdict {
    /// Returns the verdict of who has nothing to say.
    pub fn silent() -> Self {
        Self::Allowed(Vec::new())
    }
}
