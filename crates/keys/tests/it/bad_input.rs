//! Input that is broken, enormous or hostile.

use std::fmt::Write as _;

use pathline_document::ReadErrorKind::{Syntax, TooManyMerged};
use pathline_keys::document::{self, Format, ReadErrorKind};
use pathline_keys::{Key, KeySet, Name};

#[test]
fn what_does_not_parse_says_where() {
    let table = [
        (Format::Json, "{\"a\": 1,\n  \"b\" 2}", 2, 7),
        (Format::Json, "[1, 2", 1, 6),
        (Format::Json, "", 1, 1),
        (Format::Json, "[01]", 1, 2),
        (Format::Json, "\"\\ud800\"", 1, 2),
        (Format::Json, "{} x", 1, 4),
        (Format::Json, "\"a\nb\"", 1, 3),
        (Format::Yaml, "a: 1\nb: [1, 2", 2, 4),
        (Format::Yaml, "a: 1\n\tb: 2", 1, 4),
        (Format::Yaml, "a: *unknown", 1, 4),
        (Format::Yaml, "a: !!int x", 1, 10),
        (Format::Toml, "a = 1\nb = ", 2, 5),
        (Format::Toml, "a = 1\na = 2", 2, 1),
    ];
    for (format, text, line, column) in table {
        let error = document::read(format, text).expect_err(text);
        assert!(
            matches!(error.kind, ReadErrorKind::Document(Syntax(_))),
            "{text}: {error}"
        );
        assert_eq!(
            (error.at.line, error.at.column),
            (line, column),
            "{text}: {error}"
        );
    }
}

#[test]
fn bytes_that_are_no_text_say_where() {
    let error = document::read_bytes(Format::Yaml, b"a: 1\nb: \xff").expect_err("not UTF-8");
    assert_eq!(error.to_string(), "line 2, column 4: not UTF-8");
}

#[test]
fn a_value_of_100_megabytes_is_shared_and_not_copied() {
    let text = "x".repeat(100 << 20);
    let mut set: KeySet = (0..100)
        .map(|number| Key::new(Name::parse(format!("user:/k{number}")).expect("a name")))
        .collect();
    set.insert(Key::new(Name::parse("user:/big").expect("a name")).with_value(text));
    for number in 0..100 {
        let name = Name::parse(format!("user:/k{number}")).expect("a name");
        let before = set.clone();
        set.insert(Key::new(name).with_value("1"));
        assert_eq!(KeySet::diff(&before, &set, None).len(), 1);
    }
    let big = set
        .get(&Name::parse("user:/big").expect("a name"))
        .expect("inserted");
    assert_eq!(big.value().text().map(str::len), Some(100 << 20));
}

#[test]
fn a_document_with_a_value_of_100_megabytes_is_read() {
    let text = format!("{{\"a\": \"{}\"}}", "x".repeat(100 << 20));
    let keys = document::read(Format::Json, &text).expect("valid JSON");
    assert_eq!(
        keys.iter()
            .next()
            .and_then(|key| key.value().text())
            .map(str::len),
        Some(100 << 20)
    );
}

#[test]
fn a_million_keys_in_one_directory_are_read() {
    let mut text = String::from("{");
    for number in 0..1_000_000 {
        write!(
            text,
            "{}\"key{number}\":{number}",
            if number == 0 { "" } else { "," }
        )
        .expect("text");
    }
    text.push('}');
    let keys = document::read(Format::Json, &text).expect("valid JSON");
    assert_eq!(keys.len(), 1_000_000);
    let mut changed = keys.clone();
    changed.insert(Key::new(Name::parse("user:/key77").expect("a name")).with_value("x"));
    assert_eq!(KeySet::diff(&keys, &changed, None).len(), 1);
}

#[test]
fn nesting_10_000_deep_is_read_written_and_compared() {
    let deep = 10_000;
    let lists = format!("{}{}", "[".repeat(deep), "]".repeat(deep));
    let maps = format!("{}1{}", "{\"a\":".repeat(deep), "}".repeat(deep));
    for text in [&lists, &maps] {
        for format in [Format::Json, Format::Yaml] {
            let keys = document::read(format, text).expect("valid");
            let written = document::write(format, &keys).expect("it was read");
            assert_eq!(
                document::read(format, &written).expect("just written"),
                keys
            );
            assert!(!KeySet::diff(&keys, &KeySet::new(), None).is_empty());
        }
    }
    let toml = format!("a = {lists}");
    let error = document::read(Format::Toml, &toml).expect_err("the parser has a limit");
    assert!(matches!(error.kind, ReadErrorKind::Document(Syntax(_))));
}

#[test]
fn yaml_bombs_are_defused() {
    let mut laughs = String::from("a0: &a0 [lol, lol, lol, lol, lol, lol, lol, lol, lol]\n");
    for level in 1..=12 {
        let alias = format!("*a{}", level - 1);
        writeln!(
            laughs,
            "a{level}: &a{level} [{}]",
            [alias.as_str(); 9].join(", ")
        )
        .expect("text");
    }
    let long = format!(
        "a: &a \"{}\"\nb: [{}]",
        "x".repeat(1 << 20),
        vec!["*a"; 1000].join(", ")
    );
    let mut merges = String::from("a: &a {");
    for number in 0..5000 {
        write!(merges, "k{number}: 1, ").expect("text");
    }
    write!(merges, "}}\nb: {{<<: [{}]}}", vec!["*a"; 5000].join(", ")).expect("text");
    let merged = ReadErrorKind::Document(TooManyMerged(1_000_000));
    for (text, line, kind) in [
        (&laughs, 7, ReadErrorKind::Bomb),
        (&long, 2, ReadErrorKind::Bomb),
        (&merges, 2, merged),
    ] {
        let error = document::read(Format::Yaml, text).expect_err("a bomb");
        assert_eq!(error.kind, kind);
        assert_eq!(error.at.line, line, "{error}");
    }
}
