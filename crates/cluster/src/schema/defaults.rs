//! Defaulting.

use serde_json::{Map, Value};

use super::node::View;

/// Fills in defaults below a value, and settles nulls that its schema does not allow.
pub(super) fn fill(schema: View<'_>, value: &mut Value) {
    match value {
        Value::Object(fields) => fill_object(schema, fields),
        Value::Array(items) => {
            let item_schema = schema.items();
            for item in items {
                let Some(item_schema) = item_schema else {
                    return;
                };
                replace_null(item_schema, item);
                fill(item_schema, item);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn fill_object(schema: View<'_>, fields: &mut Map<String, Value>) {
    for (name, property) in schema.properties() {
        let Some(default) = &property.node().default else {
            continue;
        };
        let missing = fields
            .get(name)
            .is_none_or(|value| value.is_null() && !property.node().nullable);
        if missing {
            fields.insert(name.to_owned(), default.clone());
        }
    }
    fields.retain(|name, value| {
        let child = schema.property(name).or_else(|| schema.additional());
        !value.is_null()
            || child.is_none_or(|child| child.node().nullable || child.node().default.is_some())
    });
    for (name, value) in fields.iter_mut() {
        let Some(child) = schema.property(name).or_else(|| schema.additional()) else {
            continue;
        };
        replace_null(child, value);
        fill(child, value);
    }
}

fn replace_null(schema: View<'_>, value: &mut Value) {
    if value.is_null()
        && !schema.node().nullable
        && let Some(default) = &schema.node().default
    {
        *value = default.clone();
    }
}
