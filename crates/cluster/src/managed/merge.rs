//! Merging an applied object into a live one.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use serde_json::{Map, Value};

use crate::fields::PathElement;
use crate::schema::{ListKind, Shape, View};

/// Returns the live object with everything that the applied one says.
pub(super) fn merge(schema: View<'_>, live: &Value, applied: &Value) -> Value {
    match (schema.shape(applied), live, applied) {
        (Shape::Map { atomic: false }, Value::Object(live), Value::Object(applied)) => {
            Value::Object(merge_maps(schema, live, applied))
        }
        (
            Shape::List(ListKind::Set | ListKind::Map(_)),
            Value::Array(live),
            Value::Array(applied),
        ) => Value::Array(merge_lists(schema, live, applied)),
        // An applied null gives up a map or a list without touching what others have in it.
        (Shape::Map { atomic: false }, Value::Object(fields), Value::Null)
            if !fields.is_empty() =>
        {
            live.clone()
        }
        (Shape::List(ListKind::Set | ListKind::Map(_)), Value::Array(items), Value::Null)
            if !items.is_empty() =>
        {
            live.clone()
        }
        _ => applied.clone(),
    }
}

fn merge_maps(
    schema: View<'_>,
    live: &Map<String, Value>,
    applied: &Map<String, Value>,
) -> Map<String, Value> {
    let mut merged = live.clone();
    for (name, value) in applied {
        let value = match live.get(name) {
            Some(live) => merge(schema.child_or_anything(name), live, value),
            None => value.clone(),
        };
        merged.insert(name.clone(), value);
    }
    merged
}

/// Merges two keyed lists: the applied order wins among applied items, and items that only the
/// live list has stay where they were relative to their neighbours.
fn merge_lists(schema: View<'_>, live: &[Value], applied: &[Value]) -> Vec<Value> {
    let live = Indexed::of(schema, live);
    let applied = Indexed::of(schema, applied);
    let mut shared: VecDeque<&PathElement> = applied
        .order
        .iter()
        .filter(|element| live.items.contains_key(*element))
        .collect();
    let mut next_shared = shared.pop_front();
    let mut done: BTreeSet<&PathElement> = BTreeSet::new();
    let mut merged = Vec::with_capacity(live.order.len().max(applied.order.len()));
    let (mut left, mut right) = (
        live.order.iter().peekable(),
        applied.order.iter().peekable(),
    );
    loop {
        match (left.peek().copied(), right.peek().copied()) {
            (None, None) => break,
            (Some(theirs), _) if !applied.items.contains_key(theirs) => {
                merged.extend(live.items[theirs].iter().map(|&item| item.clone()));
                left.next();
            }
            (Some(theirs), _) if done.contains(theirs) => {
                left.next();
            }
            (Some(theirs), Some(ours))
                if theirs != ours && next_shared.is_some_and(|n| n != theirs) =>
            {
                left.next();
            }
            (theirs, Some(ours)) => {
                done.insert(ours);
                merged.push(merge_items(
                    schema,
                    live.items.get(ours),
                    applied.items[ours][0],
                ));
                right.next();
                if theirs == Some(ours) {
                    left.next();
                }
                if next_shared == Some(ours) {
                    next_shared = shared.pop_front();
                }
            }
            (Some(_), None) => {
                left.next();
            }
        }
    }
    merged.extend(live.nameless.into_iter().cloned());
    merged
}

/// Merges an applied item into the live one it names; repeated live ones give way to it.
fn merge_items(schema: View<'_>, live: Option<&Vec<&Value>>, applied: &Value) -> Value {
    match live.map(Vec::as_slice) {
        Some([live]) => merge(schema.item(), live, applied),
        _ => applied.clone(),
    }
}

/// The items of a list by what names them, and the order of first appearance.
struct Indexed<'a> {
    order: Vec<PathElement>,
    items: BTreeMap<PathElement, Vec<&'a Value>>,
    nameless: Vec<&'a Value>,
}

impl<'a> Indexed<'a> {
    fn of(schema: View<'_>, list: &'a [Value]) -> Self {
        let mut order = Vec::new();
        let mut items: BTreeMap<PathElement, Vec<&Value>> = BTreeMap::new();
        let mut nameless = Vec::new();
        for item in list {
            let Ok(element) = schema.element(item) else {
                nameless.push(item);
                continue;
            };
            let same = items.entry(element.clone()).or_default();
            if same.is_empty() {
                order.push(element);
            }
            same.push(item);
        }
        Self {
            order,
            items,
            nameless,
        }
    }
}
