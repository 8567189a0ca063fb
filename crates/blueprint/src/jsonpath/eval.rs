//! Nodes over values.

use std::borrow::Cow;

use serde_json::Value;

use super::compare;
use super::parse::{Block, Slice, Step};
use crate::go;

type Found<'v> = Vec<Cow<'v, Value>>;

/// Says why a path cannot be followed in an object. An absent key is no error.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EvalError {
    /// An index or slice is applied to something else than a list.
    #[error("{0} is not array or slice")]
    NotAnArray(&'static str),
    /// A filter is applied to something else than a list.
    #[error("{0} is not array or slice and cannot be filtered")]
    NotFilterable(String),
    /// An index lies outside the list.
    #[error("array index out of bounds: index {index}, length {length}")]
    OutOfBounds {
        /// The index, after a negative one was counted from the end.
        index: i64,
        /// How many items there are.
        length: i64,
    },
    /// A slice ends before it starts.
    #[error("starting index {start} is greater than ending index {end}")]
    ReversedSlice {
        /// Where the slice starts.
        start: i64,
        /// Where the slice ends.
        end: i64,
    },
    /// A slice has a step of zero or less.
    #[error("step must be > 0")]
    BadStep,
    /// One side of a comparison has several values.
    #[error("can only compare one element at a time")]
    ManyOperands,
    /// The sides of a comparison are of different kinds; an integer and a float are.
    #[error("incompatible types for comparison")]
    IncompatibleTypes,
    /// One side of a comparison has no order, or is null, a list or an object.
    #[error("invalid type for comparison")]
    NotComparable,
    /// A filter uses an operator that does not exist.
    #[error("unrecognized filter operator {0}")]
    UnrecognizedOperator(String),
    /// A bare word that is no keyword.
    #[error("unrecognized identifier {0}")]
    UnrecognizedIdentifier(String),
    /// The path multiplies its results beyond any use.
    #[error("path yields more than {MAX_RESULTS} results")]
    TooManyResults,
}

/// Repeated descents multiply; this keeps a hostile path from filling the memory.
const MAX_RESULTS: usize = 100_000;

/// Evaluates one block of a template.
pub(super) fn block<'v>(block: &Block, data: &'v Value) -> Result<Found<'v>, EvalError> {
    match block {
        Block::Text(text) => Ok(vec![Cow::Owned(Value::String(text.clone()))]),
        Block::Steps(steps) => follow(steps, vec![Cow::Borrowed(data)]),
    }
}

/// Returns where steps lead that are all names, or `None` if one of them is something else.
pub(super) fn names<'v>(steps: &[Step], data: &'v Value) -> Option<Option<&'v Value>> {
    let mut found = Some(data);
    for step in steps {
        let Step::Field(name) = step else { return None };
        found = found.and_then(|value| value.get(name));
    }
    Some(found)
}

fn follow<'v>(steps: &[Step], input: Found<'v>) -> Result<Found<'v>, EvalError> {
    steps.iter().try_fold(input, |input, step| {
        let found = take(step, &input)?;
        if found.len() > MAX_RESULTS {
            Err(EvalError::TooManyResults)
        } else {
            Ok(found)
        }
    })
}

fn take<'v>(step: &Step, input: &Found<'v>) -> Result<Found<'v>, EvalError> {
    match step {
        Step::Field(name) => Ok(input
            .iter()
            .filter_map(|value| field(value, name))
            .collect()),
        Step::Wildcard => Ok(input.iter().flat_map(children).collect()),
        Step::Descend => descend(input),
        Step::Slice(bounds) => slice_all(*bounds, input),
        Step::Union(alternatives) => {
            let mut found = Vec::new();
            for steps in alternatives {
                found.extend(follow(steps, input.clone())?);
            }
            Ok(found)
        }
        Step::Exists(steps) => filter(input, |item| {
            Ok(follow(steps, vec![item]).is_ok_and(|found| !found.is_empty()))
        }),
        Step::Compare {
            left,
            operator,
            right,
        } => filter(input, |item| matches(left, operator, right, item)),
        Step::Literal(text @ Value::String(_)) => Ok(vec![Cow::Owned(text.clone())]),
        Step::Literal(value) => Ok(input.iter().map(|_| Cow::Owned(value.clone())).collect()),
        Step::Identifier(name) => Err(EvalError::UnrecognizedIdentifier(name.clone())),
    }
}

// Values that are not borrowed are literals and bytes, which have no fields and no items.
fn field<'v>(value: &Cow<'v, Value>, name: &str) -> Option<Cow<'v, Value>> {
    match value {
        Cow::Borrowed(value) => value.get(name).map(Cow::Borrowed),
        Cow::Owned(_) => None,
    }
}

