//! Keys that a document cannot hold are refused by name; nothing is lost without a word.

use pathline_keys::document::{self, Format, WriteError};
use pathline_keys::notation::key_set_from_json;
use pathline_keys::{Key, KeySet, Metadata, Name};
use pathline_testkit::cases;
use proptest::prelude::*;
use serde_json::{Value, json};

const FORMATS: [Format; 3] = [Format::Json, Format::Toml, Format::Yaml];

fn keys(json: &Value) -> KeySet {
    key_set_from_json(&json.to_string()).expect("a key set")
}

#[test]
fn metadata_that_no_document_can_hold_is_refused_by_key_and_name() {
    let below = json!({"n": "user:/a/b", "v": "1"});
    for (key, metadata, text) in [
        (
            json!({"n": "user:/a", "v": "5", "m": {"check/range": "1-10"}}),
            "check/range",
            "1-10",
        ),
        (
            json!({"n": "user:/a", "v": "x", "m": {"type": "string"}}),
            "type",
            "string",
        ),
        (
            json!({"n": "user:/a", "v": "5", "m": {"type": "integer", "unit": "s"}}),
            "unit",
            "s",
        ),
        (
            json!({"n": "user:/a", "v": "x", "m": {"array": ""}}),
            "array",
            "",
        ),
        (json!({"n": "user:/a", "m": {"array": "#0"}}), "array", "#0"),
        (
            json!({"n": "user:/a", "m": {"array": "", "map": ""}}),
            "map",
            "",
        ),
        (
            json!({"n": "user:/a", "m": {"map": "", "type": "null"}}),
            "type",
            "null",
        ),
        (
            json!({"n": "user:/a", "v": "x", "m": {"key": "integer"}}),
            "key",
            "integer",
        ),
        (
            json!({"n": "user:/a", "v": "x", "m": {"key": "text"}}),
            "key",
            "text",
        ),
        (
            json!([{"n": "user:/a", "m": {"map": ""}}, below]),
            "map",
            "",
        ),
        (
            json!([{"n": "user:/a", "m": {"map": "", "unit": "s"}}, below]),
            "map",
            "",
        ),
    ] {
        let set = if key.is_array() { key } else { json!([key]) };
        for format in FORMATS {
            let refused = document::write(format, &keys(&set)).expect_err("it would be lost");
            let expected = WriteError::Metadata {
                name: Name::parse("user:/a").expect("a name"),
                metadata: metadata.to_owned(),
                text: text.to_owned(),
            };
            assert_eq!(refused, expected, "{set}");
        }
    }
}

#[test]
fn the_message_says_which_metadata_of_which_key() {
    let set = keys(&json!([{"n": "user:/port", "v": "80", "m": {"check/range": "1-10"}}]));
    let refused = document::write(Format::Yaml, &set).expect_err("it would be lost");
    assert_eq!(
        refused.to_string(),
        "user:/port: a document cannot hold the metadata `check/range` (`1-10`)"
    );
}

#[test]
fn tags_that_yaml_would_read_as_something_else_are_refused() {
    for (key, metadata) in [
        (
            json!({"n": "user:/a", "v": "x", "m": {"tag": "tag:yaml.org,2002:int"}}),
            "tag",
        ),
        (
            json!({"n": "user:/a", "v": "x", "m": {"tag": "tag:yaml.org,2002:str"}}),
            "tag",
        ),
        (json!({"n": "user:/a", "v": "x", "m": {"tag": ""}}), "tag"),
        (json!({"n": "user:/a", "v": "x", "m": {"tag": "!"}}), "tag"),
        (
            json!({"n": "user:/a", "bin": "00", "m": {"tag": "!t"}}),
            "tag",
        ),
        (
            json!({"n": "user:/a", "v": "5", "m": {"tag": "!t", "type": "integer"}}),
            "type",
        ),
    ] {
        let refused = document::write(Format::Yaml, &keys(&json!([key])));
        assert!(
            matches!(&refused, Err(WriteError::Metadata { metadata: lost, .. }) if lost == metadata),
            "{key}: {refused:?}"
        );
    }
}

