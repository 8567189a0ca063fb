//! The fields that field selectors may use, and how a selector is held against an object.

use pathline_jsonpath::JsonPath;
use serde_json::Value;

use super::resource::{Resource, Selectable};
use crate::selector::FieldSelector;
use crate::status::Status;

/// Returns the selectable fields of a built-in kind, beside the name and namespace.
pub(crate) fn built_in(group: &str, plural: &str) -> Vec<Selectable> {
    let fields: &[&str] = match (group, plural) {
        ("", "pods") => &[
            "spec.nodeName",
            "spec.restartPolicy",
            "spec.schedulerName",
            "spec.serviceAccountName",
            "spec.hostNetwork",
            "status.phase",
            "status.podIP",
            "status.nominatedNodeName",
        ],
        ("", "secrets") => &["type"],
        ("", "namespaces") => &["status.phase"],
        ("", "nodes") => &["spec.unschedulable"],
        ("", "services") => &["spec.clusterIP", "spec.type"],
        ("", "events") => &[
            "involvedObject.kind",
            "involvedObject.namespace",
            "involvedObject.name",
            "involvedObject.uid",
            "involvedObject.apiVersion",
            "involvedObject.resourceVersion",
            "involvedObject.fieldPath",
            "reason",
            "reportingComponent",
            "source",
            "type",
        ],
        ("events.k8s.io", "events") => &[
            "regarding.kind",
            "regarding.namespace",
            "regarding.name",
            "regarding.uid",
            "regarding.apiVersion",
            "regarding.resourceVersion",
            "regarding.fieldPath",
            "reason",
            "reportingController",
            "type",
        ],
        ("apps", "replicasets") => &["status.replicas"],
        ("batch", "jobs") => &["status.successful"],
        _ => &[],
    };
    fields
        .iter()
        .filter_map(|field| selectable(field))
        .collect()
}

/// Returns the field that a path such as `.spec.color` selects by.
pub(crate) fn selectable(path: &str) -> Option<Selectable> {
    let label = path.trim_start_matches('.').to_owned();
    JsonPath::parse(path)
        .ok()
        .map(|path| Selectable { label, path })
}

/// Reads a field selector against the kind it is used on.
pub(crate) fn parse(text: &str, resource: &Resource) -> Result<FieldSelector, Status> {
    let selector =
        FieldSelector::parse(text).map_err(|error| Status::bad_request(error.to_string()))?;
    for field in selector.fields() {
        let known = matches!(field, "metadata.name" | "metadata.namespace")
            || resource.selectable.iter().any(|it| it.label == field);
        if !known {
            return Err(Status::bad_request(unknown_field(field, resource)));
        }
    }
    Ok(selector)
}

fn unknown_field(field: &str, resource: &Resource) -> String {
    if resource.is_custom() || !resource.selectable.is_empty() {
        format!("field label not supported: {field}")
    } else {
        format!(
            "{field:?} is not a known field selector: only \"metadata.name\", \
             \"metadata.namespace\""
        )
    }
}

/// Returns whether an object, as its kind shows it, has the selected fields.
pub(crate) fn matches(selector: &FieldSelector, resource: &Resource, object: &Value) -> bool {
    selector.matches(|field| match field {
        "metadata.name" => object["metadata"]["name"]
            .as_str()
            .unwrap_or_default()
            .to_owned(),
        "metadata.namespace" => object["metadata"]["namespace"]
            .as_str()
            .unwrap_or_default()
            .to_owned(),
        _ => value(field, resource, object),
    })
}

fn value(field: &str, resource: &Resource, object: &Value) -> String {
    let selectable = resource.selectable.iter().find(|it| it.label == field);
    let found = selectable.and_then(|it| it.path.one(object).ok().flatten());
    match found.as_deref() {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    }
}
