//! Agreement with a real API server, recorded by `scripts/record-kube-answers`, and laws.

use pathline_testkit::cases;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::record::Managers;
use super::*;
use crate::patch;
use crate::schema::Schema;
use crate::testing::widgets;

fn writer(step: &Value, tick: i64) -> Writer {
    let subresource = step.get("subresource").and_then(Value::as_str);
    Writer {
        manager: step["manager"]
            .as_str()
            .expect("every step has a manager")
            .to_owned(),
        subresource: subresource.map(str::to_owned),
        api_version: "example.com/v1".to_owned(),
        time: Timestamp::from_second(1_700_000_000 + tick).expect("in range"),
        has_status: true,
    }
}

/// Does what the API does around the functions under test.
fn perform(
    schema: &Schema,
    live: Option<&Value>,
    step: &Value,
    writer: &Writer,
) -> Result<Value, ApplyError> {
    let is_status = writer.subresource.is_some();
    let sent = || {
        let mut object = step["object"].clone();
        object["apiVersion"] = json!("example.com/v1");
        object["kind"] = json!("Widget");
        object["metadata"]["name"] = json!("w");
        object["metadata"]["namespace"] = json!("default");
        object
    };
    let is_apply = step["op"] == "apply";
    let mut object = match step["op"].as_str() {
        Some("create") => sent(),
        Some("apply") => apply(schema, live, &sent(), writer, step["force"] == true)?,
        Some("merge") => patch::merge(live.cloned().expect("created"), &step["patch"]),
        _ => patch::json(live.expect("created"), &step["patch"]).expect("the patch applies"),
    };
    if is_status {
        object["spec"] = live.expect("created")["spec"].clone();
    } else if let Some(fields) = object.as_object_mut() {
        fields.remove("status");
        let status = live.and_then(|live| live.get("status"));
        fields.extend(status.map(|status| ("status".to_owned(), status.clone())));
    }
    schema.prune(&mut object);
    schema.fill_defaults(&mut object);
    let mut object = if is_apply {
        object
    } else {
        update(schema, live, object, writer)
    };
    if let Some(live) = live {
        keep_times_of_idle_write(live, &mut object);
    }
    Ok(object)
}

fn without_server_fields(object: &Value) -> Value {
    let mut object = object.clone();
    let metadata = object["metadata"].as_object_mut().expect("metadata");
    metadata.retain(|name, _| name != "name" && name != "namespace");
    let entries = metadata
        .get_mut("managedFields")
        .and_then(Value::as_array_mut);
    for entry in entries
        .into_iter()
        .flatten()
        .filter_map(Value::as_object_mut)
    {
        entry.remove("time");
    }
    object
}

#[test]
fn writes_end_as_on_a_real_server() {
    let scenarios: Vec<Value> = serde_json::from_str(include_str!("../../testdata/apply.json"))
        .expect("a recording is a list");
    for scenario in scenarios {
        let mut live: Option<Value> = None;
        for (tick, recorded) in (0..).zip(scenario["steps"].as_array().expect("steps")) {
            let (step, answer) = (&recorded["step"], &recorded["answer"]);
            let context = format!("{}, step {tick}: {step}", scenario["title"]);
            let result = perform(widgets(), live.as_ref(), step, &writer(step, tick));
            match result {
                Ok(object) => {
                    let shown = without_server_fields(&object);
                    assert_eq!(shown, answer["object"], "{context}");
                    let idle = live.as_ref() == Some(&object);
                    assert_eq!(idle, answer["idle"], "{context}: whether anything changed");
                    live = Some(object);
                }
                Err(error) => agree_on_error(&error, answer, &context),
            }
        }
    }
}

fn agree_on_error(error: &ApplyError, answer: &Value, context: &str) {
    let message = answer["message"].as_str().unwrap_or_default();
    match error {
        ApplyError::Conflicts(conflicts) => {
            assert_eq!(error.to_string(), message, "{context}");
            let causes: Vec<Value> = conflicts
                .iter()
                .map(|conflict| {
                    json!({
                        "field": conflict.path.to_string(),
                        "message": conflict.message(),
                        "reason": "FieldManagerConflict"
                    })
                })
                .collect();
            let mut recorded = answer["causes"].as_array().cloned().unwrap_or_default();
            recorded.sort_by_key(Value::to_string);
            let mut causes = causes;
            causes.sort_by_key(Value::to_string);
            assert_eq!(causes, recorded, "{context}");
        }
        ApplyError::Typed { .. } | ApplyError::ManagedFieldsSet => {
            assert_eq!(error.to_string(), message, "{context}");
        }
    }
}

