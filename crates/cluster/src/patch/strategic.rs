//! Strategic merge patch: a merge patch that knows which lists are keyed.
//!
//! Which lists merge, and by which key, comes from the schemas of the built-in kinds
//! (`x-kubernetes-patch-strategy`, `x-kubernetes-patch-merge-key`). `kubectl apply` adds
//! directives: `$patch`, `$retainKeys`, `$setElementOrder/LIST`, `$deleteFromPrimitiveList/LIST`.

mod order;

use serde_json::{Map, Value};

use super::Error;
use crate::schema::{Schema, View};

const PATCH: &str = "$patch";
const RETAIN_KEYS: &str = "$retainKeys";
const DELETE_FROM: &str = "$deleteFromPrimitiveList/";
const SET_ORDER: &str = "$setElementOrder/";

/// Returns `target` with a strategic merge patch applied.
pub(crate) fn strategic(schema: &Schema, target: Value, patch: &Value) -> Result<Value, Error> {
    let (Value::Object(fields), Value::Object(changes)) = (target, patch) else {
        return Err(Error::Malformed(
            "a strategic merge patch is an object".to_owned(),
        ));
    };
    merge_objects(Some(schema.root()), fields, changes).map(Value::Object)
}

fn merge_objects(
    schema: Option<View<'_>>,
    mut fields: Map<String, Value>,
    patch: &Map<String, Value>,
) -> Result<Map<String, Value>, Error> {
    match directive(patch)? {
        Directive::Merge => {}
        Directive::Replace => return Ok(plain_fields(patch)),
        Directive::Delete => return Ok(Map::new()),
    }
    retain_keys(&mut fields, patch)?;
    delete_from_lists(&mut fields, patch)?;
    for (name, change) in patch.iter().filter(|(name, _)| !is_directive(name)) {
        let child = schema.and_then(|schema| schema.child(name));
        let before = fields.remove(name);
        if let Some(after) = merge_field(child, before, change, set_order(patch, name)?)? {
            fields.insert(name.clone(), after);
        }
    }
    order_unpatched_lists(schema, &mut fields, patch)?;
    Ok(fields)
}

fn merge_field(
    schema: Option<View<'_>>,
    before: Option<Value>,
    change: &Value,
    order: Option<&[Value]>,
) -> Result<Option<Value>, Error> {
    let strategy = |name: &str| {
        schema.is_some_and(|schema| schema.patch_strategies().iter().any(|own| own == name))
    };
    Ok(Some(match (before, change) {
        (_, Value::Null) => return Ok(None),
        (before, Value::Object(changes)) => {
            let fields = match before {
                Some(Value::Object(fields)) if !strategy("replace") => fields,
                _ => Map::new(),
            };
            Value::Object(merge_objects(schema, fields, changes)?)
        }
        (before, Value::Array(changes)) if strategy("merge") => {
            let items = match before {
                Some(Value::Array(items)) => items,
                _ => Vec::new(),
            };
            let key = schema.and_then(View::patch_merge_key);
            Value::Array(merge_lists(schema, key, items, changes, order)?)
        }
        (_, change) => change.clone(),
    }))
}

fn merge_lists(
    schema: Option<View<'_>>,
    key: Option<&str>,
    before: Vec<Value>,
    changes: &[Value],
    order: Option<&[Value]>,
) -> Result<Vec<Value>, Error> {
    let server_order = before.clone();
    let merged = match key {
        Some(key) => merge_keyed(schema, key, before, changes)?,
        None => merge_set(before, changes),
    };
    Ok(order::arrange(
        merged,
        order.unwrap_or(changes),
        &server_order,
        key,
    ))
}

fn merge_set(mut items: Vec<Value>, changes: &[Value]) -> Vec<Value> {
    for change in changes {
        if !items.contains(change) {
            items.push(change.clone());
        }
    }
    items
}

