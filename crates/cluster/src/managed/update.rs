//! Ownership after a create, an update or a patch.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::compare::Comparison;
use super::record::{self, ManagerId, Managers, Operation, Owned};
use super::{Writer, blank, without_untracked};
use crate::schema::Schema;

/// The most updaters an object keeps apart; beyond that the oldest are lumped together.
const MAX_UPDATERS: usize = 10;
const ANCIENT_CHANGES: &str = "ancient-changes";

/// Returns `new` with managedFields recomputed for a create, update or patch.
///
/// Call it after defaulting. `old` is `None` for a create. What the writer changed is now its own,
/// what it removed is nobody's. A client that sends `managedFields: [{}]` erases all records, and
/// none are kept until the next apply; `[]` erases nothing, so that clients unaware of the field
/// cannot.
pub(crate) fn update(
    schema: &Schema,
    old: Option<&Value>,
    mut new: Value,
    writer: &Writer,
) -> Value {
    let managers = starting_managers(old, &new, writer);
    record::strip(&mut new);
    if managers.0.is_empty() && old.is_some() {
        return new;
    }
    let mut live = old.cloned().unwrap_or_else(|| blank(&new));
    record::strip(&mut live);
    let id = writer.id(Operation::Update);
    let mut managers = after_update(schema, &live, &new, managers, &id, writer);
    lump_ancient(&mut managers);
    managers.write_to(&mut new);
    new
}

/// Returns the records to start from: a client may rewrite them along with the object.
fn starting_managers(old: Option<&Value>, new: &Value, writer: &Writer) -> Managers {
    let stored = || old.and_then(Managers::of).unwrap_or_default();
    let sent = new.pointer("/metadata/managedFields");
    if writer.subresource.is_some() {
        return stored();
    }
    if sent == Some(&json!([{}])) {
        return Managers::default();
    }
    match Managers::of(new) {
        Some(managers) if !managers.0.is_empty() => managers,
        _ => stored(),
    }
}

/// Moves what changed from `live` to `new` to one manager.
pub(super) fn after_update(
    schema: &Schema,
    live: &Value,
    new: &Value,
    mut managers: Managers,
    id: &ManagerId,
    writer: &Writer,
) -> Managers {
    let comparison = Comparison::of(schema.root(), live, new).without(&writer.ignored_fields());
    let changed = comparison.changed();
    for owned in managers.0.values_mut() {
        owned.fields = owned
            .fields
            .difference(&changed)
            .difference(&comparison.removed);
    }
    managers.drop_idle();
    let own = without_untracked(&changed);
    if !own.is_empty() {
        let before = managers
            .0
            .remove(id)
            .map(|owned| owned.fields)
            .unwrap_or_default();
        let owned = Owned {
            fields: own.union(&before),
            api_version: writer.api_version.clone(),
            time: Some(writer.time),
        };
        managers.0.insert(id.clone(), owned);
    }
    managers
}

/// Lumps the oldest updaters of each version together while there are too many.
fn lump_ancient(managers: &mut Managers) {
    let mut updaters: Vec<ManagerId> = managers
        .0
        .keys()
        .filter(|id| id.operation == Operation::Update)
        .cloned()
        .collect();
    let mut excess = updaters.len().saturating_sub(MAX_UPDATERS);
    updaters.sort_by_key(|id| managers.0[id].time.map_or(0, |time| time.as_second()));
    let mut first_of_version: BTreeMap<String, ManagerId> = BTreeMap::new();
    for id in updaters {
        if excess == 0 {
            return;
        }
        let version = managers.0[&id].api_version.clone();
        let Some(first) = first_of_version.get(&version) else {
            first_of_version.insert(version, id);
            continue;
        };
        let bucket = ManagerId {
            manager: ANCIENT_CHANGES.to_owned(),
            operation: Operation::Update,
            api_version: version,
            subresource: String::new(),
        };
        let lumped = managers
            .0
            .remove(&bucket)
            .or_else(|| managers.0.remove(first));
        if let (Some(lumped), Some(owned)) = (lumped, managers.0.remove(&id)) {
            let fields = owned.fields.union(&lumped.fields);
            managers.0.insert(bucket, Owned { fields, ..owned });
        }
        excess -= 1;
    }
}
