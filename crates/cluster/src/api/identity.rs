//! The check that the object in a body is the one that the URL speaks of.

use serde_json::{Map, Value, json};

use super::resource::Resource;
use crate::schema::FieldError;
use crate::status::{Status, Subject};

/// The metadata that must be text if it is there.
const TEXTS: [&str; 8] = [
    "name",
    "generateName",
    "namespace",
    "uid",
    "resourceVersion",
    "creationTimestamp",
    "deletionTimestamp",
    "selfLink",
];

/// Checks that `object` is of the resource's kind and version, and gives it the metadata that the
/// rest of the server counts on.
pub(crate) fn check_type(resource: &Resource, object: &mut Value) -> Result<(), Status> {
    if object.is_null() && !resource.is_custom() {
        *object = json!({});
    }
    let Some(fields) = object.as_object_mut() else {
        let message = format!(
            "the object provided is unrecognized (must be of type {}): a JSON object is needed",
            resource.kind
        );
        return Err(Status::bad_request(message));
    };
    if resource.is_custom() {
        check_custom(resource, fields)?;
    } else {
        check_built_in(resource, fields)?;
    }
    check_metadata(resource, fields)
}

fn check_custom(resource: &Resource, fields: &Map<String, Value>) -> Result<(), Status> {
    let text = |key: &str| fields.get(key).and_then(Value::as_str).unwrap_or_default();
    if text("kind").is_empty() {
        let message = format!(
            "the object provided is unrecognized (must be of type {}): Object 'Kind' is missing",
            resource.kind
        );
        return Err(Status::bad_request(message));
    }
    let expected = resource.api_version();
    if text("apiVersion") != expected {
        let message = format!(
            "the API version in the data ({}) does not match the expected API version ({expected})",
            text("apiVersion")
        );
        return Err(Status::bad_request(message));
    }
    if text("kind") != resource.kind {
        let subject = Subject {
            group: &resource.group,
            resource: text("kind"),
        };
        let name = fields.get("metadata").map(|metadata| &metadata["name"]);
        let name = name.and_then(Value::as_str).unwrap_or_default();
        let detail = format!("must be {}", resource.kind);
        let error = FieldError::invalid("kind", &fields["kind"], &detail);
        return Err(Status::invalid(subject, name, &[error]));
    }
    Ok(())
}

/// A built-in object that does not say what it is, is what the URL says.
fn check_built_in(resource: &Resource, fields: &mut Map<String, Value>) -> Result<(), Status> {
    for (key, expected) in [
        ("kind", resource.kind.clone()),
        ("apiVersion", resource.api_version()),
    ] {
        let field = fields.entry(key).or_insert(Value::Null);
        if field.is_null() || field == "" {
            *field = expected.into();
        }
    }
    let text = |key: &str| fields[key].as_str().unwrap_or_default().to_owned();
    let (kind, version) = (text("kind"), text("apiVersion"));
    if kind == resource.kind && version == resource.api_version() {
        return Ok(());
    }
    let why = format!("no kind {kind:?} is registered for version {version:?} here");
    Err(Status::undecodable(&kind, &version, &resource.kind, &why))
}

fn check_metadata(resource: &Resource, fields: &mut Map<String, Value>) -> Result<(), Status> {
    let metadata = fields.entry("metadata").or_insert(Value::Null);
    if metadata.is_null() {
        *metadata = json!({});
    }
    let unreadable =
        |why: &str| Status::undecodable(&resource.kind, &resource.version, &resource.kind, why);
    let Some(metadata) = metadata.as_object_mut() else {
        return Err(unreadable("metadata must be an object"));
    };
    for key in TEXTS {
        match metadata.get(key) {
            None | Some(Value::String(_)) => {}
            Some(Value::Null) => drop(metadata.remove(key)),
            Some(_) => return Err(unreadable(&format!("metadata.{key} must be a string"))),
        }
    }
    Ok(())
}

/// Refuses an object of another namespace than the URL's; where there are none, what the object
/// says does not matter.
pub(crate) fn check_namespace(
    resource: &Resource,
    namespace: &str,
    object: &Value,
) -> Result<(), Status> {
    let stated = object["metadata"]["namespace"].as_str().unwrap_or_default();
    if stated.is_empty() || stated == namespace || !resource.namespaced {
        return Ok(());
    }
    let message =
        "the namespace of the provided object does not match the namespace sent on the request";
    Err(Status::bad_request(message))
}

/// Gives `object` the namespace of the URL, and refuses another one.
pub(crate) fn settle_namespace(
    resource: &Resource,
    namespace: &str,
    object: &mut Value,
) -> Result<(), Status> {
    check_namespace(resource, namespace, object)?;
    let namespace = if resource.namespaced { namespace } else { "" };
    if let Some(metadata) = object["metadata"].as_object_mut() {
        if namespace.is_empty() {
            metadata.remove("namespace");
        } else {
            metadata.insert("namespace".to_owned(), namespace.into());
        }
    }
    Ok(())
}

/// Gives `object` the name of the URL, and refuses another one.
pub(crate) fn settle_name(name: &str, object: &mut Value) -> Result<(), Status> {
    let stated = object["metadata"]["name"].as_str().unwrap_or_default();
    if !stated.is_empty() && stated != name {
        let message = format!(
            "the name of the object ({stated}) does not match the name on the URL ({name})"
        );
        return Err(Status::bad_request(message));
    }
    object["metadata"]["name"] = name.into();
    Ok(())
}
