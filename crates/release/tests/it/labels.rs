//! The table of labels and tags: what other tools choose, and what a label chooses here.

use pathline_release::label::Label;
use pathline_testkit::{shared_dir, skip};
use serde_json::Value;

/// A row: its id, the label, the tags with blanks between them, and what is chosen.
type Row = (&'static str, &'static str, &'static str, &'static str);

/// The rows for which there is a label; orderings that are no versions are not offered.
const ROWS: [Row; 41] = [
    (
        "L01",
        "1.0.x",
        "1.0.0 1.0.0.1 1.0.0p 1.0.1 1.2.0 0.1.0",
        "1.0.1",
    ),
    ("L02", "1.0.x", "v1.2.3 v1.0.0 v0.1.0", "v1.0.0"),
    ("L04", "1.0.x", "", "none"),
    ("L05", "1.0.x", "1.2.0", "none"),
    ("L07", "*-*", "0.1.0 1.0.2 1.1.0-alpha", "reject"),
    ("L08", "1.0.0p", "1.0.0 1.0.0p", "1.0.0p"),
    ("L10", "-1", "1.0.0", "reject"),
    ("L11", "", "1.0.0", "reject"),
    (
        "L13",
        ">=2.0.300-0",
        "2.0.299 2.0.330-63-gc1cfb6864",
        "2.0.330-63-gc1cfb6864",
    ),
    ("L14", ">=v0.0.1-0", "v1.0.1-rc9 v1.0.1-rc10", "v1.0.1-rc9"),
    ("L16", ">=0.0.0-0", "1.1.1-rc9 1.1.1-rc10 1.1.1", "1.1.1"),
    ("L17", "3.12.*", "3.9.1-1 3.11.0-1 3.12.0-1", "none"),
    ("L19", ">=1.0.0", "0.9.0 1.0.0 1.4.0 2.0.0-rc.1", "1.4.0"),
    (
        "L20",
        ">= 1.2.0, < 1.3.0",
        "v1.2.0 v1.2.3 v1.3.0 1.2.4 v1.1.0 something-invalid v1.2.4",
        "1.2.4",
    ),
    ("L22", ">=2025.0.0", "v2025.07.03 v2025.02.03", "none"),
    (
        "L32",
        "*",
        "5.0.0 0.0.1 0.2.1 0.1.1 1.1.1 7.0.6 1.0.0 1.0.2",
        "7.0.6",
    ),
    ("L34", "*", "v1.0", "none"),
    ("L35", "^v1.0.0", "v1.0.0 v2.0.0", "v1.0.0"),
    ("L37", "^1.0.0 !=1.0.0", "v1.0.0", "none"),
    ("L38", ">=1.2.3", "1.2.4 917005", "1.2.4"),
    ("L40", "*", "1", "none"),
    ("L41", "*", "1", "none"),
    ("L43", "latest", "latest 1.0.0", "latest"),
    ("L44", "*", "0.1 0.5.1 0.9 1.0 1.0.1 1.1.2 2.0.3", "2.0.3"),
    (
        "L46",
        "~1.0",
        "0.1 0.5.1 0.9 1.0 1.0.1 1.1.2 2.0.3",
        "1.0.1",
    ),
    ("L47", "~1.0", "0.1 0.5.1 0.9 2.0.3", "none"),
    (
        "L49",
        "*",
        "v2.2.0 v2.3.0-rc.0.18.g1abb7b5dd-ppc64le",
        "v2.2.0",
    ),
    ("L50", "*", "zz bb yy cc aa ll", "none"),
    ("L52", "latest", "latest", "latest"),
    (
        "L53",
        "*",
        "v2.0.2 v1.0 v2.0.0 v1.0.1 v2.0.3 v2.0",
        "v2.0.3",
    ),
    ("L55", ">=8.1.0", "8.0.0 8.1.0", "8.1.0"),
    ("L56", ">=1.4.5", "3050 1.4.3", "none"),
    ("L58", "~1.4.0", "1.4.6 1.5.6", "1.4.6"),
    (
        "L61",
        "1.2",
        "0.9.8 1.1.1 1.1 1.2.3 1.2 1 2.2.2 2.2 2",
        "1.2",
    ),
    ("L62", "1", "0.9.8 1.1.1 1.1 1.2.3 1.2 1 2.2.2 2.2 2", "1"),
    (
        "L64",
        "0.9",
        "0.9.8 1.1.1 1.1 1.2.3 1.2 1 2.2.2 2.2 2",
        "none",
    ),
    (
        "L65",
        "~1.2.3-beta.2",
        "1.2.3-beta.4 1.2.4-beta.2 1.3.4-beta.2",
        "1.2.4-beta.2",
    ),
    ("L67", "^0.0.3", "0.0.3 0.0.4", "0.0.3"),
    ("L68", ">11", "11.1.0 12.0.0", "12.0.0"),
    (
        "L70",
        ">=1.1 <2 !=1.2.3 || > 3",
        "1.2.3 1.2.2 4.1.2",
        "4.1.2",
    ),
    ("L71", "~0.0.0", "0.0.5 1.2.3", "0.0.5"),
];

