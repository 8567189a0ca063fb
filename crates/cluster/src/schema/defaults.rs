//! Defaulting.

use serde_json::{Map, Value};

use super::node::View;

/// The bytes of defaults that may still be filled in. A long list of empty items and a long default
/// would otherwise make an object of any size from a small body.
pub(super) struct Budget(usize);

impl Budget {
    /// Allows defaults of about so many bytes of JSON text.
    pub(super) fn new(bytes: usize) -> Self {
        Self(bytes)
    }

    /// Returns a copy of a default, unless so much was filled in before that the object can't be
    /// stored anyway.
    fn copy(&mut self, default: &Value) -> Option<Value> {
        if self.0 == 0 {
            return None;
        }
        self.0 = self.0.saturating_sub(default.to_string().len());
        Some(default.clone())
    }
}

/// Fills in defaults below a value, and settles nulls that its schema does not allow.
pub(super) fn fill(schema: View<'_>, value: &mut Value, budget: &mut Budget) {
    match value {
        Value::Object(fields) => fill_object(schema, fields, budget),
        Value::Array(items) => {
            let item_schema = schema.items();
            for item in items {
                let Some(item_schema) = item_schema else {
                    return;
                };
                replace_null(item_schema, item, budget);
                fill(item_schema, item, budget);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn fill_object(schema: View<'_>, fields: &mut Map<String, Value>, budget: &mut Budget) {
    for (name, property) in schema.properties() {
        let Some(default) = &property.node().default else {
            continue;
        };
        let missing = fields
            .get(name)
            .is_none_or(|value| value.is_null() && !property.node().nullable);
        if missing && let Some(default) = budget.copy(default) {
            fields.insert(name.to_owned(), default);
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
        replace_null(child, value, budget);
        fill(child, value, budget);
    }
}

fn replace_null(schema: View<'_>, value: &mut Value, budget: &mut Budget) {
    if value.is_null()
        && !schema.node().nullable
        && let Some(default) = &schema.node().default
        && let Some(default) = budget.copy(default)
    {
        *value = default;
    }
}
