//! The JSON in which key sets and change sets are exchanged.

use pathline_keys::notation::{
    Error, change_set_from_json, change_set_to_json, key_set_from_json, key_set_to_json,
};
use pathline_keys::{ChangeKind, ChangeSet, Key, KeySet, Metadata, Name};
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
    assert_eq!(change_set_to_json(&changes).expect("texts"), expected);
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

#[test]
fn what_is_not_a_change_set_is_refused() {
    for text in [
        "1",
        r#"{"changed": []}"#,
        r#"{"added": [{"value": "1"}]}"#,
        r#"{"modified": [{"name": "user:/a", "old": {}}]}"#,
        r#"{"added": [{"name": "user:/a", "value": 1}]}"#,
    ] {
        let refused = change_set_from_json(text);
        assert!(matches!(refused, Err(Error::Json(_))), "{text}");
    }
    assert!(matches!(
        change_set_from_json(r#"{"removed": [{"name": "a"}]}"#),
        Err(Error::Name { .. })
    ));
    assert!(matches!(
        change_set_from_json(r#"{"added": [{"name": "/a", "meta": {"/": ""}}]}"#),
        Err(Error::Name { .. })
    ));
    assert!(matches!(
        change_set_from_json(r#"{"added": [{"name": "/a", "value": {"base64": "?"}}]}"#),
        Err(Error::Bytes { .. })
    ));
}

#[test]
fn an_array_is_no_object() {
    for text in [
        "[]",
        "[[], [], []]",
        r#"{"added": [["user:/a", "1"]]}"#,
        r#"{"removed": [["user:/a", "1", {}]]}"#,
        r#"{"added": [{"name": "user:/a", "value": ["AP8="]}]}"#,
        r#"{"added": [{"name": "user:/a", "meta": [["unit", "s"]]}]}"#,
        r#"{"modified": [["user:/a", {}, {}]]}"#,
        r#"{"modified": [{"name": "user:/a", "old": ["1"], "new": {}}]}"#,
        r#"{"modified": [{"name": "user:/a", "old": {}, "new": ["1", {}]}]}"#,
    ] {
        let refused = change_set_from_json(text);
        assert!(matches!(refused, Err(Error::Json(_))), "{text}");
        assert!(serde_json::from_str::<ChangeSet>(text).is_err(), "{text}");
    }
    for text in [r#"[["user:/a", "1"]]"#, r#"[{"n": "user:/a", "m": []}]"#] {
        let refused = key_set_from_json(text);
        assert!(matches!(refused, Err(Error::Json(_))), "{text}");
        assert!(serde_json::from_str::<KeySet>(text).is_err(), "{text}");
    }
    assert!(serde_json::from_str::<Key>(r#"["user:/a", "1"]"#).is_err());
}

#[test]
fn metadata_that_is_there_twice_is_refused_however_it_is_spelled() {
    for metadata in [
        r#"{"a": "1", "meta:/a": "2"}"#,
        r#"{"meta:/a": "1", "a": "1"}"#,
        r#"{"a": "1", "a": "2"}"#,
        r#"{"a": null, "/a/": null}"#,
    ] {
        let key = format!(r#"{{"n": "user:/k", "m": {metadata}}}"#);
        let side = format!(r#"{{"value": "1", "meta": {metadata}}}"#);
        let refused = [
            key_set_from_json(&format!("[{key}]")).map(|_| ()),
            change_set_from_json(&format!(
                r#"{{"added": [{{"name": "user:/k", "meta": {metadata}}}]}}"#
            ))
            .map(|_| ()),
            change_set_from_json(&format!(
                r#"{{"modified": [{{"name": "user:/k", "old": {side}, "new": {{}}}}]}}"#
            ))
            .map(|_| ()),
        ];
        for refused in refused {
            let error = refused.expect_err(metadata).to_string();
            assert!(error.starts_with("user:/k: the metadata `"), "{error}");
            assert!(error.ends_with("` is there twice"), "{error}");
        }
        assert!(serde_json::from_str::<Key>(&key).is_err(), "{metadata}");
        assert!(
            serde_json::from_str::<Metadata>(metadata).is_err(),
            "{metadata}"
        );
    }
    let both = r#"{"a": "1", "a/meta:": "2", "meta:/meta:/a": "3"}"#;
    let metadata: Metadata = serde_json::from_str(both).expect("three names");
    assert_eq!(metadata.len(), 3);
}

#[test]
fn metadata_survives_printing_whatever_its_name() {
    let key = Key::new("user:/a".parse().expect("a name"))
        .with_value(vec![1])
        .with_meta("check/binary", "1")
        .and_then(|key| key.with_meta("meta:/meta:/x", "2"))
        .and_then(|key| key.with_meta("x", "3"))
        .expect("metadata names");
    let keys = KeySet::from_iter([key]);
    let printed = key_set_to_json(&keys).expect("texts");
    assert_eq!(
        printed,
        json!([{
            "n": "user:/a",
            "bin": "01",
            "m": {"check/binary": "1", "meta:/meta:/x": "2", "x": "3"},
        }])
    );
    assert_eq!(
        key_set_from_json(&printed.to_string()).expect("printed"),
        keys
    );
}

#[test]
fn names_that_are_no_texts_are_not_printed_as_others() {
    let name = Name::parse(b"user:/\xff").expect("any bytes are a name");
    assert!(serde_json::to_string(&name).is_err());
    let keys = KeySet::from_iter([Key::new(name)]);
    assert!(matches!(key_set_to_json(&keys), Err(Error::Json(_))));
    let changes = KeySet::diff(&KeySet::new(), &keys, None);
    assert!(matches!(change_set_to_json(&changes), Err(Error::Json(_))));
}

#[test]
fn each_part_is_serialized_as_in_the_notation() {
    let key: Key = serde_json::from_value(json!({"n": "user://a/", "v": "1", "m": {"unit": "s"}}))
        .expect("a key");
    let canonical = json!({"n": "user:/a", "v": "1", "m": {"unit": "s"}});
    assert_eq!(serde_json::to_value(&key).expect("texts"), canonical);
    let set = KeySet::from_iter([key.clone()]);
    let first = set.iter().next().expect("a key");
    assert_eq!(serde_json::to_value(first).expect("texts"), canonical);
    assert_eq!(
        serde_json::to_value(key.metadata()).expect("texts"),
        json!({"unit": "s"})
    );
    let metadata: Metadata = serde_json::from_value(json!({"unit": "s"})).expect("metadata");
    assert_eq!(&metadata, key.metadata());
    assert_eq!(
        serde_json::to_value(ChangeKind::Modified).expect("a text"),
        json!("modified")
    );
    let by_name: std::collections::BTreeMap<Name, u8> =
        serde_json::from_value(json!({"user:/b/": 1})).expect("names can be keys of maps");
    let printed = serde_json::to_string(&by_name).expect("texts");
    assert_eq!(printed, r#"{"user:/b":1}"#);
}

#[test]
fn serde_says_why_something_is_refused() {
    let refused = |json: &str| {
        let error = serde_json::from_str::<KeySet>(json).expect_err("refused");
        error.to_string()
    };
    let reason = refused(r#"[{"n": "a"}]"#);
    assert!(
        reason.starts_with("`a` is not a name: the name begins"),
        "{reason}"
    );
    let reason = refused(r#"[{"n": "/a"}, {"n": "/a"}]"#);
    assert!(reason.starts_with("/a: there twice"), "{reason}");
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
        let printed = key_set_to_json(old).expect("texts").to_string();
        prop_assert_eq!(&key_set_from_json(&printed).expect("printed"), old);
        prop_assert_eq!(&serde_json::from_str::<KeySet>(&printed).expect("printed"), old);
        let changes = KeySet::diff(old, new, None);
        let printed = change_set_to_json(&changes).expect("texts").to_string();
        prop_assert_eq!(&serde_json::from_str::<ChangeSet>(&printed).expect("printed"), &changes);
        prop_assert_eq!(change_set_from_json(&printed).expect("printed"), changes);
    }
}