#[test]
fn a_type_for_the_key_of_a_map_is_refused_where_there_is_none() {
    let typed = json!({"key": "integer"});
    for set in [
        json!([{"n": "user:/", "v": "x", "m": typed}]),
        json!([{"n": "user:/01", "v": "x", "m": typed}]),
        json!([{"n": "user:/01", "m": typed}, {"n": "user:/1", "m": typed}]),
        json!([{"n": "user:/", "m": {"array": ""}}, {"n": "user:/#0", "v": "x", "m": typed}]),
    ] {
        let refused = document::write(Format::Yaml, &keys(&set));
        assert!(
            matches!(&refused, Err(WriteError::Metadata { metadata, .. }) if metadata == "key"),
            "{set}: {refused:?}"
        );
    }
}

#[test]
fn an_empty_key_above_others_is_refused() {
    for above in ["user:/", "user:/a"] {
        let set = keys(&json!([{"n": above, "v": ""}, {"n": "user:/a/b", "v": "1"}]));
        for format in FORMATS {
            let refused = document::write(format, &set);
            assert!(
                matches!(refused, Err(WriteError::BelowScalar { .. })),
                "{refused:?}"
            );
        }
    }
}

#[test]
fn what_is_too_deep_to_be_read_again_is_not_written() {
    let deep = format!("{{\"a\": {}{}}}", "[".repeat(200), "]".repeat(200));
    let keys = document::read(Format::Json, &deep).expect("valid");
    let refused = document::write(Format::Toml, &keys);
    assert!(
        matches!(refused, Err(WriteError::Unreadable(_))),
        "{refused:?}"
    );
}

#[test]
fn no_keys_at_all_are_an_empty_map() {
    assert_eq!(
        document::write(Format::Json, &KeySet::new()).as_deref(),
        Ok("{}\n")
    );
    assert_eq!(
        document::write(Format::Toml, &KeySet::new()).as_deref(),
        Ok("")
    );
}

fn any_key() -> impl Strategy<Value = Key> {
    let name = proptest::sample::select(vec![
        "user:/",
        "user:/a",
        "user:/a/#0",
        "user:/a/#1",
        "user:/a/b",
        "user:/1",
        "user:/01",
        "user:/true",
        "user:/#0",
    ]);
    let value = proptest::sample::select(vec!["", "1", "01", "1.5", "true", "x", "null", "{}"]);
    let entry = proptest::sample::select(vec![
        ("array", ""),
        ("array", "#0"),
        ("map", ""),
        ("type", "integer"),
        ("type", "float"),
        ("type", "boolean"),
        ("type", "null"),
        ("type", "datetime"),
        ("type", "string"),
        ("key", "integer"),
        ("key", "boolean"),
        ("tag", "!t"),
        ("tag", "tag:yaml.org,2002:int"),
        ("tag", "a b"),
        ("unit", "s"),
    ]);
    let entries = proptest::collection::vec(entry, 0..3);
    (name, value, entries, any::<bool>()).prop_map(|(name, value, entries, is_binary)| {
        let mut metadata = Metadata::new();
        for (name, text) in entries {
            metadata.insert(name, text).expect("a metadata name");
        }
        let key = Key::new(name.parse().expect("a name")).with_metadata(metadata);
        if is_binary && value == "x" {
            key.with_value(value.as_bytes())
        } else {
            key.with_value(value)
        }
    })
}

proptest! {
    #![proptest_config(cases(2000))]

    #[test]
    fn keys_are_refused_or_read_back_equal(all in proptest::collection::vec(any_key(), 1..5)) {
        let keys = KeySet::from_iter(all);
        for format in FORMATS {
            match document::write(format, &keys) {
                Ok(text) => prop_assert_eq!(&document::read(format, &text).expect("written"), &keys, "{}", text),
                Err(error) => prop_assert!(!error.to_string().is_empty()),
            }
        }
    }
}
