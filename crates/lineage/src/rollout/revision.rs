//! Controller revisions: the pod templates that stateful sets and daemon sets have had.

use serde_json::{Map, Value};

use super::pod::REVISION_LABEL;

/// Returns the name of the controller revision that a pod was made from; `kind` and `name` are those
/// of the object that controls it. `None` if objects of that kind have no such revisions.
pub fn revision_name(kind: &str, name: &str, pod: &Value) -> Option<String> {
    let labels = pod.pointer("/metadata/labels")?;
    let label = labels.get(REVISION_LABEL)?.as_str()?;
    match kind {
        "StatefulSet" => Some(label.to_owned()),
        "DaemonSet" => Some(format!("{name}-{label}")),
        _ => None,
    }
}

/// Tells whether a controller revision holds the very pod template that the object has which made it.
pub fn is_template_of(revision: &Value, object: &Value) -> bool {
    let kept = revision.pointer("/data/spec/template");
    let template = object.pointer("/spec/template");
    kept.is_some() && kept.map(without_empty_fields) == template.map(without_empty_fields)
}

/// Returns a template without what says nothing: fields that are null, and how it is to be patched.
fn without_empty_fields(template: &Value) -> Value {
    match template {
        Value::Object(fields) => {
            let fields = fields.iter();
            let fields = fields.filter(|(name, value)| !value.is_null() && *name != "$patch");
            let told: Map<_, _> = fields
                .map(|(name, value)| (name.clone(), without_empty_fields(value)))
                .collect();
            Value::Object(told)
        }
        Value::Array(items) => items.iter().map(without_empty_fields).collect(),
        other => other.clone(),
    }
}
