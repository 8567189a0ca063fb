//! Paths, right and wrong, and objects to follow them in.

use proptest::prelude::*;
use serde_json::{Value, json};

const KEYS: &[&str] = &["a", "b", "c", "a.b", "x/y", "0", "é", ""];

/// Makes a path and an object.
pub(super) fn search() -> impl Strategy<Value = (String, Value)> {
    (path(), data())
}

fn data() -> impl Strategy<Value = Value> {
    let scalar = prop_oneof![
        2 => Just(Value::Null),
        2 => any::<bool>().prop_map(Value::from),
        3 => (-2..4i64).prop_map(Value::from),
        1 => Just(json!(1.5)),
        1 => Just(json!(u64::MAX)),
        4 => prop::sample::select(&["x", "y", "", "x y", "1", "é"][..]).prop_map(Value::from),
    ];
    let value = scalar.prop_recursive(4, 20, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::Array),
            object(inner),
        ]
    });
    object(value)
}

fn object(value: impl Strategy<Value = Value>) -> impl Strategy<Value = Value> {
    prop::collection::vec((prop::sample::select(KEYS), value), 0..5).prop_map(|entries| {
        let entries = entries
            .into_iter()
            .map(|(key, value)| (key.to_owned(), value));
        Value::Object(entries.collect())
    })
}

fn path() -> impl Strategy<Value = String> {
    let steps = prop::collection::vec(step(), 1..5).prop_map(|steps| steps.concat());
    let steps = steps.boxed();
    let whole = prop_oneof![
        12 => steps.clone(),
        2 => steps.clone().prop_map(|steps| format!("{{{steps}}}")),
        1 => (steps.clone(), steps.clone()).prop_map(|(a, b)| format!("{{{a}}}{{{b}}}")),
        1 => (steps.clone(), steps.clone()).prop_map(|(a, b)| format!("{{range {a}}}{{{b}}}{{end}}")),
        1 => (steps.clone(), steps).prop_map(|(a, b)| format!("{{{a}}} and {b}")),
        1 => prop::sample::select(ODD).prop_map(str::to_owned),
    ]
    .boxed();
    prop_oneof![
        3 => whole.clone(),
        2 => (whole, any::<prop::sample::Index>(), noise(), any::<bool>()).prop_map(disturb),
    ]
}

/// Puts something into a path, or in the place of one character.
fn disturb((path, place, noise, replaces): (String, prop::sample::Index, &str, bool)) -> String {
    let mut characters: Vec<String> = path.chars().map(String::from).collect();
    if characters.is_empty() {
        return noise.to_owned();
    }
    let place = place.index(characters.len());
    if replaces {
        characters[place] = noise.to_owned();
    } else {
        characters.insert(place, noise.to_owned());
    }
    characters.concat()
}

fn noise() -> impl Strategy<Value = &'static str> {
    prop::sample::select(
        &[
            "", ".", "..", "[", "]", "{", "}", "'", "\"", "\\", "@", "$", "*", "?", "(", ")", ",",
            ":", " ", "-", "+", "0", "a", "=", "!", "<", ">", "~", "=~", "\n", "\t", "\r", "é",
            "_", "/", "^", "true", "end", "range ",
        ][..],
    )
}

fn step() -> impl Strategy<Value = String> {
    prop_oneof![
        10 => prop::sample::select(&["a", "b", "c", "0", "x/y", "é", r"a\.b", "*", ""][..])
            .prop_map(|key| format!(".{key}")),
        3 => prop::sample::select(&["a", "b", "a.b", r"a\.b", "x/y", "*", "", " a"][..])
            .prop_map(|key| format!("['{key}']")),
        4 => (-3..5i64).prop_map(|index| format!("[{index}]")),
        2 => prop::string::string_regex("(-?[0-3])?:(-?[0-3])?(:[-0-2]?)?")
            .expect("a pattern")
            .prop_map(|slice| format!("[{slice}]")),
        2 => Just("[*]".to_owned()),
        1 => prop::sample::select(&["..", "..a", "..b", "..*"][..]).prop_map(str::to_owned),
        2 => union(),
        4 => filter(),
    ]
}

fn union() -> impl Strategy<Value = String> {
    let part =
        prop::sample::select(&["0", "1", "-1", "'a'", "'b'", " 'c' ", "*", "1:2", "", "a"][..]);
    prop::collection::vec(part, 2..4).prop_map(|parts| format!("[{}]", parts.join(",")))
}

fn filter() -> impl Strategy<Value = String> {
    let operand = || {
        prop::sample::select(
            &[
                "@.a",
                "@.b",
                "@",
                "@.a.b",
                "@.a[0]",
                "@..a",
                "@.*",
                "@.a[9]",
                "'x'",
                "\"x\"",
                "1",
                "1.5",
                "-1",
                "true",
                "false",
                "''",
                "x",
                "$.a",
                "",
                r"'x\'y'",
                "@.a[?(@.b)]",
            ][..],
        )
    };
    let operator = prop::sample::select(
        &[
            "==", "!=", "<", ">", "<=", ">=", "=~", "=", " == ", "=>", "<>",
        ][..],
    );
    prop_oneof![
        1 => operand().prop_map(|operand| format!("[?({operand})]")),
        3 => (operand(), operator, operand())
            .prop_map(|(left, operator, right)| format!("[?({left}{operator}{right})]")),
    ]
}

static ODD: &[&str] = &[
    "",
    "{}",
    "{",
    "}",
    "{{}}",
    ".",
    "..",
    "$",
    "@",
    "{.}",
    "{$}",
    "{@}",
    "{ }",
    "text",
    "{'a'}",
    "{\"a\"}",
    "{1}",
    "{-1}",
    "{1.5}",
    "{true}",
    "{range}",
    "{end}",
    "{range .a[*]}{.b}",
    "{range .a[*]}{end}",
    "{range .a[*]}{.b}{end}{.c}",
    "{range .a}{range .b}{.c}{end}{end}",
    "{range @}{.a}{end}",
    "{range .a[*]}{@}{end}",
    "{range .c[*]}x{end}",
    "{.a}{.b}",
    "a{.a}",
    "{'\\u00e9'}",
    "{'\\x41'}",
    "{'a\\'b'}",
    "{.a} ",
    " a",
    "a b",
    "a  .b",
    "{.a .b}",
    "{.a, .b}",
];
