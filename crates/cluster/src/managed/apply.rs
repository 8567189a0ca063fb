//! Server-side apply.

use serde_json::Value;

use super::compare::Comparison;
use super::conflict::{self, Conflict};
use super::record::{self, ManagerId, Managers, Operation, Owned};
use super::sets::{field_set, remove, with_declared_fields};
use super::update::after_update;
use super::{Writer, blank, check, last_applied, merge, without_untracked};
use crate::fields::{FieldSet, same_value};
use crate::schema::Schema;

/// The manager on record for what was there before the first apply.
const BEFORE_FIRST_APPLY: &str = "before-first-apply";

/// The reason for which an apply was refused.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ApplyError {
    /// Other managers own fields with other values; force would take them (409).
    #[error("{}", conflict::message(.0))]
    Conflicts(Vec<Conflict>),
    /// The applied object does not fit the schema, so that it cannot be merged (500).
    #[error("failed to create typed patch object ({object}): {}", typed_message(.problems))]
    Typed {
        /// The object, as `NAMESPACE/NAME; GROUP/VERSION, Kind=KIND`.
        object: String,
        /// The problems, each with its path.
        problems: Vec<String>,
    },
    /// The applied object carries `metadata.managedFields` (400).
    #[error("metadata.managedFields must be nil")]
    ManagedFieldsSet,
}

fn typed_message(problems: &[String]) -> String {
    match problems {
        [problem] => problem.clone(),
        _ => format!("errors:\n  {}", problems.join("\n  ")),
    }
}

/// Merges `applied` into `live` for an applier and returns the object with its new managedFields.
///
/// `live` is `None` when the apply creates the object. Call it before defaulting. What the applier
/// no longer declares goes, unless someone else owns it. The result equals `live`, managedFields
/// included, when the apply changes nothing.
pub(crate) fn apply(
    schema: &Schema,
    live: Option<&Value>,
    applied: &Value,
    writer: &Writer,
    force: bool,
) -> Result<Value, ApplyError> {
    refuse_unfit(schema, applied)?;
    let (live, managers) = starting_point(schema, live, applied, writer);
    let attempt = |force| {
        Attempt {
            schema,
            live: &live,
            applied,
            writer,
        }
        .run(&managers, force)
    };
    let (mut object, managers) = match attempt(force) {
        Err(conflicts) => {
            let remaining = last_applied::unexplained(schema, &live, writer, conflicts);
            if !remaining.is_empty() {
                return Err(ApplyError::Conflicts(remaining));
            }
            attempt(true).map_err(ApplyError::Conflicts)?
        }
        Ok(done) => done,
    };
    last_applied::refresh(&mut object, applied, writer);
    managers.write_to(&mut object);
    Ok(object)
}

fn refuse_unfit(schema: &Schema, applied: &Value) -> Result<(), ApplyError> {
    if applied
        .pointer("/metadata/managedFields")
        .is_some_and(|entries| !entries.is_null())
    {
        return Err(ApplyError::ManagedFieldsSet);
    }
    let problems = check::check(schema.root(), applied);
    if problems.is_empty() {
        return Ok(());
    }
    Err(ApplyError::Typed {
        object: identity(applied),
        problems,
    })
}

/// Prints which object is meant, as the API server does.
fn identity(object: &Value) -> String {
    let text = |pointer| {
        object
            .pointer(pointer)
            .and_then(Value::as_str)
            .unwrap_or_default()
    };
    let version = match text("/apiVersion") {
        core if !core.contains('/') => format!("/{core}"),
        version => version.to_owned(),
    };
    format!(
        "{}/{}; {version}, Kind={}",
        text("/metadata/namespace"),
        text("/metadata/name"),
        text("/kind")
    )
}

