//! Admission of the built-in kinds that do something to their objects beyond their schemas.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::super::definition;
use super::super::registry::DEFINITIONS_GROUP;
use super::super::resource::Resource;
use super::set_or_remove;
use crate::names;
use crate::schema::FieldError;

/// The finalizers that need no domain before their name.
const STANDARD_FINALIZERS: [&str; 4] = [
    "kubernetes",
    "orphan",
    "foregroundDeletion",
    definition::CLEANUP_FINALIZER,
];

/// The most bytes that the values of one ConfigMap or Secret may add up to.
const MAX_DATA_BYTES: usize = 1 << 20;

/// Completes a new object.
pub(super) fn on_create(resource: &Resource, object: &mut Value) {
    match kind_of(resource) {
        Kind::Namespace => {
            object["spec"] = json!({"finalizers": ["kubernetes"]});
            object["status"] = json!({"phase": "Active"});
            label_namespace(object);
        }
        Kind::Secret => complete_secret(object),
        Kind::Replicated => default_to(object, "replicas", 1.into()),
        Kind::Service => complete_service(object),
        Kind::Pod => object["status"] = json!({"phase": "Pending", "qosClass": "BestEffort"}),
        Kind::Definition => {
            definition::complete(object);
            definition::start_status(object);
        }
        Kind::ConfigMap | Kind::Lease | Kind::Plain => {}
    }
}

/// Completes an updated object.
pub(super) fn on_update(resource: &Resource, object: &mut Value) {
    match kind_of(resource) {
        Kind::Namespace => label_namespace(object),
        Kind::Secret => complete_secret(object),
        Kind::Replicated => default_to(object, "replicas", 1.into()),
        Kind::Service => complete_service(object),
        Kind::Definition => {
            definition::complete(object);
            definition::note_storage_version(object);
        }
        Kind::ConfigMap | Kind::Lease | Kind::Pod | Kind::Plain => {}
    }
}

/// Returns whether [`check`] tells of missing fields, so that the schema need not.
pub(super) fn checks_required_fields(resource: &Resource) -> bool {
    matches!(kind_of(resource), Kind::Definition)
}

/// Returns what the kind forbids.
pub(super) fn check(resource: &Resource, old: Option<&Value>, object: &Value) -> Vec<FieldError> {
    let mut errors = check_kind(resource, old, object);
    if !resource.is_custom() {
        errors.extend(check_finalizers(&object["metadata"]["finalizers"]));
    }
    errors
}

/// Built-in kinds want to know whose finalizers they have.
fn check_finalizers(finalizers: &Value) -> Vec<FieldError> {
    let finalizers = finalizers.as_array().into_iter().flatten().enumerate();
    let strange = finalizers.filter(|(_, finalizer)| {
        finalizer
            .as_str()
            .is_some_and(|it| !it.contains('/') && !STANDARD_FINALIZERS.contains(&it))
    });
    let errors = strange.map(|(index, finalizer)| {
        let detail = "name is neither a standard finalizer name nor is it fully qualified";
        FieldError::invalid(format!("metadata.finalizers[{index}]"), finalizer, detail)
    });
    errors.collect()
}

fn check_kind(resource: &Resource, old: Option<&Value>, object: &Value) -> Vec<FieldError> {
    match kind_of(resource) {
        Kind::ConfigMap => {
            let mut errors = check_data(object, old, &["data", "binaryData"]);
            errors.extend(check_twins(object));
            // The error is about the object as a whole, which Kubernetes writes like this.
            errors.extend(check_data_size(object, old, "[]"));
            errors
        }
        Kind::Lease => check_lease(object),
        Kind::Secret => {
            let mut errors = check_data(object, old, &["data"]);
            errors.extend(check_data_size(object, old, "data"));
            errors.extend(old.and_then(|old| changed(old, object, "type")));
            errors
        }
        Kind::Definition => {
            let mut errors = definition::check(object);
            errors.extend(
                old.into_iter()
                    .flat_map(|old| definition::check_update(old, object)),
            );
            errors
        }
        Kind::Namespace | Kind::Pod | Kind::Replicated | Kind::Service | Kind::Plain => Vec::new(),
    }
}

enum Kind {
    Namespace,
    ConfigMap,
    Secret,
    Lease,
    Pod,
    Replicated,
    Service,
    Definition,
    Plain,
}

fn kind_of(resource: &Resource) -> Kind {
    if resource.is_custom() {
        return Kind::Plain;
    }
    match (resource.group.as_str(), resource.kind.as_str()) {
        ("", "Namespace") => Kind::Namespace,
        ("", "ConfigMap") => Kind::ConfigMap,
        ("", "Secret") => Kind::Secret,
        ("", "Pod") => Kind::Pod,
        ("", "Service") => Kind::Service,
        ("apps", "Deployment" | "ReplicaSet" | "StatefulSet") => Kind::Replicated,
        ("coordination.k8s.io", "Lease") => Kind::Lease,
        (DEFINITIONS_GROUP, "CustomResourceDefinition") => Kind::Definition,
        _ => Kind::Plain,
    }
}