fn any_untyped() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![(0..2).prop_map(Value::from), Just(json!([1, {"x": 2}]))];
    leaf.prop_recursive(2, 4, 2, |inner| {
        prop::collection::btree_map("[ab]", inner, 1..3).prop_map(Value::from_iter)
    })
}

/// Specs that fit the schema of widgets, with few names so that appliers meet.
///
/// Lists are not empty: nobody owns an empty one, on a real server either.
fn any_spec() -> impl Strategy<Value = Value> {
    let scalar = || prop_oneof![Just("aa"), Just("ab")].prop_map(Value::from);
    let named = (
        prop::sample::subsequence(vec!["p", "q", "r"], 1..3),
        scalar(),
    )
        .prop_map(|(n, v)| {
            Value::from_iter(n.into_iter().map(|name| json!({"name": name, "v": v})))
        });
    let set = prop::sample::subsequence(vec!["1", "2", "3"], 1..3).prop_map(Value::from);
    let map = prop::collection::btree_map("[kl]", scalar(), 1..3).prop_map(Value::from_iter);
    let nested = prop::collection::btree_map(
        "[kl]",
        prop::collection::btree_map("[ab]", scalar(), 0..3),
        0..3,
    )
    .prop_map(|fields| json!(fields));
    let untyped =
        prop::collection::btree_map("[ab]", any_untyped(), 1..3).prop_map(Value::from_iter);
    let field = prop_oneof![
        ("need|str|def", scalar()),
        (Just("one".to_owned()), named),
        (Just("set".to_owned()), set),
        (Just("obj".to_owned()), map),
        (Just("nested".to_owned()), nested),
        (Just("any".to_owned()), untyped),
    ];
    prop::collection::vec(field, 0..5).prop_map(Value::from_iter)
}

fn declare(
    manager: &str,
    live: Option<&Value>,
    spec: &Value,
    force: bool,
) -> Result<Value, ApplyError> {
    let step = json!({
        "op": "apply", "manager": manager, "force": force,
        "object": {"metadata": {}, "spec": spec}
    });
    let object = json!({
        "apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "w"}, "spec": spec
    });
    apply(widgets(), live, &object, &writer(&step, 0), force)
}

fn fields_of(object: &Value) -> FieldSet {
    let mut object = object.clone();
    record::strip(&mut object);
    sets::field_set(widgets().root(), &object)
}

proptest! {
    #![proptest_config(cases(256))]

    #[test]
    fn applying_twice_changes_nothing(a in any_spec(), b in any_spec()) {
        let live = declare("a", None, &a, false).unwrap();
        prop_assert_eq!(&declare("a", Some(&live), &a, false).unwrap(), &live);
        let live = declare("b", Some(&live), &b, true).unwrap();
        prop_assert_eq!(&declare("b", Some(&live), &b, false).unwrap(), &live);
    }

    #[test]
    fn what_an_applier_declares_is_what_it_gets(a in any_spec(), b in any_spec()) {
        let live = declare("a", None, &a, false).unwrap();
        let live = declare("b", Some(&live), &b, true).unwrap();
        let declared = json!({"spec": b});
        let changed = compare::Comparison::of(widgets().root(), &declared, &live);
        prop_assert!(changed.modified.is_empty(), "{:?}", changed.modified);
        prop_assert!(changed.removed.is_empty(), "{:?}", changed.removed);
    }

    #[test]
    fn an_applier_that_leaves_takes_only_its_own(a in any_spec(), b in any_spec()) {
        let alone = declare("a", None, &a, false).unwrap();
        let Ok(both) = declare("b", Some(&alone), &b, false) else { return Ok(()) };
        let left = declare("b", Some(&both), &json!({}), false).unwrap();
        prop_assert_eq!(fields_of(&left), fields_of(&alone));
    }

    #[test]
    fn everything_an_updater_wrote_is_its_own(a in any_spec(), b in any_spec()) {
        let step = json!({"manager": "u"});
        let live = update(widgets(), None, json!({"metadata": {"name": "w"}, "spec": a}), &writer(&step, 0));
        let mut new = live.clone();
        new["spec"] = b;
        let new = update(widgets(), Some(&live), new, &writer(&step, 1));
        let owned = Managers::of(&new).unwrap().all_fields();
        let strays = owned.difference(&with_parents(&fields_of(&new)));
        prop_assert!(strays.is_empty(), "{:?}", strays.paths());
        let unowned = without_untracked(&fields_of(&new)).difference(&owned);
        prop_assert!(unowned.is_empty(), "{:?}", unowned.paths());
    }
}

/// A write also owns the declared fields on the way to what it set.
fn with_parents(set: &FieldSet) -> FieldSet {
    sets::with_declared_fields(widgets().root(), set)
}
