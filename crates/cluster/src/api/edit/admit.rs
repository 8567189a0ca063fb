//! What single built-in kinds do to their objects beyond their schemas.

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
const STANDARD_FINALIZERS: [&str; 4] =
    ["kubernetes", "orphan", "foregroundDeletion", definition::CLEANUP_FINALIZER];

/// Completes a new object.
pub(super) fn on_create(resource: &Resource, object: &mut Value) {
    match kind_of(resource) {
        Kind::Namespace => {
            object["spec"] = json!({"finalizers": ["kubernetes"]});
            object["status"] = json!({"phase": "Active"});
            label_namespace(object);
        }
        Kind::Secret => complete_secret(object),
        Kind::Pod => object["status"] = json!({"phase": "Pending", "qosClass": "BestEffort"}),
        Kind::Definition => {
            definition::complete(object);
            definition::start_status(object);
        }
        Kind::ConfigMap | Kind::Plain => {}
    }
}

/// Completes an updated object.
pub(super) fn on_update(resource: &Resource, object: &mut Value) {
    match kind_of(resource) {
        Kind::Namespace => label_namespace(object),
        Kind::Secret => complete_secret(object),
        Kind::Definition => {
            definition::complete(object);
            definition::note_storage_version(object);
        }
        Kind::ConfigMap | Kind::Pod | Kind::Plain => {}
    }
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
        finalizer.as_str().is_some_and(|it| !it.contains('/') && !STANDARD_FINALIZERS.contains(&it))
    });
    let errors = strange.map(|(index, finalizer)| {
        let detail = "name is neither a standard finalizer name nor is it fully qualified";
        FieldError::invalid(format!("metadata.finalizers[{index}]"), finalizer, detail)
    });
    errors.collect()
}

fn check_kind(resource: &Resource, old: Option<&Value>, object: &Value) -> Vec<FieldError> {
    match kind_of(resource) {
        Kind::ConfigMap => check_data(object, old, &["data", "binaryData"]),
        Kind::Secret => {
            let mut errors = check_data(object, old, &["data"]);
            errors.extend(old.and_then(|old| changed(old, object, "type")));
            errors
        }
        Kind::Definition => {
            let mut errors = definition::check(object);
            errors.extend(old.into_iter().flat_map(|old| definition::check_update(old, object)));
            errors
        }
        Kind::Namespace | Kind::Pod | Kind::Plain => Vec::new(),
    }
}

enum Kind {
    Namespace,
    ConfigMap,
    Secret,
    Pod,
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
        (DEFINITIONS_GROUP, "CustomResourceDefinition") => Kind::Definition,
        _ => Kind::Plain,
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
        for key in object[field].as_object().into_iter().flat_map(|map| map.keys()) {
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

fn changed(old: &Value, object: &Value, field: &str) -> Option<FieldError> {
    let differs = old[field] != object[field];
    differs.then(|| FieldError::invalid(field, &object[field], "field is immutable"))
}
