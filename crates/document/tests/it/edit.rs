//! Edits of texts, in every format.

use pathline_document::{Document, Edited, Format, Path, Reason};
use serde_json::{Value, json};

/// Reads a path as `a.b[0].c`.
pub(crate) fn path(text: &str) -> Path {
    let mut path = Path::default();
    for part in text.split('.').filter(|part| !part.is_empty()) {
        let (key, indices) = part.split_once('[').unwrap_or((part, ""));
        if !key.is_empty() {
            path = path.key(key);
        }
        for index in indices.split(['[', ']']).filter(|index| !index.is_empty()) {
            path = path.index(index.parse().expect("an index"));
        }
    }
    path
}

fn edit(format: Format, text: &str, at: &str, value: Option<Value>) -> Result<Edited, Reason> {
    let edits = [(path(at), value.map(Document::from))];
    format.edit(text, &edits).map_err(|refused| refused.reason)
}

#[track_caller]
fn holds(format: Format, table: &[(&str, &str, Option<Value>, &str)]) {
    for (text, at, value, expected) in table {
        let newlines = ["\n", "\r\n"].into_iter();
        for newline in newlines.take(1 + usize::from(text.contains('\n'))) {
            let text = text.replace('\n', newline);
            let edited = edit(format, &text, at, value.clone());
            let edited = edited.unwrap_or_else(|reason| panic!("{at} in {text:?}: {reason}"));
            assert_eq!(
                edited.text,
                expected.replace('\n', newline),
                "{at} in {text:?}"
            );
            check_touched(&text, &edited);
        }
    }
}

pub(crate) fn check_touched(old: &str, edited: &Edited) {
    let (mut old_at, mut new_at) = (0, 0);
    for touched in &edited.touched {
        let kept = &old[old_at..touched.old.start];
        assert_eq!(kept, &edited.text[new_at..touched.new.start]);
        (old_at, new_at) = (touched.old.end, touched.new.end);
    }
    assert_eq!(&old[old_at..], &edited.text[new_at..]);
}

#[track_caller]
fn refused(format: Format, table: &[(&str, &str, Option<Value>, Reason)]) {
    for (text, at, value, expected) in table {
        let edited = edit(format, text, at, value.clone());
        assert_eq!(edited.as_ref(), Err(expected), "{at} in {text:?}");
    }
}

#[test]
fn values_of_yaml_are_replaced_in_their_quotes() {
    let set = |text| Some(json!(text));
    holds(
        Format::Yaml,
        &[
            ("a: 1 # c\nb: 2\n", "a", Some(json!(5)), "a: 5 # c\nb: 2\n"),
            ("a: 'x'\n", "a", set("it's"), "a: 'it''s'\n"),
            ("a: \"x\"\n", "a", set("y\n"), "a: \"y\\n\"\n"),
            (
                "image: app:1.0\n",
                "image",
                set("app:1.1"),
                "image: app:1.1\n",
            ),
            ("v: 1.2.3\n", "v", set("1.2.4"), "v: 1.2.4\n"),
            ("a: x\n", "a", set("1.10"), "a: \"1.10\"\n"),
            ("a: x\n", "a", set("yes"), "a: \"yes\"\n"),
            ("a: x\n", "a", set("b: c"), "a: \"b: c\"\n"),
            ("a: x\n", "a", set("2001-01-01"), "a: \"2001-01-01\"\n"),
            ("{a: x, b: 1}\n", "a", set("p:q"), "{a: \"p:q\", b: 1}\n"),
            ("a: x\n  y\nb: 1\n", "a", set("z"), "a: z\nb: 1\n"),
            (
                "a: |\n  x\n  y\n\nb: 1\n",
                "a",
                set("p\n\nq\n"),
                "a: |\n  p\n\n  q\n\nb: 1\n",
            ),
            ("a: |-\n    x\n", "a", set("y"), "a: |-\n    y\n"),
            ("a: |\n  x\nb: 1\n", "a", Some(json!(1)), "a: 1\nb: 1\n"),
            ("a: >-\n  x\n  y\nb: 1\n", "a", set("p q"), "a: p q\nb: 1\n"),
            ("a:\nb: 1\n", "a", Some(json!(2)), "a: 2\nb: 1\n"),
            ("a: # c\nb: 1\n", "a", Some(json!(2)), "a: 2 # c\nb: 1\n"),
            ("- 1\n-\n- 3\n", "[1]", Some(json!(2)), "- 1\n- 2\n- 3\n"),
            ("a:\n-\n- 3\n", "a[0]", Some(json!(2)), "a:\n- 2\n- 3\n"),
            ("{a: , b}\n", "a", Some(json!(2)), "{a: 2 , b}\n"),
            ("{a: , b}\n", "b", Some(json!(2)), "{a: , b: 2}\n"),
            ("b: &x 1\nc: *x\n", "c", Some(json!(2)), "b: &x 1\nc: 2\n"),
            ("b: !t x\n", "b", Some(json!(2)), "b: 2\n"),
            ("b: &x\nc: 1\n", "b", Some(json!(2)), "b: 2\nc: 1\n"),
            ("b: &x !!str\n", "c", Some(json!(2)), "b: &x !!str\nc: 2\n"),
            ("5", "", Some(json!("x")), "x"),
        ],
    );
}

