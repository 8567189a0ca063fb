//! The JSON in which key sets and change sets are exchanged.

use pathline_keys::KeySet;
use pathline_keys::notation::{
    Error, change_set_from_json, change_set_to_json, key_set_from_json, key_set_to_json,
};
use pathline_testkit::cases;
use proptest::prelude::*;
use serde_json::json;

use crate::model::{Two, any_step};

#[test]
fn a_change_set_is_printed_as_promised() {
    let old = json!([
        {"n": "user:/gone", "v": "1"},
        {"n": "user:/kind", "bin": "00ff"},
        {"n": "user:/meta", "v": "x", "m": {"a": "1", "b": "2"}},
    ]);
    let new = json!([
        {"n": "user:/kind", "v": "text"},
        {"n": "user:/meta", "v": "x", "m": {"b": "3", "c": "4"}},
        {"n": "user:/new", "v": null},
    ]);
    let read = |json: &serde_json::Value| key_set_from_json(&json.to_string()).expect("a key set");
    let changes = KeySet::diff(&read(&old), &read(&new), None);
    let expected = json!({
        "added": [{"name": "user:/new", "value": null, "meta": {}}],
        "removed": [{"name": "user:/gone", "value": "1", "meta": {}}],
        "modified": [
            {
                "name": "user:/kind",
                "old": {"value": {"base64": "AP8="}, "meta": {"binary": ""}},
                "new": {"value": "text", "meta": {}},
                "meta": {"added": {}, "removed": {"binary": ""}, "modified": {}},
            },
            {
                "name": "user:/meta",
                "old": {"value": "x", "meta": {"a": "1", "b": "2"}},
                "new": {"value": "x", "meta": {"b": "3", "c": "4"}},
                "meta": {"added": {"c": "4"}, "removed": {"a": "1"}, "modified": {"b": ["2", "3"]}},
            },
        ],
    });
    assert_eq!(change_set_to_json(&changes), expected);
}

#[test]
fn what_is_not_in_the_notation_is_refused() {
    for text in [
        "{}",
        "[{}]",
        "[{\"n\": 1}]",
        "[{\"n\": \"user:/a\", \"x\": 1}]",
        "[",
    ] {
        assert!(
            matches!(key_set_from_json(text), Err(Error::Json(_))),
            "{text}"
        );
    }
    assert!(matches!(
        key_set_from_json(r#"[{"n": "/%"}]"#),
        Err(Error::Name { .. })
    ));
    assert!(matches!(
        key_set_from_json(r#"[{"n": "/a", "bin": "0"}]"#),
        Err(Error::Bytes { .. })
    ));
    let twice = r#"[{"n": "/a"}, {"n": "//a/"}]"#;
    assert!(matches!(
        key_set_from_json(twice),
        Err(Error::Duplicate { .. })
    ));
}

proptest! {
    #![proptest_config(cases(256))]

    #[test]
    fn key_sets_and_change_sets_survive_printing(
        steps in proptest::collection::vec(any_step(), 0..60),
    ) {
        let mut two = Two::new(20);
        for step in steps {
            two.take(step);
        }
        let [old, new] = &two.sets;
        prop_assert_eq!(&key_set_from_json(&key_set_to_json(old).to_string()).expect("printed"), old);
        let changes = KeySet::diff(old, new, None);
        let printed = change_set_to_json(&changes).to_string();
        prop_assert_eq!(change_set_from_json(&printed).expect("printed"), changes);
    }
}
