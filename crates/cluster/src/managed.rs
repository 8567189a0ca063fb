//! Server-side apply and the upkeep of `metadata.managedFields`.
//!
//! [`apply`] merges what an applier declares into the live object, [`update`] records who changed
//! what for every other write. Both follow the rules of Kubernetes' structured-merge-diff: a field
//! belongs to every manager that set it to the value it has.

use jiff::Timestamp;
use serde_json::Value;

use crate::fields::Path;
use crate::schema::Schema;

/// Who writes an object, and through which door.
#[derive(Debug, Clone)]
pub(crate) struct Writer {
    /// The `fieldManager` of the request, or what the API derives from its user agent.
    pub(crate) manager: String,
    /// The subresource written through, such as `status`.
    pub(crate) subresource: Option<String>,
    /// The group and version of the request, such as `apps/v1`.
    pub(crate) api_version: String,
    /// When the write happens; kept to the second.
    pub(crate) time: Timestamp,
    /// Whether the kind has a status subresource, so that this writer cannot own `status` through
    /// the object itself, nor anything else through the subresource.
    pub(crate) has_status: bool,
}

/// One field that another manager owns with another value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Conflict {
    /// The manager, as shown in messages: `"kubectl" using apps/v1`.
    pub(crate) manager: String,
    /// The field, such as `.spec.replicas`.
    pub(crate) path: Path,
}

/// Why an apply was refused.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ApplyError {
    /// Other managers own fields with other values; force would take them (409).
    #[error("{}", conflict_message(.0))]
    Conflicts(Vec<Conflict>),
    /// The applied object does not fit the schema (500 on the real server).
    #[error("failed to create typed patch object ({object}): {reason}")]
    Typed { object: String, reason: String },
    /// The applied object carries `metadata.managedFields` (400).
    #[error("metadata.managedFields must be nil")]
    ManagedFieldsSet,
}

fn conflict_message(_conflicts: &[Conflict]) -> String {
    String::new()
}

/// Merges `applied` into `live` for an applier and returns the object with its new managedFields.
///
/// `live` is `None` when the apply creates the object. Call it before defaulting; the result is
/// equal to `live`, managedFields included, when the apply changes nothing.
pub(crate) fn apply(
    _schema: &Schema,
    _live: Option<&Value>,
    _applied: &Value,
    _writer: &Writer,
    _force: bool,
) -> Result<Value, ApplyError> {
    unimplemented!()
}

/// Returns `new` with managedFields recomputed for a create, update or patch.
///
/// Call it after defaulting. `old` is `None` for a create. A client that sends `managedFields: []`
/// or `[{}]` gives up all records.
pub(crate) fn update(_schema: &Schema, _old: Option<&Value>, _new: Value, _writer: &Writer) -> Value {
    unimplemented!()
}

/// Puts the old managedFields back when `new` differs from `old` in their timestamps alone.
///
/// Call it last, after defaulting, so that a write that changes nothing keeps its
/// resourceVersion.
pub(crate) fn keep_times_of_idle_write(_old: &Value, _new: &mut Value) {
    unimplemented!()
}
