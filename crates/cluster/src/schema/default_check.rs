//! The check that the defaults of a schema fit the schema.

use serde_json::Value;

use super::node::View;
use super::{FieldError, prune, validate};

/// Returns what is wrong with the defaults below a schema.
pub(super) fn check(schema: View<'_>, openapi: &Value, path: &str) -> Vec<FieldError> {
    let mut errors = Vec::new();
    walk(schema, openapi, path, &mut errors);
    errors
}

fn walk(schema: View<'_>, openapi: &Value, path: &str, errors: &mut Vec<FieldError>) {
    let properties = openapi.get("properties").and_then(Value::as_object);
    for (name, property) in properties.into_iter().flatten() {
        if let Some(child) = schema.property(name) {
            one(
                child,
                property,
                &format!("{path}.properties[{name}]"),
                errors,
            );
        }
    }
    let parts = [
        ("items", schema.items()),
        ("additionalProperties", schema.additional()),
    ];
    for (name, child) in parts {
        if let (Some(child), Some(part @ Value::Object(_))) = (child, openapi.get(name)) {
            one(child, part, &format!("{path}.{name}"), errors);
        }
    }
}

fn one(schema: View<'_>, openapi: &Value, path: &str, errors: &mut Vec<FieldError>) {
    if let Some(default) = &schema.node().default {
        let path = format!("{path}.default");
        if !prune::prune(schema, &mut default.clone()).is_empty() {
            let detail = "must not have unknown fields";
            errors.push(FieldError::invalid(path.as_str(), default, detail));
        }
        for error in validate::validate(schema, default) {
            let below = if error.path.is_empty() { "" } else { "." };
            errors.push(FieldError {
                path: format!("{path}{below}{}", error.path),
                ..error
            });
        }
    }
    walk(schema, openapi, path, errors);
}
