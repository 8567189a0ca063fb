//! Comparison as Go's templates do it: only between two values of the same basic kind.

use std::cmp::Ordering;

use serde_json::Value;

use crate::{EvalError, go};

/// Applies a comparison operator of a filter.
pub(crate) fn holds(left: &Value, operator: &str, right: &Value) -> Result<bool, EvalError> {
    let accepts: fn(Ordering) -> bool = match operator {
        "==" => Ordering::is_eq,
        "!=" => Ordering::is_ne,
        "<" => Ordering::is_lt,
        "<=" => Ordering::is_le,
        ">" => Ordering::is_gt,
        ">=" => Ordering::is_ge,
        other => return Err(EvalError::UnrecognizedOperator(other.to_owned())),
    };
    let is_ordering = !matches!(operator, "==" | "!=");
    Ok(accepts(order(left, right, is_ordering)?))
}

fn order(left: &Value, right: &Value, is_ordering: bool) -> Result<Ordering, EvalError> {
    if kind(left)? != kind(right)? {
        return Err(EvalError::IncompatibleTypes);
    }
    match (left, right) {
        (Value::String(left), Value::String(right)) => Ok(left.cmp(right)),
        (Value::Number(left), Value::Number(right)) => Ok(order_numbers(left, right)),
        _ if is_ordering => Err(EvalError::NotComparable),
        _ => Ok(left.as_bool().cmp(&right.as_bool())),
    }
}

fn order_numbers(left: &serde_json::Number, right: &serde_json::Number) -> Ordering {
    match (left.as_i64(), right.as_i64()) {
        (Some(left), Some(right)) => left.cmp(&right),
        _ => left
            .as_f64()
            .partial_cmp(&right.as_f64())
            .unwrap_or(Ordering::Equal),
    }
}

#[derive(PartialEq)]
enum Kind {
    Bool,
    Integer,
    Float,
    String,
}

fn kind(value: &Value) -> Result<Kind, EvalError> {
    match value {
        Value::Bool(_) => Ok(Kind::Bool),
        Value::Number(number) if go::is_integer(number) => Ok(Kind::Integer),
        Value::Number(_) => Ok(Kind::Float),
        Value::String(_) => Ok(Kind::String),
        Value::Null | Value::Array(_) | Value::Object(_) => Err(EvalError::NotComparable),
    }
}
