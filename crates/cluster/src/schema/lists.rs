//! Sets and keyed lists hold nothing twice.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::FieldError;
use super::node::{ListKind, View};

/// Reports every item of a set or keyed list that an earlier one already named.
pub(super) fn check(schema: View<'_>, value: &Value, path: &str, errors: &mut Vec<FieldError>) {
    match value {
        Value::Object(fields) => {
            for (name, field) in fields {
                let Some(child) = schema.property(name).or_else(|| schema.additional()) else {
                    continue;
                };
                let below = if path.is_empty() {
                    name.clone()
                } else {
                    format!("{path}.{name}")
                };
                check(child, field, &below, errors);
            }
        }
        Value::Array(items) => {
            match &schema.node().list {
                ListKind::Atomic => {}
                ListKind::Set => report_repeated(items, path, errors),
                ListKind::Map(keys) => check_keyed(keys, items, path, errors),
            }
            let Some(item_schema) = schema.items() else {
                return;
            };
            for (index, item) in items.iter().enumerate() {
                check(item_schema, item, &format!("{path}[{index}]"), errors);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn check_keyed(keys: &[String], items: &[Value], path: &str, errors: &mut Vec<FieldError>) {
    let stray = items
        .iter()
        .position(|item| !item.is_object() && !item.is_null());
    if let Some(index) = stray {
        let detail = "must be an object for an array of list-type map";
        errors.push(FieldError::invalid(
            format!("{path}[{index}]"),
            &items[index],
            detail,
        ));
        return;
    }
    let key_of = |item: &Value| -> Value {
        let fields = keys
            .iter()
            .filter_map(|key| Some((key.clone(), item.get(key)?.clone())));
        Value::Object(fields.collect::<Map<_, _>>())
    };
    let ids: Vec<Value> = items.iter().map(key_of).collect();
    report_repeated(&ids, path, errors);
}

/// Reports the second of equal values, and not the third.
fn report_repeated(values: &[Value], path: &str, errors: &mut Vec<FieldError>) {
    let mut times: BTreeMap<String, usize> = BTreeMap::new();
    for (index, value) in values.iter().enumerate() {
        let seen = times.entry(value.to_string()).or_default();
        *seen += 1;
        if *seen == 2 {
            errors.push(FieldError::duplicate(format!("{path}[{index}]"), value));
        }
    }
}
