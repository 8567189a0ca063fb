//! Pruning: dropping what a schema does not know.

use serde_json::{Map, Value};

use super::node::View;

/// Drops unknown fields and returns their paths, sorted.
pub(super) fn prune(schema: View<'_>, object: &mut Value) -> Vec<String> {
    let mut unknown = Vec::new();
    prune_value(Some(schema), object, "", &mut unknown);
    unknown.sort();
    unknown
}

fn prune_value(schema: Option<View<'_>>, value: &mut Value, path: &str, unknown: &mut Vec<String>) {
    match value {
        Value::Object(fields) => prune_fields(schema, fields, path, unknown),
        Value::Array(items) => {
            if schema.is_some_and(|schema| schema.items().is_none() && is_open(schema)) {
                return;
            }
            let item_schema = schema.and_then(View::items);
            for (index, item) in items.iter_mut().enumerate() {
                prune_value(item_schema, item, &format!("{path}[{index}]"), unknown);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn prune_fields(
    schema: Option<View<'_>>,
    fields: &mut Map<String, Value>,
    path: &str,
    unknown: &mut Vec<String>,
) {
    fields.retain(|name, value| {
        let below = child_path(path, name);
        let known = schema.and_then(|schema| schema.property(name).or_else(|| schema.additional()));
        if known.is_some() {
            prune_value(known, value, &below, unknown);
            return true;
        }
        let keep = schema.is_some_and(is_open);
        if !keep {
            unknown.push(below);
        }
        keep
    });
}

fn is_open(schema: View<'_>) -> bool {
    schema.node().preserve_unknown
}

fn child_path(path: &str, name: &str) -> String {
    if path.is_empty() {
        name.to_owned()
    } else {
        format!("{path}.{name}")
    }
}
