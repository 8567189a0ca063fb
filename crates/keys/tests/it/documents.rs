//! Documents as keys, and back.

use pathline_keys::document::{self, Format, ReadErrorKind, WriteError};
use pathline_keys::{KeySet, Name, short_name};
use pathline_testkit::cases;
use proptest::prelude::*;
use serde_json::{Value, json};

fn read(format: Format, text: &str) -> KeySet {
    document::read(format, text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// Shows keys as `name=value {metadata}`.
fn lines(keys: &KeySet) -> Vec<String> {
    let show = |key: pathline_keys::KeyRef<'_>| {
        let metadata: Vec<_> = key
            .metadata()
            .iter()
            .map(|(name, text)| format!("{}={text}", short_name(name)))
            .collect();
        let value = key.value().text().unwrap_or("(binary)").to_owned();
        format!("{}={value} {{{}}}", key.name(), metadata.join(" ")).replace(" {}", "")
    };
    keys.iter().map(show).collect()
}

#[test]
fn what_a_value_cannot_say_is_metadata() {
    let text = "
        quoted: \"1.10\"
        float: 1.10
        whole: 0x1f
        yes: yes
        truth: True
        nothing: ~
        none: {}
        no: []
        list: [a, {b: c}]
        '#0': text
        '#10': text
        'a/b': text
        deep: {'': x}
    ";
    assert_eq!(
        lines(&read(Format::Yaml, text)),
        [
            "user:/#0=text",
            r"user:/\#10=text",
            r"user:/a\/b=text",
            "user:/deep/%=x",
            "user:/float=1.1 {type=float}",
            "user:/list= {array=}",
            "user:/list/#0=a",
            "user:/list/#1/b=c",
            "user:/no= {array=}",
            "user:/none= {map=}",
            "user:/nothing= {type=null}",
            "user:/quoted=1.10",
            "user:/truth=true {type=boolean}",
            "user:/whole=31 {type=integer}",
            "user:/yes=yes",
        ]
    );
}

#[test]
fn a_map_with_an_index_for_a_key_differs_from_a_list() {
    let list = read(Format::Json, r#"{"a": ["x"]}"#);
    let map = read(Format::Json, r##"{"a": {"#0": "x"}}"##);
    let changes = KeySet::diff(&list, &map, None);
    assert_eq!(changes.len(), 1);
    assert_eq!(
        changes.removed().next().map(|key| key.name()),
        Name::parse("user:/a").ok()
    );
}

#[test]
fn appending_to_a_list_is_one_change() {
    let ten: Vec<_> = (0..10).collect();
    let eleven: Vec<_> = (0..11).collect();
    let (old, new) = (json!(ten).to_string(), json!(eleven).to_string());
    let changes = KeySet::diff(&read(Format::Json, &old), &read(Format::Json, &new), None);
    let names: Vec<_> = changes
        .iter()
        .map(|change| change.name().to_string())
        .collect();
    assert_eq!(names, ["user:/#_10"]);
}

#[test]
fn numbers_that_are_equal_are_no_change_and_types_are_one() {
    let one = read(Format::Json, r#"{"a": 1.10, "b": 1e2, "c": -0.0, "d": 0}"#);
    assert_eq!(
        one,
        read(Format::Json, r#"{"a": 1.1, "b": 100.0, "c": 0.0, "d": -0}"#)
    );
    assert_eq!(one, read(Format::Yaml, "{a: 1.10, b: 1e+2, c: 0., d: 0o0}"));
    for other in [r#""1.1""#, "1", "true", "null", "[]", "{}"] {
        let other = read(
            Format::Json,
            &format!(r#"{{"a": {other}, "b": 1e2, "c": 0.0, "d": 0}}"#),
        );
        assert_eq!(KeySet::diff(&one, &other, None).len(), 1);
    }
}

#[test]
fn scalars_and_empty_documents_are_the_root() {
    for (text, line) in [
        ("3", "user:/=3 {type=integer}"),
        ("\"\"", "user:/="),
        ("null", "user:/= {type=null}"),
        ("{}", "user:/= {map=}"),
        ("[]", "user:/= {array=}"),
    ] {
        assert_eq!(lines(&read(Format::Json, text)), [line]);
        assert_eq!(lines(&read(Format::Yaml, text)), [line]);
    }
    assert_eq!(lines(&read(Format::Yaml, "")), ["user:/= {type=null}"]);
    assert_eq!(lines(&read(Format::Toml, "")), ["user:/= {map=}"]);
}

#[test]
fn yaml_tags_and_typed_keys_survive() {
    let text = "1: one\n'2': two\ntrue: {a: b}\nref: !Ref bucket\nbytes: !!binary aGk=\n\
                text: !!str 5\nset: !custom {x: y}\nlist: !seq [z]\n";
    let keys = read(Format::Yaml, text);
    let shown = lines(&keys);
    for line in [
        "user:/1=one {key=integer}",
        "user:/2=two",
        "user:/bytes=(binary) {binary=}",
        "user:/ref=bucket {tag=!Ref}",
        "user:/set= {map= tag=!custom}",
        "user:/text=5",
        "user:/true= {key=boolean map=}",
    ] {
        assert!(
            shown.iter().any(|known| known == line),
            "{line} in {shown:#?}"
        );
    }
    assert_eq!(
        read(
            Format::Yaml,
            &document::write(Format::Yaml, &keys).expect("it came from YAML")
        ),
        keys
    );
}

#[test]
fn aliases_and_merge_keys_are_resolved() {
    let text = "base: &base {a: 1, b: 2}\nmore: &more {b: 3, c: 4}\n\
                one: {<<: *base, b: 5}\nboth: {<<: [*more, *base]}\nsame: *base\n&k key: *k\n";
    let plain = "base: {a: 1, b: 2}\nmore: {b: 3, c: 4}\none: {a: 1, b: 5}\n\
                 both: {a: 1, b: 3, c: 4}\nsame: {a: 1, b: 2}\nkey: key\n";
    assert_eq!(read(Format::Yaml, text), read(Format::Yaml, plain));
    assert_eq!(lines(&read(Format::Yaml, "'<<': text")), ["user:/<<=text"]);
}

#[test]
fn toml_tables_dates_and_arrays_of_tables_are_keys() {
    let text = "title = \"x\"\n[owner]\ndob = 1979-05-27T07:32:00Z\nspread = inf\n\
                [[fruit]]\nname = \"apple\"\n[[fruit]]\nname = { a.b = 1 }\n";
    let keys = read(Format::Toml, text);
    assert_eq!(
        lines(&keys),
        [
            "user:/fruit= {array=}",
            "user:/fruit/#0/name=apple",
            "user:/fruit/#1/name/a/b=1 {type=integer}",
            "user:/owner/dob=1979-05-27T07:32:00Z {type=datetime}",
            "user:/owner/spread=inf {type=float}",
            "user:/title=x",
        ]
    );
    assert_eq!(
        read(
            Format::Toml,
            &document::write(Format::Toml, &keys).expect("it came from TOML")
        ),
        keys
    );
}

#[test]
fn what_is_not_representable_is_an_error_with_line_and_column() {
    use ReadErrorKind::{Document, EmptyKey, NulInKey, OutOfRange, SeveralDocuments};
    use pathline_document::ReadErrorKind::{DuplicateKey, Merge, NonScalarKey, Recursive};
    let duplicate = |key: &str| Document(DuplicateKey(key.to_owned()));
    let table = [
        (Format::Json, "{\n \"a\\u0000\": 1}", 2, 2, NulInKey),
        (Format::Yaml, "x: 1\n\"a\\0\": 1", 2, 1, NulInKey),
        (Format::Toml, "x = 1\n\"a\\u0000\" = 1", 2, 1, NulInKey),
        (Format::Json, "{\"é\": 1, \"\": 1}", 1, 10, EmptyKey),
        (Format::Yaml, "\n'': 1", 2, 1, EmptyKey),
        (Format::Toml, "\"\" = 1", 1, 1, EmptyKey),
        (
            Format::Json,
            "{\"a\": {\"b\": 1,\n\"b\": 2}}",
            2,
            1,
            duplicate("b"),
        ),
        (Format::Yaml, "a: 1\nb: 2\na: 3", 3, 1, duplicate("a")),
        (Format::Yaml, "1: a\n'1': b", 2, 1, duplicate("1")),
        (
            Format::Yaml,
            "a: 1\n? {x: y}\n: 2",
            2,
            3,
            Document(NonScalarKey),
        ),
        (
            Format::Yaml,
            "k: &k [1]\n*k : 2",
            2,
            1,
            Document(NonScalarKey),
        ),
        (Format::Yaml, "a: 1\n---\nb: 2", 2, 1, SeveralDocuments),
        (Format::Yaml, "a: 1\n<<: 2", 2, 1, Document(Merge)),
        (Format::Yaml, "a: &a\n  b: *a", 2, 6, Document(Recursive)),
        (
            Format::Json,
            "[1,\n 1e400]",
            2,
            2,
            OutOfRange("1e400".to_owned()),
        ),
    ];
    for (format, text, line, column, kind) in table {
        let error = document::read(format, text).expect_err(text);
        assert_eq!(
            (error.at.line, error.at.column, error.kind),
            (line, column, kind),
            "{text}"
        );
    }
}

#[test]
fn keys_that_are_no_document_are_refused() {
    let keys = |json: Value| {
        pathline_keys::notation::key_set_from_json(&json.to_string()).expect("a key set")
    };
    let refused =
        |set: Value| document::write(Format::Yaml, &keys(set)).expect_err("not a document");
    assert!(matches!(
        refused(json!([{"n": "system:/a"}])),
        WriteError::Outside { .. }
    ));
    let below = json!([{"n": "user:/a", "v": "1"}, {"n": "user:/a/b"}]);
    assert!(matches!(refused(below), WriteError::BelowScalar { .. }));
    let gap = json!([{"n": "user:/a", "m": {"array": ""}}, {"n": "user:/a/#1"}]);
    assert!(matches!(refused(gap), WriteError::NotAnIndex { .. }));
    let no_number = json!([{"n": "user:/a", "v": "x", "m": {"type": "integer"}}]);
    assert!(matches!(refused(no_number), WriteError::WrongType { .. }));
    let bytes = keys(json!([{"n": "user:/a", "bin": "00"}]));
    assert!(matches!(
        document::write(Format::Json, &bytes),
        Err(WriteError::Unsupported { .. })
    ));
}

/// Texts that other readers of YAML take for something else.
fn tricky() -> impl Strategy<Value = String> {
    let words = [
        "",
        " ",
        "no",
        "Yes",
        "~",
        "null",
        "1",
        "1.10",
        "0x1",
        "-",
        "- a",
        "a: b",
        "#",
        "#0",
        "#_10",
        "<<",
        "---",
        "...",
        "? x",
        "!t",
        "&a",
        "*a",
        "[",
        "{",
        "%",
        ".inf",
        "1e3",
        "\u{85}",
        "\u{feff}",
        "a\nb",
        "tab\t",
        "é",
        "\u{2028}",
        "'",
        "\"",
        "\\",
        "=",
        "2001-01-01",
        "\u{1f600}",
        "\r\n",
    ];
    proptest::sample::select(words.to_vec()).prop_map(str::to_owned)
}

fn any_json() -> impl Strategy<Value = Value> {
    let text = prop_oneof![tricky(), "[ -~]{0,8}", any::<String>()];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f32>()
            .prop_filter("JSON has no others", |f| f.is_finite())
            .prop_map(|f| Value::from(f64::from(f))),
        text.clone().prop_map(Value::from),
    ];
    let key = text.prop_filter("a key of a map", |key| {
        !key.is_empty() && !key.contains('\0')
    });
    leaf.prop_recursive(4, 40, 6, move |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..12).prop_map(Value::from),
            proptest::collection::btree_map(key.clone(), inner, 0..6)
                .prop_map(|map| map.into_iter().collect::<serde_json::Map<_, _>>().into()),
        ]
    })
}

/// Compares JSON as parsed. The other reader may be off by the last bits of a float.
fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) if a.is_f64() && b.is_f64() => {
            let (a, b) = (a.as_f64().unwrap_or(0.0), b.as_f64().unwrap_or(1.0));
            (a - b).abs() <= a.abs() * 1e-14
        }
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len()
                && a.iter()
                    .all(|(key, value)| b.get(key).is_some_and(|other| same(value, other)))
        }
        (a, b) => a == b,
    }
}

