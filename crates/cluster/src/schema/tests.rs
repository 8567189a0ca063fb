//! Agreement with a real API server, recorded by `scripts/record-kube-answers`.

use pathline_testkit::cases;
use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::testing::{any_json, widgets};

fn recorded(text: &str) -> Vec<Value> {
    let document = strict::json(text.as_bytes()).expect("a recording is JSON");
    document
        .value
        .as_array()
        .expect("a recording is a list")
        .clone()
}

/// Errors as a `Status` shows them; a server adds them up in no certain order.
fn causes(errors: &[FieldError]) -> Vec<Value> {
    let mut causes: Vec<Value> = errors
        .iter()
        .map(|error| {
            json!({"field": error.path, "message": error.message, "reason": error.kind.reason()})
        })
        .collect();
    causes.sort_by_key(Value::to_string);
    causes
}

fn sorted(causes: &Value) -> Vec<Value> {
    let mut causes = causes.as_array().cloned().unwrap_or_default();
    causes.sort_by_key(Value::to_string);
    causes
}

#[test]
fn objects_are_completed_and_refused_as_by_a_real_server() {
    let schema = widgets();
    for case in recorded(include_str!("../../testdata/validation.json")) {
        let mut object = json!({"metadata": {"name": "w"}, "spec": case["spec"]});
        let unknown = schema.prune(&mut object);
        let strict: Vec<String> = unknown
            .iter()
            .map(|path| format!("unknown field {path:?}"))
            .collect();
        assert_eq!(
            strict.join(", "),
            case["strict"].as_str().unwrap_or_default(),
            "{case}"
        );
        schema.fill_defaults(&mut object);
        let errors = schema.validate(&object);
        assert_eq!(causes(&errors), sorted(&case["causes"]), "{case}");
        if errors.is_empty() {
            assert_eq!(object["spec"], case["result"], "{case}");
        }
    }
}

#[test]
fn schemas_are_refused_as_by_a_real_server() {
    for case in recorded(include_str!("../../testdata/structural.json")) {
        let compiled = Schema::compile(&case["schema"], "spec.validation.openAPIV3Schema");
        let errors = compiled.err().unwrap_or_default();
        assert_eq!(
            causes(&errors),
            sorted(&case["causes"]),
            "{}",
            case["schema"]
        );
    }
}

#[test]
fn malformed_patterns_are_named() {
    let schema = json!({"type": "object", "properties": {"a": {"type": "string", "pattern": "("}}});
    let errors = Schema::compile(&schema, "s").unwrap_err();
    let text = errors[0].to_string();
    let expected = "s.properties[a].pattern: Invalid value: \"(\": must be a valid regular";
    assert!(text.starts_with(expected), "{text}");
}

#[test]
fn metadata_is_that_of_kubernetes_whatever_a_schema_says() {
    let mut object = json!({
        "apiVersion": "example.com/v1", "kind": "Widget",
        "metadata": {"name": "w", "labels": {"a": "b"}, "foo": 1}, "spec": {"need": "y"}, "x": 1
    });
    assert_eq!(widgets().prune(&mut object), ["metadata.foo", "x"]);
    let wrong = json!({"metadata": {"labels": {"a": 1}}});
    let errors = widgets().validate(&wrong);
    let expected = "metadata.labels.a: Invalid value: \"integer\": metadata.labels.a in body must \
        be of type string: \"integer\"";
    assert_eq!(errors[0].to_string(), expected);
}

#[test]
fn anything_goes_where_unknown_fields_are_preserved() {
    let mut object = json!({"metadata": {"name": "x"}, "spec": {"a": [{"b": null}]}});
    let before = object.clone();
    let open = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    let schema = Schema::compile(&open, "").expect("an open object is structural");
    assert_eq!(schema.prune(&mut object), [""; 0]);
    schema.fill_defaults(&mut object);
    assert_eq!(object, before);
    assert_eq!(schema.validate(&object), []);
}

/// Widgets that mostly fit their schema.
fn any_widget() -> impl Strategy<Value = Value> {
    let names = [
        "need", "int", "str", "arr", "set", "map", "one", "obj", "nested", "any", "open", "atomic",
        "alist", "nul", "def", "defobj", "unknown",
    ];
    prop::collection::btree_map(prop::sample::select(names.to_vec()), any_json(), 0..6)
        .prop_map(|spec| json!({"metadata": {"name": "w"}, "spec": spec}))
}

proptest! {
    #![proptest_config(cases(256))]

    #[test]
    fn pruning_and_defaulting_twice_changes_nothing_more(mut object in any_widget()) {
        let schema = widgets();
        schema.prune(&mut object);
        schema.fill_defaults(&mut object);
        let once = object.clone();
        prop_assert_eq!(schema.prune(&mut object), Vec::<String>::new());
        schema.fill_defaults(&mut object);
        prop_assert_eq!(object, once);
    }

    #[test]
    fn validation_says_something_of_every_value(object in any_json()) {
        for error in widgets().validate(&object) {
            prop_assert!(!error.to_string().is_empty());
        }
    }
}
