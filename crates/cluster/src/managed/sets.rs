//! From objects to sets of fields, and back by removing.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use crate::fields::{FieldSet, PathElement};
use crate::schema::{ListKind, Shape, View};

/// Returns the fields that an object sets.
pub(super) fn field_set(schema: View<'_>, object: &Value) -> FieldSet {
    let mut set = FieldSet::default();
    collect(schema, object, &mut Vec::new(), &mut set);
    set
}

fn collect(schema: View<'_>, value: &Value, path: &mut Vec<PathElement>, set: &mut FieldSet) {
    match (schema.shape(value), value) {
        (Shape::Scalar | Shape::List(ListKind::Atomic) | Shape::Map { atomic: true }, _) => {
            set.insert(path);
        }
        (Shape::Map { atomic: false }, Value::Object(fields)) => {
            collect_fields(schema, fields, path, set);
        }
        (Shape::List(_), Value::Array(items)) => collect_items(schema, items, path, set),
        _ => {}
    }
}

fn collect_fields(
    schema: View<'_>,
    fields: &Map<String, Value>,
    path: &mut Vec<PathElement>,
    set: &mut FieldSet,
) {
    for (name, value) in fields {
        path.push(PathElement::field(name.as_str()));
        collect(schema.child_or_anything(name), value, path, set);
        let is_empty = value.is_null() || value.as_object().is_some_and(Map::is_empty);
        // The keys of a map are fields of their own; declared fields exist through what they hold.
        if is_empty || schema.property(name).is_none() {
            set.insert(path);
        }
        path.pop();
    }
}

fn collect_items(
    schema: View<'_>,
    items: &[Value],
    path: &mut Vec<PathElement>,
    set: &mut FieldSet,
) {
    let mut seen = BTreeSet::new();
    let mut repeated = BTreeSet::new();
    for element in items.iter().filter_map(|item| schema.element(item).ok()) {
        if !seen.insert(element.clone()) {
            repeated.insert(element);
        }
    }
    for item in items {
        let Ok(element) = schema.element(item) else {
            continue;
        };
        let alone = !repeated.contains(&element);
        path.push(element);
        if alone {
            collect(schema.item(), item, path, set);
        }
        set.insert(path);
        path.pop();
    }
}

/// Returns the set with every declared field above its members made a member too.
///
/// A set says `spec.replicas`; to remove or keep objects one needs `spec` as well, but not the
/// keys of maps, which somebody may own for themselves.
pub(super) fn with_declared_fields(schema: View<'_>, set: &FieldSet) -> FieldSet {
    let mut result = FieldSet::default();
    for element in set.members() {
        result.insert_member(element.clone());
    }
    for (element, below) in set.children() {
        let child = match element {
            PathElement::Field(name) => {
                if schema.property(name).is_some() {
                    result.insert_member(element.clone());
                }
                schema.child_or_anything(name)
            }
            PathElement::Key(_) | PathElement::Value(_) | PathElement::Index(_) => schema.item(),
        };
        result.insert_child(element.clone(), with_declared_fields(child, below));
    }
    result
}

/// Returns the object without some of its fields.
///
/// What loses all it held stays, empty: it may be somebody's for itself.
pub(super) fn remove(schema: View<'_>, value: &Value, fields: &FieldSet) -> Value {
    match (schema.shape(value), value) {
        (Shape::Map { atomic: false }, Value::Object(map)) => {
            let kept = map.iter().filter_map(|(name, value)| {
                let element = PathElement::field(name.as_str());
                let kept = removed_from(schema.child_or_anything(name), value, &element, fields);
                Some((name.clone(), kept?))
            });
            Value::Object(kept.collect())
        }
        (Shape::List(ListKind::Set | ListKind::Map(_)), Value::Array(items)) => {
            let kept = items.iter().filter_map(|item| match schema.element(item) {
                Ok(element) => removed_from(schema.item(), item, &element, fields),
                Err(_) => Some(item.clone()),
            });
            Value::Array(kept.collect())
        }
        _ => value.clone(),
    }
}

fn removed_from(
    schema: View<'_>,
    value: &Value,
    element: &PathElement,
    fields: &FieldSet,
) -> Option<Value> {
    if fields.has(element) {
        return None;
    }
    match fields.below(element) {
        Some(below) => Some(remove(schema, value, below)),
        None => Some(value.clone()),
    }
}