fn merge_keyed(
    schema: Option<View<'_>>,
    key: &str,
    mut items: Vec<Value>,
    changes: &[Value],
) -> Result<Vec<Value>, Error> {
    let item_schema = schema.map(View::item);
    if changes.iter().any(replaces_list) {
        items.clear();
    }
    for change in changes.iter().filter(|change| !replaces_list(change)) {
        let Value::Object(fields) = change else {
            return Err(Error::Malformed(format!(
                "expected an object with {key:?}: {change}"
            )));
        };
        let id = fields.get(key).ok_or_else(|| {
            let text = Value::Object(fields.clone());
            Error::Malformed(format!(
                "map: {text} does not contain declared merge key: {key}"
            ))
        })?;
        let place = items.iter().position(|item| item.get(key) == Some(id));
        if directive(fields)? == Directive::Delete {
            items.retain(|item| item.get(key) != Some(id));
            continue;
        }
        let before = match place.map(|place| items[place].take()) {
            Some(Value::Object(before)) => before,
            _ => Map::new(),
        };
        let merged = Value::Object(merge_objects(item_schema, before, fields)?);
        match place {
            Some(place) => items[place] = merged,
            None => items.push(merged),
        }
    }
    Ok(items)
}

/// Tells whether an item of a patch is the lone directive to replace the list.
fn replaces_list(item: &Value) -> bool {
    let fields = item.as_object();
    fields.is_some_and(|fields| fields.len() == 1 && fields.get(PATCH) == Some(&"replace".into()))
}

/// Drops the fields that the patch's author does not list.
fn retain_keys(fields: &mut Map<String, Value>, patch: &Map<String, Value>) -> Result<(), Error> {
    if let Some(kept) = patch.get(RETAIN_KEYS) {
        let kept = list(RETAIN_KEYS, kept)?;
        fields.retain(|name, _| kept.iter().any(|key| key == name));
    }
    Ok(())
}

fn delete_from_lists(
    fields: &mut Map<String, Value>,
    patch: &Map<String, Value>,
) -> Result<(), Error> {
    for (directive, values) in patch {
        let Some(name) = directive.strip_prefix(DELETE_FROM) else {
            continue;
        };
        let values = list(directive, values)?;
        if let Some(Value::Array(items)) = fields.get_mut(name) {
            items.retain(|item| !values.contains(item));
        }
    }
    Ok(())
}

/// Orders the lists for which the patch gives an order but no change.
fn order_unpatched_lists(
    schema: Option<View<'_>>,
    fields: &mut Map<String, Value>,
    patch: &Map<String, Value>,
) -> Result<(), Error> {
    for (directive, order) in patch {
        let Some(name) = directive.strip_prefix(SET_ORDER) else {
            continue;
        };
        let order = list(directive, order)?;
        if let (None, Some(Value::Array(items))) = (patch.get(name), fields.get_mut(name)) {
            let key = schema
                .and_then(|s| s.child(name))
                .and_then(View::patch_merge_key);
            let server_order = items.clone();
            *items = order::arrange(std::mem::take(items), order, &server_order, key);
        }
    }
    Ok(())
}

fn set_order<'a>(patch: &'a Map<String, Value>, name: &str) -> Result<Option<&'a [Value]>, Error> {
    let directive = format!("{SET_ORDER}{name}");
    patch
        .get(&directive)
        .map(|order| list(&directive, order))
        .transpose()
}

fn list<'a>(directive: &str, value: &'a Value) -> Result<&'a [Value], Error> {
    let items = value.as_array().map(Vec::as_slice);
    items.ok_or_else(|| Error::Malformed(format!("{directive} needs a list, not {value}")))
}

#[derive(PartialEq, Eq)]
enum Directive {
    Merge,
    Replace,
    Delete,
}

fn directive(patch: &Map<String, Value>) -> Result<Directive, Error> {
    match patch.get(PATCH).map(|value| value.as_str()) {
        None | Some(Some("merge")) => Ok(Directive::Merge),
        Some(Some("replace")) => Ok(Directive::Replace),
        Some(Some("delete")) => Ok(Directive::Delete),
        Some(other) => {
            let text = other.unwrap_or_default();
            Err(Error::Malformed(format!(
                "Unknown patch type found: {text}"
            )))
        }
    }
}

fn is_directive(name: &str) -> bool {
    name == PATCH
        || name == RETAIN_KEYS
        || name.starts_with(DELETE_FROM)
        || name.starts_with(SET_ORDER)
}

fn plain_fields(patch: &Map<String, Value>) -> Map<String, Value> {
    let plain = patch.iter().filter(|(name, _)| !is_directive(name));
    plain
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect()
}

#[cfg(test)]
mod tests;
