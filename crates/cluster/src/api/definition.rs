//! CustomResourceDefinitions: what they must look like and which resources they make.

mod check;
pub(crate) mod lifecycle;

use jiff::Timestamp;
use serde_json::{Value, json};

use super::call::rfc3339;
use super::columns::Column;
use super::resource::{Origin, Resource, Scale};
use super::rules::Rules;
use super::selectable;
use crate::deletion::{has_finalizer, is_deleting};
use crate::schema::Schema;
use crate::store::{Collection, Stored};

pub(crate) use self::check::{check, check_update};

/// The finalizer of a definition whose objects have to go first.
pub(crate) const CLEANUP_FINALIZER: &str = "customresourcecleanup.apiextensions.k8s.io";

/// Returns the resources that a definition serves: one for each served version, and none before
/// its names are accepted.
pub(crate) fn resources(stored: &Stored) -> Vec<Resource> {
    let object = stored.object();
    if !has_condition(object, "NamesAccepted") {
        return Vec::new();
    }
    let served = versions(object).filter(|version| version["served"] == true);
    served
        .filter_map(|version| resource(stored, version))
        .collect()
}

fn resource(stored: &Stored, version: &Value) -> Option<Resource> {
    let spec = &stored.object()["spec"];
    let names = &stored.object()["status"]["acceptedNames"];
    let group = text(&spec["group"]);
    let plural = text(&names["plural"]);
    let schema = &version["schema"]["openAPIV3Schema"];
    let schema = Schema::compile(schema, "")
        .inspect_err(|errors| tracing::error!(definition = %stored.key, ?errors, "not served"))
        .ok()?;
    let declared = version["additionalPrinterColumns"].as_array();
    let fields = version["selectableFields"].as_array().into_iter().flatten();
    Some(Resource {
        version: text(&version["name"]),
        kind: text(&names["kind"]),
        list_kind: text(&names["listKind"]),
        singular: text(&names["singular"]),
        short_names: texts(&names["shortNames"]),
        categories: texts(&names["categories"]),
        namespaced: spec["scope"] == "Namespaced",
        collection: Collection::new(&group, &plural),
        schema,
        has_status: version["subresources"]["status"].is_object(),
        has_generation: true,
        scale: scale(&version["subresources"]["scale"]),
        columns: Column::of_definition(declared.map(Vec::as_slice).unwrap_or_default()),
        selectable: fields
            .filter_map(|field| selectable::selectable(field["jsonPath"].as_str()?))
            .collect(),
        rules: Rules::CUSTOM,
        origin: Origin::Custom {
            revision: stored.revision,
            terminating: is_deleting(stored.object()),
        },
        group,
        plural,
    })
}

fn scale(scale: &Value) -> Option<Scale> {
    let path = |key: &str| -> Option<Vec<String>> {
        let path = scale[key].as_str()?.trim_start_matches('.');
        Some(path.split('.').map(str::to_owned).collect())
    };
    Some(Scale {
        spec_replicas: path("specReplicasPath")?,
        status_replicas: path("statusReplicasPath")?,
        selector: path("labelSelectorPath"),
    })
}

/// Fills in what a definition may leave out.
pub(crate) fn complete(object: &mut Value) {
    let Some(names) = object["spec"]["names"].as_object_mut() else {
        return;
    };
    let kind = names.get("kind").map(text).unwrap_or_default();
    if names.get("singular").is_none_or(|it| text(it).is_empty()) {
        names.insert("singular".to_owned(), kind.to_lowercase().into());
    }
    if names.get("listKind").is_none_or(|it| text(it).is_empty()) && !kind.is_empty() {
        names.insert("listKind".to_owned(), format!("{kind}List").into());
    }
    if object["spec"]["conversion"].is_null() {
        object["spec"]["conversion"] = json!({"strategy": "None"});
    }
}

/// Gives a new definition the status it starts with.
pub(crate) fn start_status(object: &mut Value) {
    let stored = storage_version(object);
    object["status"] = json!({
        "conditions": [],
        "acceptedNames": {"plural": "", "kind": ""},
        "storedVersions": [stored],
    });
}

/// Returns a definition that is to be deleted after its objects.
pub(crate) fn hold_for_cleanup(object: &Value, now: Timestamp) -> Value {
    let mut held = object.clone();
    if !is_deleting(object) && !has_finalizer(object, CLEANUP_FINALIZER) {
        match held["metadata"]["finalizers"].as_array_mut() {
            Some(finalizers) => finalizers.push(CLEANUP_FINALIZER.into()),
            None => held["metadata"]["finalizers"] = json!([CLEANUP_FINALIZER]),
        }
    }
    if !is_deleting(object) {
        let message = "CustomResourceDefinition marked for deletion; CustomResource deletion will \
                       begin soon";
        let reason = "InstanceDeletionPending";
        set_condition(
            &mut held,
            condition("Terminating", true, reason, message, now),
        );
    }
    held
}

/// Adds the storage version of an updated definition to those that objects may be stored in.
pub(crate) fn note_storage_version(object: &mut Value) {
    let storage = Value::from(storage_version(object));
    if let Some(stored) = object["status"]["storedVersions"].as_array_mut()
        && !stored.contains(&storage)
    {
        stored.push(storage);
    }
}

fn storage_version(object: &Value) -> String {
    let storage = versions(object).find(|version| version["storage"] == true);
    storage
        .map(|version| text(&version["name"]))
        .unwrap_or_default()
}

/// Returns the versions that a definition declares.
fn versions(object: &Value) -> impl Iterator<Item = &Value> {
    object["spec"]["versions"].as_array().into_iter().flatten()
}

/// Returns whether a condition of `kind` holds.
pub(crate) fn has_condition(object: &Value, kind: &str) -> bool {
    let conditions = object["status"]["conditions"]
        .as_array()
        .into_iter()
        .flatten();
    conditions
        .into_iter()
        .any(|it| it["type"] == kind && it["status"] == "True")
}

/// Returns a condition that began now.
fn condition(kind: &str, holds: bool, reason: &str, message: &str, now: Timestamp) -> Value {
    json!({
        "type": kind,
        "status": if holds { "True" } else { "False" },
        "lastTransitionTime": rfc3339(now),
        "reason": reason,
        "message": message,
    })
}

/// Sets a condition; its time moves only when its status does.
fn set_condition(object: &mut Value, condition: Value) {
    if !object["status"]["conditions"].is_array() {
        object["status"]["conditions"] = json!([]);
    }
    let Some(conditions) = object["status"]["conditions"].as_array_mut() else {
        return;
    };
    match conditions
        .iter_mut()
        .find(|it| it["type"] == condition["type"])
    {
        Some(known) => {
            let mut condition = condition;
            if known["status"] == condition["status"] {
                condition["lastTransitionTime"] = known["lastTransitionTime"].clone();
            }
            *known = condition;
        }
        None => conditions.push(condition),
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn texts(value: &Value) -> Vec<String> {
    value.as_array().into_iter().flatten().map(text).collect()
}