/// Returns what the command line prints.
fn chosen(label: &str, tags: &[&str]) -> String {
    match Label::parse(label) {
        Err(_) => "reject".to_owned(),
        Ok(label) => {
            let tag = label.choose(tags.iter().copied(), None);
            tag.unwrap_or("none").to_owned()
        }
    }
}

#[test]
fn labels_choose_as_the_table_says() {
    for (id, label, tags, expected) in ROWS {
        let tags: Vec<&str> = tags.split_whitespace().collect();
        assert_eq!(
            chosen(label, &tags),
            expected,
            "{id}: `{label}` of {tags:?}"
        );
    }
}

#[test]
fn labels_choose_as_in_the_shared_cases() {
    let Some(shared) = shared_dir() else {
        return skip("shared cases of labels", "there is no shared directory");
    };
    let cases = std::fs::read(shared.join("cases/tracker-labels.json")).expect("the cases");
    let cases: Vec<Value> = serde_json::from_slice(&cases).expect("they are JSON");
    for case in &cases {
        let Some(label) = case["pathline_label"].as_str() else {
            continue;
        };
        let tags = case["tags"].as_array().expect("tags");
        let tags: Vec<&str> = tags.iter().filter_map(Value::as_str).collect();
        assert_eq!(chosen(label, &tags), case["pathline_chosen"], "{case}");
    }
}

/// Labels and their kinds.
const KINDS: [(&str, &str); 37] = [
    ("latest", "fixed"),
    ("stable", "fixed"),
    ("main", "fixed"),
    ("v1.8.x", "follow"),
    ("1.8.X", "follow"),
    ("1.x", "follow"),
    ("*", "follow"),
    ("*-0", "follow"),
    ("1.2.3", "pinned"),
    ("v1.2.3", "pinned"),
    ("0.0.0", "pinned"),
    ("1.2.3-rc.1", "pinned"),
    ("=1.2.3", "follow"),
    ("1.2", "fixed"),
    ("1", "fixed"),
    ("v1", "fixed"),
    ("2025.07.03", "fixed"),
    ("01.2.3", "fixed"),
    ("1.2.3.4", "fixed"),
    ("1.0.0p", "fixed"),
    ("x", "fixed"),
    ("nightly-20260822", "fixed"),
    ("1.2.x-alpine", "fixed"),
    (
        "sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
        "digest",
    ),
    ("sha256:abcd", "invalid"),
    ("1.2.3+b5", "invalid"),
    ("1.0.0 - 2.0.0", "invalid"),
    ("nightly-*", "invalid"),
    ("*-*", "invalid"),
    (">=", "invalid"),
    (">=1.0.0,", "invalid"),
    ("|| 1.x", "invalid"),
    (" latest", "invalid"),
    (" ", "invalid"),
    (LONG, "invalid"),
    ("^1.2.3-beta.01", "invalid"),
    ("V1.2.3", "fixed"),
];

/// One character more than a tag may have.
const LONG: &str = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\
                    aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";

#[test]
fn labels_are_of_the_kinds_of_the_table() {
    assert_eq!(LONG.len(), 129);
    for (label, expected) in KINDS {
        let kind = Label::parse(label).map(|it| serde_json::to_value(it.kind()));
        let kind = kind.map_or("invalid".into(), |kind| kind.expect("a word"));
        assert_eq!(kind, expected, "`{label}`");
    }
}

#[test]
fn ties_go_to_what_is_released_and_then_to_the_spelling_of_the_range() {
    let choose = |label: &str, released| {
        let label = Label::parse(label).expect("a range");
        label.choose(["1.0.0", "v1.0.0"], released)
    };
    assert_eq!(choose("1.x", None), Some("1.0.0"));
    assert_eq!(choose("1.x", Some("v1.0.0")), Some("v1.0.0"));
    assert_eq!(choose("v1.x", None), Some("v1.0.0"));
    assert_eq!(choose("v1.x", Some("1.0.0")), Some("1.0.0"));
    assert_eq!(choose("1.x", Some("0.9.0")), Some("1.0.0"));
}

#[test]
fn ranges_ignore_what_is_no_version() {
    let label = Label::parse("*-0").expect("a range");
    let signature = format!("sha256-{}.sig", "ab".repeat(32));
    for tag in [
        "99999999999999999999.0.0",
        "1.2.3_b5",
        &signature,
        "1.2.3.4",
        "1.2",
        "V1.2.3",
        "vv1.2.3",
        "1.2.3-01",
        "1.2.3+b",
        "",
    ] {
        assert_eq!(label.choose([tag], None), None, "{tag}");
    }
    assert_eq!(
        label.choose(["18446744073709551615.0.0"], None),
        Some("18446744073709551615.0.0"),
        "the largest part that counts"
    );
}

#[test]
fn a_digest_is_chosen_only_where_it_is() {
    let digest = format!("sha256:{}", "0f".repeat(32));
    let label = Label::parse(&digest).expect("a digest");
    assert_eq!(label.choose(["latest"], None), None);
    assert_eq!(label.choose(["latest", &digest], None), Some(&digest[..]));
    let upper = digest.to_uppercase().replace("SHA", "sha");
    assert!(
        Label::parse(&upper).is_err(),
        "digests have lower-case digits"
    );
}
