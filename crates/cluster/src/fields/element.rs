//! One step into an object, and paths of steps.

use std::fmt;

use serde_json::{Map, Value};

/// One step from a value to a part of it.
///
/// Keys and values are kept as canonical JSON (sorted names, no spaces, `1.0` as `1`), so that
/// steps compare and sort as plain text.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum PathElement {
    /// A field of an object or a key of a map.
    Field(String),
    /// An item of a list, found by its key fields.
    Key(String),
    /// An item of a set, found by its value.
    Value(String),
    /// An item of a list, found by its position.
    Index(i64),
}

impl PathElement {
    /// Names a field.
    pub(crate) fn field(name: impl Into<String>) -> Self {
        Self::Field(name.into())
    }

    /// Finds a list item by the values of its key fields.
    pub(crate) fn key(fields: Map<String, Value>) -> Self {
        Self::Key(canonical(&Value::Object(fields)))
    }

    /// Finds a set item by its value.
    pub(crate) fn value(value: &Value) -> Self {
        Self::Value(canonical(value))
    }
}

impl fmt::Display for PathElement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Field(name) => write!(f, ".{name}"),
            Self::Key(json) => write_key(f, json),
            Self::Value(json) => write!(f, "[={json}]"),
            Self::Index(index) => write!(f, "[{index}]"),
        }
    }
}

fn write_key(f: &mut fmt::Formatter<'_>, json: &str) -> fmt::Result {
    let fields: Map<String, Value> =
        serde_json::from_str(json).expect("a key is built from an object");
    write!(f, "[")?;
    for (index, (name, value)) in fields.iter().enumerate() {
        let comma = if index == 0 { "" } else { "," };
        write!(f, "{comma}{name}={value}")?;
    }
    write!(f, "]")
}

/// Compares values as JSON does: `1` is `1.0`.
pub(crate) fn same_value(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => a == b || a.as_f64() == b.as_f64(),
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same_value(a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            let same = |(name, value)| b.get(name).is_some_and(|other| same_value(value, other));
            a.len() == b.len() && a.iter().all(same)
        }
        _ => a == b,
    }
}

/// Prints a value so that equal values print alike.
pub(super) fn canonical(value: &Value) -> String {
    normal(value).to_string()
}

fn normal(value: &Value) -> Value {
    match value {
        Value::Number(number) if number.is_f64() => number
            .as_f64()
            .and_then(whole_number)
            .map_or_else(|| value.clone(), Value::from),
        Value::Array(items) => items.iter().map(normal).collect(),
        Value::Object(fields) => fields
            .iter()
            .map(|(name, value)| (name.clone(), normal(value)))
            .collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.clone(),
    }
}

/// Returns the integer that a floating-point number stands for, if it stands for one.
pub(crate) fn whole_number(float: f64) -> Option<i64> {
    // Beyond 2^53 a double no longer names one integer.
    let is_whole = float.fract() == 0.0 && float.abs() < 9_007_199_254_740_992.0;
    is_whole.then_some(float as i64)
}

/// A path into an object, printed as `.spec.containers[name="web"].image`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub(crate) struct Path(pub(crate) Vec<PathElement>);

impl Path {
    /// Builds a path of field names.
    pub(crate) fn of_fields(names: &[&str]) -> Self {
        Self(names.iter().copied().map(PathElement::field).collect())
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|element| element.fmt(f))
    }
}