#[test]
fn blocks_of_yaml_are_made_and_replaced() {
    let map = || Some(json!({"x": 1, "w": [2, {"z": 3}]}));
    holds(
        Format::Yaml,
        &[
            (
                "a: 1\nb: 2\n",
                "a",
                map(),
                "a:\n  w:\n  - 2\n  - z: 3\n  x: 1\nb: 2\n",
            ),
            (
                "a: 1 # c\nb: 2\n",
                "a",
                map(),
                "a: # c\n  w:\n  - 2\n  - z: 3\n  x: 1\nb: 2\n",
            ),
            (
                "- 1\n- 2\n",
                "[0]",
                map(),
                "- w:\n  - 2\n  - z: 3\n  x: 1\n- 2\n",
            ),
            (
                "- 1 # c\n- 2\n",
                "[0]",
                Some(json!({"x": 1})),
                "- x: 1 # c\n- 2\n",
            ),
            (
                "a:\n  b: 1 # d\n  c: 2\nd: 3\n",
                "a",
                Some(json!(5)),
                "a: 5\nd: 3\n",
            ),
            (
                "a: # k\n  b: 1\n  c: 2 # l\nd: 3\n",
                "a",
                Some(json!(5)),
                "a: 5 # k\nd: 3\n",
            ),
            (
                "a: # k\n  b: 1\nd: 3\n",
                "a",
                Some(json!([1])),
                "a: # k\n- 1\nd: 3\n",
            ),
            (
                "a:\n  - 1\nd: 3\n",
                "a",
                Some(json!({"b": [1]})),
                "a:\n  b:\n    - 1\nd: 3\n",
            ),
            ("a: {b: 1}\n", "a", Some(json!([])), "a: []\n"),
            ("a:\n", "a.b.c", Some(json!(1)), "a:\n  b:\n    c: 1\n"),
            (
                "a: # c\n",
                "a.b[0]",
                Some(json!(1)),
                "a: # c\n  b:\n  - 1\n",
            ),
            ("", "a.b", Some(json!(1)), "a:\n  b: 1\n"),
            ("# c\n", "a", Some(json!(1)), "# c\na: 1\n"),
            ("---\n", "a", Some(json!(1)), "---\na: 1\n"),
            ("--- 5\n", "", Some(json!([1])), "--- \n- 1\n"),
        ],
    );
}

