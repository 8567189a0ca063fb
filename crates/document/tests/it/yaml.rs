//! Streams of YAML documents, as JSON and with their places.

use pathline_document::{Document, Format, Lines, Path, Position};
use serde_json::{Value, json};

fn values(text: &str) -> Vec<Value> {
    let documents = Format::Yaml.read(text).expect("the test wrote YAML");
    let values = documents.iter().map(Document::to_json);
    values.filter(|value| !value.is_null()).collect()
}

fn error(text: &str) -> String {
    let error = Format::Yaml.read(text).expect_err("it cannot be read");
    error.to_string()
}

#[test]
fn every_document_becomes_a_value() {
    let text = "# a comment\n---\na: yes\nb: [1, -2, 0x10, 1.5, .5, 007]\n---\n---\n{c: ~, d: true, 1: 'no'}\n";
    assert_eq!(
        values(text),
        [
            json!({"a": "yes", "b": [1, -2, 16, 1.5, 0.5, 7]}),
            json!({"c": null, "d": true, "1": "no"}),
        ]
    );
    assert_eq!(values(""), Vec::<Value>::new());
}

#[test]
fn quoted_and_tagged_scalars_are_what_they_say() {
    assert_eq!(
        values("a: !!str 1\nb: '2'\nc: |\n  3\nd: 1e400\ne: 99999999999999999999"),
        [json!({"a": "1", "b": "2", "c": "3\n", "d": "1e400", "e": 1e20})]
    );
}

#[test]
fn aliases_and_merge_keys_are_resolved() {
    let text = "base: &base {a: 1, b: 2}\nnext:\n  <<: *base\n  b: 3\nlist: [*base]\n";
    assert_eq!(
        values(text)[0],
        json!({"base": {"a": 1, "b": 2}, "next": {"b": 3, "a": 1}, "list": [{"a": 1, "b": 2}]})
    );
}

#[test]
fn places_are_those_of_what_is_written() {
    let text = "a:\n  - name: x\n    é: [1, 2]\n  - {name: \"y\"}\n";
    let document = &Format::Yaml.read(text).expect("YAML")[0];
    let item = |index| Path::default().key("a").index(index);
    let written = |path: &Path| &text[document.span(path)];
    assert_eq!(written(&item(0).key("name")), "x");
    assert_eq!(written(&item(0).key("é")), "é");
    assert_eq!(written(&item(0).key("é").index(1)), "2");
    assert_eq!(written(&item(1).key("name")), "\"y\"");
    assert_eq!(&text[document.key_span(&item(1).key("name"))], "name");
    assert_eq!(written(&item(0).key("missing")), "name: x");
    assert_eq!(written(&item(7)), "a");
    let place = document.span(&item(0).key("é").index(1));
    assert_eq!(
        Lines::new(text).position(place.start),
        Position {
            line: 3,
            column: 12
        }
    );
}

#[test]
fn what_cannot_be_read_says_where() {
    assert_eq!(
        error("a: 1\na: 2"),
        "line 2, column 1: the key `a` is there twice"
    );
    assert_eq!(
        error("? [a]\n: 1"),
        "line 1, column 3: a key that is not a scalar"
    );
    assert_eq!(
        error("a: &a [*a]"),
        "line 1, column 8: an alias cannot repeat what it is part of"
    );
    assert_eq!(
        error("<<: 1"),
        "line 1, column 1: `<<` takes a map, or a list of maps"
    );
    assert!(
        error("a: [1").starts_with("line 1, column "),
        "{}",
        error("a: [1")
    );
    assert!(
        error("a: b: c").starts_with("line 1, column 5"),
        "{}",
        error("a: b: c")
    );
    assert!(
        error("a: *b").starts_with("line 1, column 4"),
        "{}",
        error("a: *b")
    );
}

#[test]
fn bombs_and_deep_nesting_are_refused() {
    let mut bomb = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
    for level in 1..10 {
        let before = format!("*a{}", level - 1);
        bomb += &format!(
            "a{level}: &a{level} [{}]\n",
            [before.as_str(); 10].join(", ")
        );
    }
    assert!(
        error(&bomb).contains("more than 2000000 values"),
        "{}",
        error(&bomb)
    );
    for deep in [
        "[".repeat(200_000),
        "- ".repeat(200_000),
        "{a: ".repeat(200_000),
    ] {
        assert!(error(&deep).contains("values nest deeper than 100 levels"));
    }
    let fits = format!("{}{}", "[".repeat(100), "]".repeat(100));
    assert_eq!(values(&fits).len(), 1);
}

#[test]
fn aliases_cannot_nest_deeper_than_the_limit() {
    let mut text = format!("a0: &a0 {}{}\n", "[".repeat(90), "]".repeat(90));
    for level in 1..1000 {
        let (open, close) = ("[".repeat(90), "]".repeat(90));
        text += &format!("a{level}: &a{level} {open}*a{}{close}\n", level - 1);
    }
    assert!(error(&text).starts_with("line 2, "), "{}", error(&text));
    assert!(error(&text).ends_with("values nest deeper than 100 levels"));
    let merged = format!("a: &a\n  b: {}{}\n", "[".repeat(97), "]".repeat(97));
    assert_eq!(values(&format!("{merged}c: {{<<: *a}}")).len(), 1);
    assert!(error(&format!("{merged}c: {{d: {{<<: *a}}}}")).contains("deeper than 100"));
}

#[test]
fn keys_that_mean_the_same_are_there_twice() {
    assert_eq!(
        error("1: a\n0x1: b"),
        "line 2, column 1: the key `1` is there twice"
    );
    assert_eq!(values("0x10: a"), [json!({"0x10": "a"})]);
}

#[test]
fn a_scalar_is_of_the_type_that_its_tag_says() {
    assert_eq!(
        error("a: !!int x"),
        "line 1, column 10: `x` is not of type `!!int`"
    );
    assert_eq!(
        values("a: !!binary aGk=\nb: !Ref x\nc: !!float 3\nd: -0.0\ne: .Inf"),
        [json!({"a": "aGk=", "b": "x", "c": 3, "d": -0.0, "e": ".Inf"})]
    );
}
