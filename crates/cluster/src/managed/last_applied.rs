//! `kubectl apply` in both its ways on one object.
//!
//! Client-side apply keeps what it applied in an annotation. When kubectl then applies server-side,
//! conflicts over values that are still as it left them are with its own past, and the annotation
//! follows what it applies.

use serde_json::Value;

use super::compare::Comparison;
use super::conflict::Conflict;
use super::sets::field_set;
use super::{Writer, record};
use crate::fields::FieldSet;
use crate::names::ANNOTATIONS_LIMIT;
use crate::schema::Schema;

const KUBECTL: &str = "kubectl";
const ANNOTATION: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// Returns the conflicts that kubectl's own past does not explain.
pub(super) fn unexplained(
    schema: &Schema,
    live: &Value,
    writer: &Writer,
    conflicts: Vec<Conflict>,
) -> Vec<Conflict> {
    let allowed = match writer.manager.as_str() {
        KUBECTL => untouched_since(schema, live, writer).unwrap_or_default(),
        _ => FieldSet::default(),
    };
    conflicts
        .into_iter()
        .filter(|conflict| !allowed.contains(&conflict.path.0))
        .collect()
}

/// Returns the fields that still are as client-side apply left them.
fn untouched_since(schema: &Schema, live: &Value, writer: &Writer) -> Option<FieldSet> {
    let text = annotation(live)?;
    let last: Value = serde_json::from_str(text).ok()?;
    if last.get("apiVersion").and_then(Value::as_str) != Some(writer.api_version.as_str()) {
        return None;
    }
    let comparison = Comparison::of(schema.root(), &last, live);
    let changed = comparison.changed().union(&comparison.removed);
    Some(field_set(schema.root(), &last).difference(&changed))
}

/// Brings the annotation up to date, or drops it if it would make the annotations too large.
pub(super) fn refresh(object: &mut Value, applied: &Value, writer: &Writer) {
    if writer.manager != KUBECTL || annotation(object).is_none() {
        return;
    }
    let mut applied = applied.clone();
    record::strip(&mut applied);
    if let Some(annotations) = applied
        .pointer_mut("/metadata/annotations")
        .and_then(Value::as_object_mut)
    {
        annotations.remove(ANNOTATION);
    }
    let Some(annotations) = object
        .pointer_mut("/metadata/annotations")
        .and_then(Value::as_object_mut)
    else {
        return;
    };
    annotations.insert(ANNOTATION.to_owned(), Value::from(format!("{applied}\n")));
    let sizes = annotations
        .iter()
        .map(|(key, value)| key.len() + value.as_str().map_or(0, str::len));
    if sizes.sum::<usize>() > ANNOTATIONS_LIMIT {
        annotations.remove(ANNOTATION);
    }
}

fn annotation(object: &Value) -> Option<&str> {
    let text = object
        .get("metadata")?
        .get("annotations")?
        .get(ANNOTATION)?
        .as_str()?;
    (!text.is_empty()).then_some(text)
}
