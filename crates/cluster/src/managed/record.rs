//! `metadata.managedFields`: who owns what, as objects carry it.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde_json::{Map, Value, json};

use crate::fields::FieldSet;

/// The way in which a manager writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Operation {
    /// Server-side apply.
    Apply,
    /// Everything else.
    Update,
}

impl Operation {
    fn name(self) -> &'static str {
        match self {
            Self::Apply => "Apply",
            Self::Update => "Update",
        }
    }
}

/// The identity of an entry among the others. An applier is one manager whatever version it
/// applies.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ManagerId {
    pub(super) manager: String,
    pub(super) operation: Operation,
    /// The version that an updater wrote in; empty for appliers.
    pub(super) api_version: String,
    pub(super) subresource: String,
}

impl ManagerId {
    /// Prints the manager as conflict messages do: `"kubectl" using apps/v1`.
    pub(super) fn shown(&self) -> String {
        let mut text = format!("{:?}", self.manager);
        if !self.subresource.is_empty() {
            text.push_str(&format!(" with subresource {:?}", self.subresource));
        }
        if self.operation == Operation::Update {
            text.push_str(&format!(" using {}", self.api_version));
        }
        text
    }
}

/// The fields that one manager owns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Owned {
    pub(super) fields: FieldSet,
    pub(super) api_version: String,
    pub(super) time: Option<Timestamp>,
}

/// All managers of an object.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Managers(pub(super) BTreeMap<ManagerId, Owned>);

impl Managers {
    /// Reads an object's entries; `None` if one of them is malformed.
    pub(super) fn of(object: &Value) -> Option<Self> {
        let entries = object
            .pointer("/metadata/managedFields")
            .and_then(Value::as_array);
        entries
            .into_iter()
            .flatten()
            .map(read_entry)
            .collect::<Option<_>>()
            .map(Self)
    }

    /// Writes the entries into an object, in the API server's order.
    pub(super) fn write_to(&self, object: &mut Value) {
        strip(object);
        if self.0.is_empty() {
            return;
        }
        let mut entries: Vec<(&ManagerId, &Owned)> = self.0.iter().collect();
        entries.sort_by_key(|(id, owned)| {
            let time = owned.time.map_or(0, |time| time.as_second());
            (
                id.operation,
                time,
                &id.manager,
                &owned.api_version,
                &id.subresource,
            )
        });
        let entries: Vec<Value> = entries
            .into_iter()
            .map(|(id, owned)| write_entry(id, owned))
            .collect();
        if let Some(metadata) = metadata_mut(object) {
            metadata.insert("managedFields".to_owned(), Value::Array(entries));
        }
    }

    /// Returns every field that somebody owns.
    pub(super) fn all_fields(&self) -> FieldSet {
        self.0
            .values()
            .fold(FieldSet::default(), |all, owned| all.union(&owned.fields))
    }

    /// Drops the managers that own nothing any more.
    pub(super) fn drop_idle(&mut self) {
        self.0.retain(|_, owned| !owned.fields.is_empty());
    }
}

/// Takes the entries out of an object.
pub(super) fn strip(object: &mut Value) {
    if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.remove("managedFields");
    }
}

fn metadata_mut(object: &mut Value) -> Option<&mut Map<String, Value>> {
    let fields = object.as_object_mut()?;
    fields
        .entry("metadata")
        .or_insert_with(|| json!({}))
        .as_object_mut()
}

fn read_entry(entry: &Value) -> Option<(ManagerId, Owned)> {
    let text = |name: &str| {
        entry
            .get(name)
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned()
    };
    let operation = match text("operation").as_str() {
        "Apply" => Operation::Apply,
        "Update" => Operation::Update,
        _ => return None,
    };
    let api_version = text("apiVersion");
    if api_version.is_empty() || text("fieldsType") != "FieldsV1" {
        return None;
    }
    let fields = match entry.get("fieldsV1") {
        Some(fields) => FieldSet::from_fields_v1(fields).ok()?,
        None => FieldSet::default(),
    };
    let id_version = match operation {
        Operation::Apply => String::new(),
        Operation::Update => api_version.clone(),
    };
    let id = ManagerId {
        manager: text("manager"),
        operation,
        api_version: id_version,
        subresource: text("subresource"),
    };
    let time = text("time").parse().ok();
    Some((
        id,
        Owned {
            fields,
            api_version,
            time,
        },
    ))
}

fn write_entry(id: &ManagerId, owned: &Owned) -> Value {
    let mut entry = json!({
        "apiVersion": owned.api_version,
        "fieldsType": "FieldsV1",
        "fieldsV1": owned.fields.to_fields_v1(),
        "manager": id.manager,
        "operation": id.operation.name(),
    });
    if !id.subresource.is_empty() {
        entry["subresource"] = Value::from(id.subresource.as_str());
    }
    if let Some(time) = owned.time {
        entry["time"] = Value::from(time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string());
    }
    entry
}