fn children<'v>(value: &Cow<'v, Value>) -> Found<'v> {
    match value {
        Cow::Borrowed(Value::Object(map)) => map.values().map(Cow::Borrowed).collect(),
        Cow::Borrowed(Value::Array(list)) => list.iter().map(Cow::Borrowed).collect(),
        // Go ranges over the bytes of a string.
        Cow::Borrowed(Value::String(text)) => bytes(text),
        Cow::Owned(Value::String(text)) => bytes(text),
        Cow::Borrowed(_) | Cow::Owned(_) => Vec::new(),
    }
}

fn bytes<'v>(text: &str) -> Found<'v> {
    text.bytes()
        .map(|byte| Cow::Owned(Value::from(byte)))
        .collect()
}

fn descend<'v>(input: &Found<'v>) -> Result<Found<'v>, EvalError> {
    let mut found = Vec::new();
    let mut ahead: Found<'v> = input.iter().rev().cloned().collect();
    while let Some(value) = ahead.pop() {
        let inner = children(&value);
        if inner.is_empty() {
            continue;
        }
        ahead.extend(inner.into_iter().rev());
        found.push(value);
        if found.len() > MAX_RESULTS {
            return Err(EvalError::TooManyResults);
        }
    }
    Ok(found)
}

fn slice_all<'v>(bounds: Slice, input: &Found<'v>) -> Result<Found<'v>, EvalError> {
    let mut found = Vec::new();
    for value in input {
        let list = match value {
            Cow::Borrowed(Value::Array(list)) => list,
            value if value.is_null() => continue,
            value => return Err(EvalError::NotAnArray(go::type_name(value))),
        };
        let Some((start, end, step)) = resolve(bounds, list.len())? else {
            return Ok(found);
        };
        found.extend(list[start..end].iter().step_by(step).map(Cow::Borrowed));
    }
    Ok(found)
}

/// Turns bounds into indexes of a list of this length; `None` asks for no element at all.
fn resolve(bounds: Slice, length: usize) -> Result<Option<(usize, usize, usize)>, EvalError> {
    let length = i64::try_from(length).expect("a list in memory is shorter than i64::MAX");
    let from_end = |index: i64| {
        if index < 0 {
            index.saturating_add(length)
        } else {
            index
        }
    };
    let start = from_end(bounds.start);
    let end = match bounds.end {
        None => length,
        Some(0) if bounds.end_is_derived => length,
        Some(end) => from_end(end),
    };
    if start == end {
        return Ok(None);
    }
    if start < 0 || start >= length {
        return Err(EvalError::OutOfBounds {
            index: start,
            length,
        });
    }
    if end < 0 || end > length {
        return Err(EvalError::OutOfBounds {
            index: end - 1,
            length,
        });
    }
    if start > end {
        return Err(EvalError::ReversedSlice { start, end });
    }
    let step = bounds.step.unwrap_or(1);
    let index = |number: i64| usize::try_from(number).ok();
    match (
        index(start),
        index(end),
        index(step).filter(|step| *step > 0),
    ) {
        (Some(start), Some(end), Some(step)) => Ok(Some((start, end, step))),
        _ => Err(EvalError::BadStep),
    }
}

fn filter<'v>(
    input: &Found<'v>,
    mut keeps: impl FnMut(Cow<'v, Value>) -> Result<bool, EvalError>,
) -> Result<Found<'v>, EvalError> {
    let mut found = Vec::new();
    for value in input {
        let Cow::Borrowed(Value::Array(list)) = value else {
            return Err(EvalError::NotFilterable(go::print(value)));
        };
        for item in list {
            if keeps(Cow::Borrowed(item))? {
                found.push(Cow::Borrowed(item));
            }
        }
    }
    Ok(found)
}

fn matches(
    left: &[Step],
    operator: &str,
    right: &[Step],
    item: Cow<'_, Value>,
) -> Result<bool, EvalError> {
    let Some(left) = operand(follow(left, vec![item.clone()])?)? else {
        return Ok(false);
    };
    let Some(right) = operand(follow(right, vec![item])?)? else {
        return Ok(false);
    };
    compare::holds(&left, operator, &right)
}

fn operand(found: Found<'_>) -> Result<Option<Cow<'_, Value>>, EvalError> {
    let mut found = found.into_iter();
    match (found.next(), found.next()) {
        (_, Some(_)) => Err(EvalError::ManyOperands),
        (value, None) => Ok(value),
    }
}
