//! What a scalar is: the core schema of YAML 1.2, or what its tag says.

use granit_parser::{ScalarStyle, Tag};
use serde_json::{Number, Value};

/// Returns the value of a scalar.
pub(super) fn resolve(text: &str, style: ScalarStyle, tag: Option<&Tag>) -> Value {
    let is_text = match tag {
        Some(tag) => tag.core_suffix().is_none_or(|type_| type_ == "str"),
        None => style != ScalarStyle::Plain,
    };
    if is_text {
        return Value::from(text);
    }
    match text {
        "" | "~" | "null" | "Null" | "NULL" => Value::Null,
        "true" | "True" | "TRUE" => Value::Bool(true),
        "false" | "False" | "FALSE" => Value::Bool(false),
        _ => number(text).map_or_else(|| Value::from(text), Value::Number),
    }
}

/// Returns the number a text stands for. JSON has no infinity, so what does not fit stays text.
fn number(text: &str) -> Option<Number> {
    for (prefix, radix) in [("0x", 16), ("0o", 8)] {
        if let Some(digits) = text.strip_prefix(prefix) {
            let value = u64::from_str_radix(digits, radix).ok();
            return value.filter(|_| !digits.starts_with('+')).map(Number::from);
        }
    }
    let is_numeric = text.contains(|character: char| character.is_ascii_digit())
        && text
            .bytes()
            .all(|byte| byte.is_ascii_digit() || matches!(byte, b'+' | b'-' | b'.' | b'e' | b'E'));
    if !is_numeric {
        return None;
    }
    if let Ok(whole) = text.parse::<i64>() {
        return Some(Number::from(whole));
    }
    if let Ok(whole) = text.parse::<u64>() {
        return Some(Number::from(whole));
    }
    Number::from_f64(text.parse().ok()?)
}
