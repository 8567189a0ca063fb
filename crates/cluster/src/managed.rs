//! Server-side apply and the upkeep of `metadata.managedFields`.
//!
//! [`apply`] merges what an applier declares into the live object, [`update`] records who changed
//! what for every other write. Both follow the rules of Kubernetes' structured-merge-diff: a field
//! belongs to every manager that set it to the value it has.

mod apply;
mod check;
mod compare;
mod conflict;
mod last_applied;
mod merge;
mod record;
mod sets;
mod update;

use jiff::Timestamp;
use serde_json::{Map, Value};

pub(crate) use apply::{ApplyError, apply};
pub(crate) use update::update;

use crate::fields::{FieldSet, Path};
use record::{ManagerId, Operation};

/// The author of a write, and the endpoint that it comes through.
#[derive(Debug, Clone)]
pub(crate) struct Writer {
    /// The `fieldManager` of the request, or what the API derives from its user agent.
    pub(crate) manager: String,
    /// The subresource written through, such as `status`.
    pub(crate) subresource: Option<String>,
    /// The group and version of the request, such as `apps/v1`.
    pub(crate) api_version: String,
    /// The time of the write; kept to the second.
    pub(crate) time: Timestamp,
    /// Whether the kind has a status subresource, so that this writer cannot own `status` through
    /// the object itself, nor anything else through the subresource.
    pub(crate) has_status: bool,
}

impl Writer {
    fn id(&self, operation: Operation) -> ManagerId {
        let manager = if self.manager.is_empty() {
            "unknown"
        } else {
            &self.manager
        };
        ManagerId {
            manager: manager.to_owned(),
            operation,
            api_version: match operation {
                Operation::Apply => String::new(),
                Operation::Update => self.api_version.clone(),
            },
            subresource: self.subresource.clone().unwrap_or_default(),
        }
    }

    /// Returns the fields that writes through this endpoint do not touch, whatever they carry.
    fn ignored_fields(&self) -> FieldSet {
        let names: &[&str] = match self.subresource.as_deref() {
            Some("status") => &["metadata", "spec"],
            None if self.has_status => &["status"],
            _ => &[],
        };
        names.iter().map(|name| Path::of_fields(&[name])).collect()
    }
}

/// Puts the old managedFields back when `new` differs from `old` in their timestamps alone.
///
/// Call it last, after defaulting, so that a write that changes nothing keeps its
/// resourceVersion.
pub(crate) fn keep_times_of_idle_write(old: &Value, new: &mut Value) {
    let is_idle = without_times(old) == without_times(new);
    if is_idle {
        match old.pointer("/metadata/managedFields") {
            Some(entries) => new["metadata"]["managedFields"] = entries.clone(),
            None => record::strip(new),
        }
    }
}

/// Returns an object without what every write changes.
fn without_times(object: &Value) -> Value {
    let mut object = object.clone();
    if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.remove("resourceVersion");
        let entries = metadata
            .get_mut("managedFields")
            .and_then(Value::as_array_mut);
        for entry in entries
            .into_iter()
            .flatten()
            .filter_map(Value::as_object_mut)
        {
            entry.remove("time");
        }
    }
    object
}

/// Takes what no manager owns out of a writer's set: what identifies an object, and what only the
/// server writes.
fn without_untracked(fields: &FieldSet) -> FieldSet {
    const IN_METADATA: &[&str] = &[
        "name",
        "namespace",
        "creationTimestamp",
        "selfLink",
        "uid",
        "clusterName",
        "generation",
        "managedFields",
        "resourceVersion",
    ];
    let roots = ["apiVersion", "kind", "metadata"].map(|name| Path::of_fields(&[name]));
    let below = IN_METADATA
        .iter()
        .map(|name| Path::of_fields(&["metadata", name]));
    let untracked: FieldSet = roots.into_iter().chain(below).collect();
    fields.difference(&untracked)
}

/// Returns an object that says no more than what it is.
fn blank(object: &Value) -> Value {
    let kept = ["apiVersion", "kind"].into_iter();
    let fields: Map<String, Value> = kept
        .filter_map(|name| Some((name.to_owned(), object.get(name)?.clone())))
        .collect();
    Value::Object(fields)
}

#[cfg(test)]
mod tests;