#[test]
fn entries_of_yaml_are_added_and_removed() {
    holds(
        Format::Yaml,
        &[
            (
                "a:\n- x\n- y # c\nb: 1\n",
                "a[2]",
                Some(json!("z")),
                "a:\n- x\n- y # c\n- z\nb: 1\n",
            ),
            ("a: # c\n- x\n- y\n", "a[0]", None, "a: # c\n- y\n"),
            ("a: &x\n- - x\n  - y\n", "a[0][0]", None, "a: &x\n- - y\n"),
            ("a: 1\n", "b", Some(json!(2)), "a: 1\nb: 2\n"),
            ("a: 1", "b", Some(json!(2)), "a: 1\nb: 2"),
            (
                "a: 1 # c\n\n# d\n",
                "b",
                Some(json!(2)),
                "a: 1 # c\nb: 2\n\n# d\n",
            ),
            (
                "a:\n   b: 1\nc: 1\n",
                "a.x.z",
                Some(json!(2)),
                "a:\n   b: 1\n   x:\n      z: 2\nc: 1\n",
            ),
            (
                "a:\n  - b: 1\n",
                "a[0].c",
                Some(json!(2)),
                "a:\n  - b: 1\n    c: 2\n",
            ),
            (
                "a:\n  - b: 1\n",
                "a[1]",
                Some(json!({"b": 2})),
                "a:\n  - b: 1\n  - b: 2\n",
            ),
            ("a: |\n  x\n", "b", Some(json!(2)), "a: |\n  x\nb: 2\n"),
            ("{a: 1}\n", "b c", Some(json!("d")), "{a: 1, b c: d}\n"),
            (
                "a: {}\n",
                "a.b",
                Some(json!({"c": [1]})),
                "a: {b: {c: [1]}}\n",
            ),
            ("a: [1,2]\n", "a[2]", Some(json!(3)), "a: [1,2,3]\n"),
            (
                "a: [\n  1, # one\n  2 # two\n]\n",
                "a[2]",
                Some(json!(3)),
                "a: [\n  1, # one\n  2, # two\n  3\n]\n",
            ),
            (
                "a: [\n  1,\n  2, # two\n]\n",
                "a[2]",
                Some(json!(3)),
                "a: [\n  1,\n  2, # two\n  3,\n]\n",
            ),
            ("a: 1\nb: 2 # c\nc: 3\n", "b", None, "a: 1\nc: 3\n"),
            (
                "a: 1\n# about b\nb:\n  c: 2\n\nd: 3\n",
                "b",
                None,
                "a: 1\n# about b\n\nd: 3\n",
            ),
            ("a: 1\nb: 2", "b", None, "a: 1"),
            ("a:\n  b: 1\nc: 2\n", "a.b", None, "a: {}\nc: 2\n"),
            (
                "- a: 1\n  b: 2\n- c: 3\n",
                "[0].a",
                None,
                "- b: 2\n- c: 3\n",
            ),
            ("- a: 1\n  b: 2\n- c: 3\n", "[0]", None, "- c: 3\n"),
            ("- - 1\n  - 2\n", "[0][0]", None, "- - 2\n"),
            ("- 1\n-\n- 3\n", "[1]", None, "- 1\n- 3\n"),
            ("{a: 1, b: 2}\n", "a", None, "{b: 2}\n"),
            ("{a: 1, b: 2}\n", "b", None, "{a: 1}\n"),
            ("{ a: 1 }\n", "a", None, "{}\n"),
            ("[\n  1,\n  2 # two\n]\n", "[1]", None, "[\n  1\n]\n"),
            (
                "[\n  1, # one\n  2 # two\n]\n",
                "[1]",
                None,
                "[\n  1, # one\n]\n",
            ),
            (
                "[\n  1, # one\n  2 # two\n]\n",
                "[0]",
                None,
                "[\n  2 # two\n]\n",
            ),
            ("a: 1\n", "b.c", None, "a: 1\n"),
            ("a: 1\n", "a", Some(json!(1)), "a: 1\n"),
            (
                "x: &x {p: 1}\na:\n  <<: *x\n  b: 1\n",
                "a.c",
                Some(json!(2)),
                "x: &x {p: 1}\na:\n  <<: *x\n  b: 1\n  c: 2\n",
            ),
        ],
    );
}

#[test]
fn only_what_differs_in_a_map_is_edited() {
    let text = "# top\na: 1 # one\nb: # two\n  - x # ex\n  - y\nc: {d: 1, e: 2}\nf: 1\n";
    let new = json!({"a": 1, "b": ["x", "z"], "c": {"d": 1, "g": 3}, "h": true});
    let edited = edit(Format::Yaml, text, "", Some(new)).expect("all of it is plain");
    let expected = "# top\na: 1 # one\nb: # two\n  - x # ex\n  - z\nc: {d: 1, g: 3}\nh: true\n";
    assert_eq!(edited.text, expected);
    check_touched(text, &edited);
}

