//! Merges settings: later ones override earlier ones, key by key.

use serde_json::{Map, Value};

use crate::vetos::canonical_type;

/// The keys of files in `environment.file`.
pub(super) const FILES: [&str; 2] = ["config", "secret"];

/// Merges settings; maps are merged, everything else is replaced.
pub(super) fn merged(layers: &[&Value]) -> Value {
    let mut result = Value::Object(Map::new());
    for layer in layers {
        merge(&mut result, layer);
    }
    result
}

// Recursion ends: readers refuse documents that nest too deep.
fn merge(into: &mut Value, from: &Value) {
    match (into, from) {
        (Value::Object(into), Value::Object(from)) => {
            for (key, value) in from {
                merge(into.entry(key.clone()).or_insert(Value::Null), value);
            }
        }
        (into, from) => *into = from.clone(),
    }
}

/// Returns what holds in an environment.
pub(crate) fn effective(
    template: &Value,
    (group, own): (&Value, &Value),
    environment: &str,
    of_type: Option<&str>,
) -> Value {
    let overrides = |name: &str| {
        let all = own
            .get("in")
            .and_then(Value::as_object)
            .into_iter()
            .flatten();
        let of_name = all.filter(move |(key, _)| canonical_type(key) == canonical_type(name));
        of_name.map(|(_, settings)| settings).collect::<Vec<_>>()
    };
    let of_type = of_type.filter(|it| canonical_type(it) != canonical_type(environment));
    let by_type = of_type.map(overrides).unwrap_or_default();
    let by_name = overrides(environment);
    let group = inherited(group, own);
    let layers: Vec<_> = [template, &group, own]
        .into_iter()
        .chain(by_type)
        .chain(by_name)
        .collect();
    let mut effective = merged(&layers);
    if let Value::Object(fields) = &mut effective {
        fields.remove("in");
    }
    effective
}

/// Returns the settings of a group without the files that the application does not ask for (`inheritGroup`): an
/// application is not given secrets that are meant for another one.
fn inherited(group: &Value, own: &Value) -> Value {
    let mut group = group.clone();
    for kind in FILES {
        let path = format!("/environment/file/{kind}");
        if let Some(Value::Object(files)) = group.pointer_mut(&path) {
            files.retain(|name, _| is_inherited(own, kind, name));
        }
    }
    group
}

/// Tells whether an application asks for a file of its group.
pub(super) fn is_inherited(own: &Value, kind: &str, name: &str) -> bool {
    let files = own.pointer(&format!("/environment/file/{kind}"));
    let file = files.and_then(|files| files.get(name));
    file.and_then(|file| file.get("inheritGroup")) == Some(&Value::Bool(true))
}
