//! Random owners, with everything selectors ask for, or nothing.

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::{LABELS, VALUES};

/// Makes owners of the kind that a blueprint is for.
pub(crate) fn owner() -> impl Strategy<Value = Value> {
    let labels = prop::collection::btree_map(
        prop::sample::select(&LABELS[..]),
        prop::sample::select(&[Some("x"), Some("y"), Some("z"), None][..]),
        0..=2,
    );
    let params = prop_oneof![
        Just(None),
        Just(Some(json!([]))),
        Just(Some(json!([{"name": "x", "value": null}]))),
    ];
    (labels, source(), text(), params).prop_map(|(labels, source, account, params)| {
        let spec: Map<String, Value> = [
            ("source", source),
            ("serviceAccountName", account),
            ("params", params),
        ]
        .into_iter()
        .filter_map(|(key, value)| Some((key.to_owned(), value?)))
        .collect();
        json!({"metadata": {"name": "random", "labels": labels}, "spec": spec})
    })
}

fn source() -> impl Strategy<Value = Option<Value>> {
    let git = prop_oneof![
        2 => Just(None),
        1 => Just(Some(Value::Null)),
        4 => text().prop_map(|url| Some(object([("url", url)]))),
    ];
    let source = (git, text()).prop_map(|(git, image)| object([("git", git), ("image", image)]));
    prop_oneof![
        2 => Just(None),
        1 => Just(Some(Value::Null)),
        5 => source.prop_map(Some),
    ]
}

/// Absent, null, or one of the values that are asked for, or another one.
fn text() -> impl Strategy<Value = Option<Value>> {
    prop_oneof![
        2 => Just(None),
        1 => Just(Some(Value::Null)),
        3 => prop::sample::select(&VALUES[..]).prop_map(|value| Some(json!(value))),
        1 => Just(Some(json!("other"))),
    ]
}

fn object<const N: usize>(fields: [(&str, Option<Value>); N]) -> Value {
    let present = fields
        .into_iter()
        .filter_map(|(key, value)| Some((key.to_owned(), value?)));
    Value::Object(present.collect())
}
