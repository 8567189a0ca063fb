//! Values as Go prints them, for messages that people (and tests) compare word by word.

use std::fmt::Write as _;

use serde_json::Value;

/// Prints a value as Go's `%v` prints what it decodes from JSON: `map[a:1 b:[x y]]`, `<nil>`.
pub(crate) fn print(value: &Value) -> String {
    match value {
        Value::Null => "<nil>".to_owned(),
        Value::Bool(flag) => flag.to_string(),
        Value::Number(number) => print_number(number),
        Value::String(text) => text.clone(),
        Value::Array(list) => {
            format!("[{}]", list.iter().map(print).collect::<Vec<_>>().join(" "))
        }
        Value::Object(map) => {
            print_map(map.iter().map(|(key, value)| (key.as_str(), print(value))))
        }
    }
}

/// Prints pairs as Go prints a map; Go sorts the keys, so must the caller's.
pub(crate) fn print_map<'k>(pairs: impl Iterator<Item = (&'k str, String)>) -> String {
    let mut text = "map[".to_owned();
    for (position, (key, value)) in pairs.enumerate() {
        let space = if position == 0 { "" } else { " " };
        let _ = write!(text, "{space}{key}:{value}");
    }
    text + "]"
}

/// Names the Go type that a value decodes to.
pub(crate) fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "<nil>",
        Value::Bool(_) => "bool",
        Value::Number(number) if is_integer(number) => "int64",
        Value::Number(_) => "float64",
        Value::String(_) => "string",
        Value::Array(_) => "[]interface {}",
        Value::Object(_) => "map[string]interface {}",
    }
}

/// Describes a character as Go's `%#U` does: by its number and, if it can be seen, itself.
pub(crate) fn describe(c: char) -> String {
    let code = u32::from(c);
    if c == ' ' || !(c.is_control() || c.is_whitespace()) {
        format!("U+{code:04X} '{c}'")
    } else {
        format!("U+{code:04X}")
    }
}

/// Tells whether Kubernetes reads a number as an integer; one beyond 64 bits is a float.
pub(crate) fn is_integer(number: &serde_json::Number) -> bool {
    number.as_i64().is_some()
}

fn print_number(number: &serde_json::Number) -> String {
    match number.as_f64() {
        Some(float) if !is_integer(number) => format_float(float),
        _ => number.to_string(),
    }
}

/// Formats a float in the shortest way that reads back the same: Go's `%g`.
pub(crate) fn format_float(float: f64) -> String {
    let scientific = format!("{float:e}");
    let Some((digits, exponent)) = scientific.split_once('e') else {
        return scientific;
    };
    let exponent: i32 = exponent
        .parse()
        .expect("the exponent of a finite float is an integer");
    if (-4..6).contains(&exponent) {
        return format!("{float}");
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{digits}e{sign}{:02}", exponent.abs())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_read_as_go_prints_them() {
        let value = json!({"b": [1, "x", null], "a": {"n": 1.5}, "t": true});
        assert_eq!(print(&value), "map[a:map[n:1.5] b:[1 x <nil>] t:true]");
    }

    #[test]
    fn floats_read_as_go_prints_them() {
        let cases = [
            (0.0, "0"),
            (-0.0, "-0"),
            (1.0, "1"),
            (8.95, "8.95"),
            (100_000.0, "100000"),
            (1_000_000.0, "1e+06"),
            (123_456_789.0, "1.23456789e+08"),
            (0.0001, "0.0001"),
            (0.000_01, "1e-05"),
            (1e21, "1e+21"),
            (-2.5e-10, "-2.5e-10"),
        ];
        for (float, text) in cases {
            assert_eq!(format_float(float), text);
        }
    }
}
