//! Values as Go prints them, for messages that people and programs compare word by word.

use std::fmt::Write as _;

use serde_json::Value;

/// Prints a value as Go's `%v` prints what it decodes from JSON.
///
/// ```
/// use serde_json::json;
///
/// let value = json!({"a": 1, "b": ["x", null]});
/// assert_eq!(pathline_jsonpath::go::print(&value), "map[a:1 b:[x <nil>]]");
/// ```
pub fn print(value: &Value) -> String {
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
pub fn print_map<'k>(pairs: impl Iterator<Item = (&'k str, String)>) -> String {
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
pub fn format_float(float: f64) -> String {
    let Some((digits, exponent)) = shortest(float) else {
        return float.to_string();
    };
    let sign = if float.is_sign_negative() { "-" } else { "" };
    if (-4..6).contains(&exponent) {
        return format!("{sign}{}", plain(&digits, exponent));
    }
    let (first, rest) = digits.split_at(1);
    let point = if rest.is_empty() { "" } else { "." };
    let of_exponent = if exponent < 0 { '-' } else { '+' };
    format!(
        "{sign}{first}{point}{rest}e{of_exponent}{:02}",
        exponent.abs()
    )
}

/// Returns the digits of a finite float without zeros around them, and the exponent of the first.
///
/// Of several texts that are equally short, Rust's own printer takes the one that is farther away when
/// the float lies exactly between two; Go and the printer of JSON take the even one.
fn shortest(float: f64) -> Option<(String, i32)> {
    let text = serde_json::Number::from_f64(float.abs())?.to_string();
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let all = format!("{whole}{fraction}");
    let digits = all.trim_start_matches('0');
    if digits.is_empty() {
        return Some(("0".to_owned(), 0));
    }
    let small = |length: usize| i32::try_from(length).expect("a float has few digits");
    let exponent: i32 = exponent
        .parse()
        .expect("the exponent of a finite float is an integer");
    let exponent = exponent + small(whole.len()) - 1 - small(all.len() - digits.len());
    Some((digits.trim_end_matches('0').to_owned(), exponent))
}

/// Writes digits of which the first has this small exponent without one.
fn plain(digits: &str, exponent: i32) -> String {
    let Ok(before) = usize::try_from(exponent + 1) else {
        let zeros = "0".repeat(exponent.unsigned_abs() as usize - 1);
        return format!("0.{zeros}{digits}");
    };
    match digits.split_at_checked(before) {
        Some(("", fraction)) => format!("0.{fraction}"),
        Some((whole, "")) => whole.to_owned(),
        Some((whole, fraction)) => format!("{whole}.{fraction}"),
        None => format!("{digits:0<before$}"),
    }
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
            (598_087_505_591_756.2, "5.980875055917562e+14"),
            (f64::MAX, "1.7976931348623157e+308"),
            (f64::MIN_POSITIVE, "2.2250738585072014e-308"),
            (5e-324, "5e-324"),
            (0.001_25, "0.00125"),
            (-120_300.5, "-120300.5"),
            (f64::INFINITY, "inf"),
        ];
        for (float, text) in cases {
            assert_eq!(format_float(float), text);
        }
    }
}