/// Fills in a field of the spec that people leave out and tables show.
fn default_to(object: &mut Value, field: &str, value: Value) {
    if object["spec"].is_object() && object["spec"][field].is_null() {
        object["spec"][field] = value;
    }
}

/// Gives a service its type, and the one address it may state to both fields that hold it.
fn complete_service(object: &mut Value) {
    default_to(object, "type", "ClusterIP".into());
    let address = object["spec"]["clusterIP"].clone();
    if address.is_string() {
        default_to(object, "clusterIPs", json!([address]));
    }
}

fn label_namespace(object: &mut Value) {
    let name = object["metadata"]["name"].clone();
    if !object["metadata"]["labels"].is_object() {
        object["metadata"]["labels"] = json!({});
    }
    object["metadata"]["labels"]["kubernetes.io/metadata.name"] = name;
}

/// Folds `stringData`, which is write-only, into `data`.
fn complete_secret(object: &mut Value) {
    let plain = object["stringData"].take();
    set_or_remove(object, "stringData", Value::Null);
    if let Value::Object(plain) = plain {
        if !object["data"].is_object() {
            object["data"] = json!({});
        }
        for (key, value) in plain {
            object["data"][key] = STANDARD.encode(value.as_str().unwrap_or_default()).into();
        }
    }
    if object["type"].as_str().is_none_or(str::is_empty) {
        object["type"] = "Opaque".into();
    }
}

/// Checks the keys of a ConfigMap or Secret, and that an immutable one stays as it is.
fn check_data(object: &Value, old: Option<&Value>, fields: &[&str]) -> Vec<FieldError> {
    let mut errors = Vec::new();
    for field in fields {
        for key in object[field]
            .as_object()
            .into_iter()
            .flat_map(|map| map.keys())
        {
            for problem in names::config_key(key) {
                let path = format!("{field}[{key}]");
                errors.push(FieldError::invalid(path, &key.as_str().into(), &problem));
            }
        }
    }
    if let Some(old) = old.filter(|old| old["immutable"] == true) {
        let frozen = fields.iter().copied().chain(["immutable"]);
        let touched = frozen.filter(|field| old[field] != object[field]);
        errors.extend(touched.map(|field| {
            FieldError::forbidden(field, "field is immutable when `immutable` is set")
        }));
    }
    errors
}

/// Limits what all values of a ConfigMap or Secret add up to. One that has more from before there was
/// a limit must not grow.
fn check_data_size(object: &Value, old: Option<&Value>, path: &str) -> Option<FieldError> {
    let size = data_size(object);
    let most = old.map_or(0, data_size).max(MAX_DATA_BYTES);
    (size > most).then(|| FieldError::too_long(path, MAX_DATA_BYTES as u64))
}

fn data_size(object: &Value) -> usize {
    let is_secret = object["kind"] == "Secret";
    let size = |field: &str, encoded: bool| -> usize {
        let values = object[field].as_object().into_iter().flatten();
        let lengths = values.map(|(_, value)| {
            let text = value.as_str().unwrap_or_default();
            if encoded {
                decoded_len(text)
            } else {
                text.len()
            }
        });
        lengths.sum()
    };
    size("data", is_secret) + size("binaryData", true)
}

/// Returns how many bytes a base64 text stands for.
fn decoded_len(text: &str) -> usize {
    text.trim_end_matches('=').len() * 3 / 4
}

/// A key has one value, be it text or bytes.
fn check_twins(object: &Value) -> Vec<FieldError> {
    let keys = object["data"]
        .as_object()
        .into_iter()
        .flat_map(|map| map.keys());
    let twins = keys.filter(|key| object["binaryData"].get(key.as_str()).is_some());
    let errors = twins.map(|key| {
        let detail = "duplicate of key present in binaryData";
        FieldError::invalid(format!("data[{key}]"), &key.as_str().into(), detail)
    });
    errors.collect()
}

fn check_lease(object: &Value) -> Vec<FieldError> {
    let spec = &object["spec"];
    let at_least = |field: &str, least: i64, detail: &str| {
        let value = &spec[field];
        let low = value.as_i64().is_some_and(|value| value < least);
        low.then(|| FieldError::invalid(format!("spec.{field}"), value, detail))
    };
    let duration = at_least("leaseDurationSeconds", 1, "must be greater than 0");
    let transitions = at_least("leaseTransitions", 0, "must be greater than or equal to 0");
    duration.into_iter().chain(transitions).collect()
}

fn changed(old: &Value, object: &Value, field: &str) -> Option<FieldError> {
    let differs = old[field] != object[field];
    differs.then(|| FieldError::invalid(field, &object[field], "field is immutable"))
}