/// Returns the live object without its records, and the records.
///
/// If there are none, what is there belongs to a manager of its own, so that an apply cannot
/// take it unnoticed.
fn starting_point(
    schema: &Schema,
    live: Option<&Value>,
    applied: &Value,
    writer: &Writer,
) -> (Value, Managers) {
    let managers = live.and_then(Managers::of).unwrap_or_default();
    let mut live = live.cloned().unwrap_or_else(|| blank(applied));
    record::strip(&mut live);
    if !managers.0.is_empty() {
        return (live, managers);
    }
    let before = Writer {
        manager: BEFORE_FIRST_APPLY.to_owned(),
        ..writer.clone()
    };
    let id = before.id(Operation::Update);
    let managers = after_update(schema, &blank(&live), &live, managers, &id, &before);
    (live, managers)
}

struct Attempt<'a> {
    schema: &'a Schema,
    live: &'a Value,
    applied: &'a Value,
    writer: &'a Writer,
}

impl Attempt<'_> {
    fn run(&self, managers: &Managers, force: bool) -> Result<(Value, Managers), Vec<Conflict>> {
        let mut managers = managers.clone();
        let id = self.writer.id(Operation::Apply);
        let last = managers.0.remove(&id);
        let declared = field_set(self.schema.root(), self.applied);
        let declared = declared.without(&self.writer.ignored_fields());
        let owned = Owned {
            fields: declared,
            api_version: self.writer.api_version.clone(),
            time: last.as_ref().and_then(|last| last.time),
        };
        managers.0.insert(id.clone(), owned);

        let merged = merge::merge(self.schema.root(), self.live, self.applied);
        let object = self.without_given_up(merged, &managers, last.map(|last| last.fields));
        self.settle(&object, &mut managers, &id, force)?;
        self.finish(&mut managers, &id, !same_value(self.live, &object));
        Ok((object, managers))
    }

    /// Removes what the applier declared last time but not now, unless another manager owns it.
    fn without_given_up(
        &self,
        merged: Value,
        managers: &Managers,
        last: Option<FieldSet>,
    ) -> Value {
        let Some(last) = last.filter(|last| !last.is_empty()) else {
            return merged;
        };
        let root = self.schema.root();
        let declared = |set: &FieldSet| with_declared_fields(root, set);
        let fields_of = |value: &Value| declared(&field_set(root, value));
        let take = |fields: &FieldSet| remove(root, &merged, fields);
        let last = declared(&last);
        let all = fields_of(&merged);
        let pruned = take(&last);
        let wanted = fields_of(&pruned).union(&declared(&managers.all_fields()));
        let pruned = take(&all.difference(&wanted));
        // Only what was the applier's may go: a parent must not take along what was nobody's.
        take(&all.difference(&fields_of(&pruned)).intersection(&last))
    }

    /// Takes the fields that change from their other managers, or reports them.
    fn settle(
        &self,
        object: &Value,
        managers: &mut Managers,
        id: &ManagerId,
        force: bool,
    ) -> Result<(), Vec<Conflict>> {
        let comparison = Comparison::of(self.schema.root(), self.live, object)
            .without(&self.writer.ignored_fields());
        let changed = comparison.changed();
        let others = || managers.0.iter().filter(|(other, _)| *other != id);
        let conflicts: Vec<Conflict> = others()
            .flat_map(|(other, owned)| {
                let disputed = owned.fields.intersection(&changed).paths();
                disputed.into_iter().map(|path| Conflict {
                    manager: other.shown(),
                    path,
                })
            })
            .collect();
        if !force && !conflicts.is_empty() {
            return Err(conflicts);
        }
        for (other, owned) in &mut managers.0 {
            if other != id {
                owned.fields = owned
                    .fields
                    .difference(&changed)
                    .difference(&comparison.removed);
            }
        }
        Ok(())
    }

    fn finish(&self, managers: &mut Managers, id: &ManagerId, changed: bool) {
        if let Some(own) = managers.0.get_mut(id) {
            own.fields = without_untracked(&own.fields);
            if changed {
                own.time = Some(self.writer.time);
            }
        }
        managers.drop_idle();
    }
}