#[test]
fn one_of_several_documents_is_edited() {
    let text = "a: 1\n---\na: 2 # c\n---\n";
    let edits = [(path("a"), Some(Document::from(json!(3))))];
    let edited = Format::Yaml.edit_document(text, 1, &edits).expect("plain");
    assert_eq!(edited.text, "a: 1\n---\na: 3 # c\n---\n");
    let edited = Format::Yaml.edit_document(text, 2, &edits).expect("plain");
    assert_eq!(edited.text, "a: 1\n---\na: 2 # c\n---\na: 3\n");
    let refused = Format::Yaml.edit(text, &edits).expect_err("which?");
    assert_eq!(refused.reason, Reason::SeveralDocuments);
    let refused = Format::Yaml.edit_document(text, 3, &edits);
    assert_eq!(refused.expect_err("none").reason, Reason::NoDocument(3));
}

#[test]
fn what_cannot_be_edited_safely_in_yaml_is_refused() {
    let two = || Some(json!(2));
    let anchors = "x: &x\n  p: 1\ny: *x\nz:\n  <<: *x\n";
    refused(
        Format::Yaml,
        &[
            (anchors, "x.p", two(), Reason::Shared),
            (anchors, "x", None, Reason::Shared),
            (anchors, "y.p", two(), Reason::Alias),
            (anchors, "z.p", two(), Reason::Merged),
            (anchors, "z.p", None, Reason::Merged),
            ("{ # c\n}\n", "a", two(), Reason::Comment),
            ("- a: 1\n  # c\n  b: 2\n", "[0].a", None, Reason::Comment),
            ("a: 1\n", "a.b", two(), Reason::Nowhere),
            ("a: [1]\n", "a[2]", two(), Reason::Index { len: 1 }),
            ("a: [1]\n", "a.b", two(), Reason::Nowhere),
            ("a: 1\n", "b[1]", two(), Reason::Index { len: 0 }),
            ("a: 1\n", "", None, Reason::Root),
            ("a: |+\n  x\n\n", "b", two(), Reason::Unsafe),
            (
                "? a\n: 1\nb: 1\n",
                "a",
                None,
                Reason::Layout("a key with `?`, a tag or an anchor"),
            ),
            (
                "[a: 1]\n",
                "[0].b",
                two(),
                Reason::Layout("a pair without brackets"),
            ),
        ],
    );
    let twice = Format::Yaml.edit("a: 1\na: 2\n", &[]).expect_err("twice");
    assert!(matches!(twice.reason, Reason::Unreadable(_)), "{twice}");
    assert_eq!(twice.to_string(), "the root: the text cannot be read");
}

#[test]
fn json_is_edited() {
    let pretty = "{\n  \"a\": 1,\n  \"b\": [\n    1\n  ]\n}\n";
    holds(
        Format::Json,
        &[
            (
                pretty,
                "a",
                Some(json!("x")),
                "{\n  \"a\": \"x\",\n  \"b\": [\n    1\n  ]\n}\n",
            ),
            (
                pretty,
                "c",
                Some(json!(2)),
                "{\n  \"a\": 1,\n  \"b\": [\n    1\n  ],\n  \"c\": 2\n}\n",
            ),
            (
                pretty,
                "b[1]",
                Some(json!({"x": []})),
                "{\n  \"a\": 1,\n  \"b\": [\n    1,\n    {\"x\": []}\n  ]\n}\n",
            ),
            (pretty, "a", None, "{\n  \"b\": [\n    1\n  ]\n}\n"),
            (pretty, "b", None, "{\n  \"a\": 1\n}\n"),
            (pretty, "b[0]", None, "{\n  \"a\": 1,\n  \"b\": []\n}\n"),
            (
                "{\"a\":1,\"b\":2}",
                "c",
                Some(json!(3)),
                "{\"a\":1,\"b\":2,\"c\":3}",
            ),
            ("{\"a\":1,\"b\":2}", "a", None, "{\"b\":2}"),
            ("{\"a\":1.10}", "a", Some(json!(1.1)), "{\"a\":1.10}"),
            ("null", "a.b", Some(json!(1)), "{\"a\": {\"b\": 1}}"),
            ("{ }", "a", Some(json!(null)), "{\"a\": null}"),
            ("\u{feff}[1]", "[0]", Some(json!(2)), "\u{feff}[2]"),
        ],
    );
}