proptest! {
    #![proptest_config(cases(400))]

    #[test]
    fn json_survives_keys_and_so_does_its_yaml(value in any_json()) {
        let keys = read(Format::Json, &value.to_string());
        let json = document::write(Format::Json, &keys).expect("it came from JSON");
        let back: Value = serde_json::from_str(&json).expect("JSON by another reader");
        prop_assert!(same(&value, &back), "{value} became {back}");
        prop_assert_eq!(&read(Format::Json, &json), &keys);
        let yaml = document::write(Format::Yaml, &keys).expect("YAML can say all that JSON can");
        prop_assert_eq!(&read(Format::Yaml, &yaml), &keys, "{}", yaml);
        let pretty = serde_json::to_string_pretty(&value).expect("a value");
        prop_assert_eq!(&read(Format::Json, &pretty), &keys);
    }

    #[test]
    fn toml_survives_keys(value in any_json()) {
        let keys = read(Format::Json, &value.to_string());
        if let Ok(toml) = document::write(Format::Toml, &keys) {
            prop_assert_eq!(&read(Format::Toml, &toml), &keys, "{}", toml);
        }
    }

    #[test]
    fn any_text_is_read_or_refused(text in "[ \\n:\\[\\]{},&*!a#\"'<0-9.-]{0,40}") {
        for format in [Format::Json, Format::Toml, Format::Yaml] {
            if let Ok(keys) = document::read(format, &text) {
                let written = document::write(format, &keys).expect("what was read can be written");
                prop_assert_eq!(&read(format, &written), &keys, "{:?} {}", text, written);
            }
        }
    }

    #[test]
    fn different_documents_have_different_keys(a in any_json(), b in any_json()) {
        let (a_keys, b_keys) = (read(Format::Json, &a.to_string()), read(Format::Json, &b.to_string()));
        prop_assert_eq!(same(&a, &b), KeySet::diff(&a_keys, &b_keys, None).is_empty());
    }
}
