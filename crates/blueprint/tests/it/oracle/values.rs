//! Values that are hard to write as YAML.

use proptest::prelude::*;
use serde_json::{Number, Value};

/// Makes any JSON value, rich in strings that mean something to YAML.
pub(super) fn value() -> impl Strategy<Value = Value> {
    scalar().prop_recursive(4, 8, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::Array),
            prop::collection::vec((text(), inner), 0..4)
                .prop_map(|entries| Value::Object(entries.into_iter().collect())),
        ]
    })
}

fn scalar() -> impl Strategy<Value = Value> {
    prop_oneof![
        1 => Just(Value::Null),
        1 => any::<bool>().prop_map(Value::from),
        2 => number(),
        8 => text().prop_map(Value::from),
    ]
}

fn number() -> impl Strategy<Value = Value> {
    prop_oneof![
        any::<i16>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        (any::<i32>(), -12..30).prop_map(|(digits, power)| {
            let float = f64::from(digits) * 10f64.powi(power);
            Value::from(float)
        }),
        any::<f64>().prop_map(|float| Number::from_f64(float).map_or(Value::Null, Value::Number)),
    ]
}

/// Makes texts: known traps, texts that look like numbers and times, texts of marks, long ones.
fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        18 => prop::sample::select(TRAPS).prop_map(str::to_owned),
        6 => (prop::sample::select(TRAPS), prop::sample::select(TRAPS))
            .prop_map(|(first, second)| format!("{first}{second}")),
        6 => like("[-+0-9_.:eExXobaTtZ ]{1,14}"),
        6 => like("[0-9]{4}-[01]?[0-9]-[0-3]?[0-9]([Tt ][0-9]{1,2}:[0-5][0-9]:[0-9]{1,2}(\\.[0-9]{1,4})?(Z|[-+][0-9]{2}:[0-9]{2})?)?"),
        6 => like("[0-9]{1,3}(:[0-9]{1,2}){1,3}(\\.[0-9]*)?"),
        18 => like("[-a-cN-Z0-2_:.,#'\"\\[\\]{}&*!|>%@`?~<=+ \t\n\\\\]{0,10}"),
        9 => like("[a-c \n]{0,12}"),
        6 => like("[a-z0-9]{1,8}(-[a-z0-9]{1,8}){0,3}"),
        6 => like("[ab\u{7f}\u{80}\u{85}\u{a0}\u{2028}\u{2029}\u{feff}\u{fffd}\u{0}\u{1}\u{1b}\ré🎈\u{d7ff}\u{e000}\u{ffff}\u{10ffff}\n ]{0,6}"),
        1 => long("[a-c ]{1,8}", 20..50),
        1 => long("[a-c\n é]{1,20}", 50..100),
    ]
}

/// Makes texts that match a pattern; much faster than the pattern itself as a strategy.
fn like(pattern: &str) -> impl Strategy<Value = String> + use<> {
    prop::string::string_regex(pattern).expect("a pattern")
}

/// Makes long texts out of repeated short ones.
fn long(pattern: &str, times: std::ops::Range<usize>) -> impl Strategy<Value = String> + use<> {
    (like(pattern), times).prop_map(|(part, times)| part.repeat(times))
}

static TRAPS: &[&str] = &[
    "",
    " ",
    "\n",
    "\t",
    "~",
    "null",
    "Null",
    "NULL",
    "nULL",
    "true",
    "True",
    "yes",
    "Yes",
    "y",
    "N",
    "no",
    "on",
    "OFF",
    "oN",
    "<<",
    "=",
    "-",
    "?",
    ":",
    "--",
    "---",
    "...",
    "--- a",
    "- a",
    "? a",
    ": a",
    "a: b",
    "a:b",
    "a:",
    ":a",
    "a #b",
    "a#b",
    "#a",
    "!a",
    "&a",
    "*a",
    "%a",
    "@a",
    "`a",
    "{a}",
    "[a]",
    "a]",
    "a}",
    "a,b",
    ",a",
    "'",
    "\"",
    "'a'",
    "\"a\"",
    "a'b",
    "a\"b",
    "\\",
    " a",
    "a ",
    "a\n",
    "\na",
    "a\nb",
    "a\n\nb\n\n",
    " a\nb",
    "a\n b",
    "a \nb",
    "a\tb\nc",
    "\ta",
    "a\t",
    "|",
    ">",
    "0",
    "1",
    "-1",
    "+1",
    "007",
    "017",
    "08",
    "0o17",
    "0x1F",
    "0X1f",
    "0b11",
    "1_000",
    "1__0",
    "_1",
    "1e3",
    "1E-3",
    "1.",
    ".1",
    "1.5",
    "-.5",
    "+.5e1",
    "1e",
    "e1",
    "1.2.3",
    ".inf",
    "-.Inf",
    "+.INF",
    ".iNF",
    ".nan",
    ".NaN",
    "NaN",
    "inf",
    "Infinity",
    "1:30",
    "12:60",
    "190:20:30.15",
    "2020-01-01",
    "2020-1-1",
    "2020-13-01",
    "2020-02-30",
    "2020-01-01T00:00:00Z",
    "2020-01-01 00:00:00",
    "main@sha1:0123abcd",
    "https://host/a?b=c#d",
    "é",
    "🎈",
    "\u{85}",
    "\u{2028}",
    "\u{feff}",
    "\u{0}",
    "\r",
    "a\rb",
    "\r\n",
    "a10",
    "a2",
    "A",
    "Z1",
    "_",
];