#[test]
fn toml_is_edited() {
    let text = "# top\ntitle = 'x' # t\na.b = 1\n\n[owner] # o\nname = \"n\"\n\n# fruit\n[[fruit]]\nn = 1\n\n[[fruit]]\nn = 2\n[fruit.sub]\nx = [\n  1, # one\n]\n";
    let with = |from: &str, to: &str| text.replacen(from, to, 1);
    let table = [
        ("title", Some(json!("y")), with("'x'", "'y'")),
        ("title", Some(json!("it's")), with("'x'", "\"it's\"")),
        ("title", None, with("title = 'x' # t\n", "")),
        (
            "new",
            Some(json!({"k": 1})),
            with("a.b = 1\n", "a.b = 1\nnew = {k = 1}\n"),
        ),
        (
            "a.c",
            Some(json!(2)),
            with("a.b = 1\n", "a.b = 1\na.c = 2\n"),
        ),
        (
            "owner.age",
            Some(json!(3)),
            with("\"n\"\n", "\"n\"\nage = 3\n"),
        ),
        ("owner", None, with("[owner] # o\nname = \"n\"\n", "")),
        (
            "fruit[1].sub.x[1]",
            Some(json!(2)),
            with("1, # one\n", "1, # one\n  2,\n"),
        ),
        ("fruit[1].sub.x[0]", None, with("  1, # one\n", "")),
        (
            "fruit[0].m",
            Some(json!(1.5)),
            with("n = 1\n", "n = 1\nm = 1.5\n"),
        ),
        ("fruit[0]", None, with("[[fruit]]\nn = 1\n", "")),
        (
            "fruit[1]",
            None,
            with("[[fruit]]\nn = 2\n[fruit.sub]\nx = [\n  1, # one\n]\n", ""),
        ),
        (
            "fruit[2]",
            Some(json!({"n": 3})),
            format!("{}\n[[fruit]]\nn = 3\n", text),
        ),
        (
            "fruit[1].sub",
            None,
            with("[fruit.sub]\nx = [\n  1, # one\n]\n", ""),
        ),
    ];
    for (at, value, expected) in table {
        holds(Format::Toml, &[(text, at, value, &expected)]);
    }
    holds(
        Format::Toml,
        &[
            ("", "a", Some(json!(1)), "a = 1\n"),
            (
                "# c\n\n# t\n[t]\n",
                "a",
                Some(json!(1)),
                "# c\n\na = 1\n\n# t\n[t]\n",
            ),
            ("[t]\n", "t.a b", Some(json!(true)), "[t]\n\"a b\" = true\n"),
            ("a = {b = 1, c.d = 2}\n", "a.b", None, "a = {c.d = 2}\n"),
            ("a = {}\n", "a.b", Some(json!([1])), "a = {b = [1]}\n"),
            ("[a]\nb = 1\n", "a", Some(json!(1)), "a = 1\n\n"),
            (
                "# c\n[a.b]\nc = 1\n",
                "a.x",
                Some(json!(1)),
                "[a]\nx = 1\n\n# c\n[a.b]\nc = 1\n",
            ),
            (
                "x = 1\n[a]\nb = 1\n[a.c]\n",
                "a",
                Some(json!(1)),
                "x = 1\na = 1\n",
            ),
        ],
    );
    refused(
        Format::Toml,
        &[
            ("a.b = 1\n", "a.b", None, Reason::Unsafe),
            (
                "a = {b.c = 1}\n",
                "a.b.d",
                Some(json!(1)),
                Reason::Layout("a part of an inline table"),
            ),
            (
                "[[a]]\nb = 1\n",
                "a[0]",
                Some(json!(1)),
                Reason::Layout("a table of several lines"),
            ),
        ],
    );
    let null = edit(Format::Toml, "a = 1\n", "a", Some(json!(null)));
    assert!(matches!(null, Err(Reason::Unwritable(_))), "{null:?}");
}
