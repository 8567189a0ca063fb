//! The evaluation of parsed steps on a value.

use std::borrow::Cow;

use serde_json::Value;

use crate::parse::{Block, Slice, Step};
use crate::{compare, go};

type Found<'v> = Vec<Cow<'v, Value>>;

/// The reason why a path cannot be followed in an object. An absent key is no error.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
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
        /// The number of items.
        length: i64,
    },
    /// A slice ends before it starts.
    #[error("starting index {start} is greater than ending index {end}")]
    ReversedSlice {
        /// The first index of the slice.
        start: i64,
        /// The index behind the last one of the slice.
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
    /// An `{end}` without a `{range}`.
    #[error("not in range, nothing to end")]
    NothingToEnd,
    /// A bare word that is no keyword.
    #[error("unrecognized identifier {0}")]
    UnrecognizedIdentifier(String),
    /// The path multiplies its results beyond any use.
    #[error("path yields more than {MAX_RESULTS} results")]
    TooManyResults,
}

/// Repeated descents multiply; this keeps a hostile path from filling the memory.
const MAX_RESULTS: usize = 100_000;

/// Evaluates the blocks of a template.
pub(crate) fn find<'v>(blocks: &[Block], data: &'v Value) -> Result<Vec<Found<'v>>, EvalError> {
    let found = Walk::default().find(blocks, 0, &Cow::Borrowed(data));
    found.map_err(|failure| failure.why)
}

/// Evaluates one block of a template alone.
pub(crate) fn block<'v>(block: &Block, data: &'v Value) -> Result<Found<'v>, EvalError> {
    let found = Walk::default().block(block, &Cow::Borrowed(data));
    found.map_err(|failure| failure.why)
}

/// An error, and what was found before it.
struct Failure {
    why: EvalError,
    /// Whether client-go has results in its hands all the same; a filter that asks for existence
    /// looks at those and not at the error.
    has_results: bool,
}

impl Failure {
    fn with(found: &Found<'_>) -> impl FnOnce(EvalError) -> Self {
        let has_results = !found.is_empty();
        move |why| Self { why, has_results }
    }
}

/// Returns where steps lead that are all names, or `None` if one of them is something else.
pub(crate) fn names<'v>(steps: &[Step], data: &'v Value) -> Option<Option<&'v Value>> {
    let mut found = Some(data);
    for step in steps {
        let Step::Field(name) = step else { return None };
        found = found.and_then(|value| value.get(name));
    }
    Some(found)
}

/// The loops that `{range}` and `{end}` make, as far as they have been met.
#[derive(Default)]
struct Walk {
    /// Loops that were opened and have not been entered.
    opened: usize,
    /// Loops that are being walked.
    entered: usize,
    /// Loops that were closed and have not been left.
    closed: usize,
    /// The block that closed a loop last.
    last_end: Option<usize>,
}

impl Walk {
    fn find<'v>(
        &mut self,
        blocks: &[Block],
        from: usize,
        data: &Cow<'v, Value>,
    ) -> Result<Vec<Found<'v>>, Failure> {
        let mut found = Vec::new();
        let mut at = from;
        while let Some(block) = blocks.get(at) {
            let results = self.block(block, data)?;
            if self.closed > 0 && self.closed <= self.entered {
                self.closed -= 1;
                self.last_end = Some(at);
                break;
            }
            if self.opened > 0 {
                self.opened -= 1;
                found.extend(self.repeat(blocks, at + 1, results)?);
                at = self.last_end.filter(|end| *end > at).unwrap_or(at);
            } else {
                found.push(results);
            }
            if found.len() > MAX_RESULTS {
                return Err(Failure::with(&Vec::new())(EvalError::TooManyResults));
            }
            at += 1;
        }
        Ok(found)
    }

    /// Walks the inside of a loop for each value, and once for nothing if there is none.
    fn repeat<'v>(
        &mut self,
        blocks: &[Block],
        from: usize,
        values: Found<'v>,
    ) -> Result<Vec<Found<'v>>, Failure> {
        self.entered += 1;
        let mut found = Vec::new();
        if values.is_empty() {
            self.find(blocks, from, &NOTHING)?;
        }
        for value in values {
            let data = if value.is_null() { NOTHING } else { value };
            found.extend(self.find(blocks, from, &data)?);
            if found.len() > MAX_RESULTS {
                return Err(Failure::with(&Vec::new())(EvalError::TooManyResults));
            }
        }
        self.entered -= 1;
        Ok(found)
    }

    fn block<'v>(&mut self, block: &Block, data: &Cow<'v, Value>) -> Result<Found<'v>, Failure> {
        match block {
            Block::Text(text) => Ok(vec![Cow::Owned(Value::String(text.clone()))]),
            Block::Steps(steps) => self.follow(steps, vec![data.clone()]),
        }
    }

    fn follow<'v>(&mut self, steps: &[Step], input: Found<'v>) -> Result<Found<'v>, Failure> {
        steps.iter().try_fold(input, |input, step| {
            let found = self.take(step, &input)?;
            if found.len() > MAX_RESULTS {
                Err(Failure::with(&input)(EvalError::TooManyResults))
            } else {
                Ok(found)
            }
        })
    }

    fn take<'v>(&mut self, step: &Step, input: &Found<'v>) -> Result<Found<'v>, Failure> {
        let fields = |name: &str| {
            input
                .iter()
                .filter_map(|value| field(value, name))
                .collect()
        };
        match step {
            Step::Field(name) => Ok(fields(name)),
            Step::Wildcard => Ok(input.iter().flat_map(children).collect()),
            Step::Descend => descend(input).map_err(Failure::with(input)),
            Step::Slice(bounds) => slice_all(*bounds, input).map_err(Failure::with(input)),
            Step::Union(alternatives) => {
                let mut found = Vec::new();
                for steps in alternatives {
                    let more = self.follow(steps, input.clone());
                    found.extend(more.map_err(|failure| Failure::with(input)(failure.why))?);
                }
                Ok(found)
            }
            Step::Exists(steps) => self.filter(input, |walk, item| {
                Ok(match walk.follow(steps, vec![item]) {
                    Ok(found) => !found.is_empty(),
                    Err(failure) => failure.has_results,
                })
            }),
            Step::Compare {
                left,
                operator,
                right,
            } => self.filter(input, |walk, item| {
                walk.matches(left, operator, right, &vec![item])
            }),
            Step::Literal(text @ Value::String(_)) => Ok(vec![Cow::Owned(text.clone())]),
            Step::Literal(value) => Ok(input.iter().map(|_| Cow::Owned(value.clone())).collect()),
            Step::Identifier(name) => self.identifier(name, input),
        }
    }

    fn identifier<'v>(&mut self, name: &str, input: &Found<'v>) -> Result<Found<'v>, Failure> {
        match name {
            "range" => {
                self.opened += 1;
                Ok(input.clone())
            }
            "end" if self.entered > 0 => {
                self.closed += 1;
                Ok(Vec::new())
            }
            "end" => Err(Failure::with(&Vec::new())(EvalError::NothingToEnd)),
            other => {
                let why = EvalError::UnrecognizedIdentifier(other.to_owned());
                Err(Failure::with(input)(why))
            }
        }
    }

    fn filter<'v>(
        &mut self,
        input: &Found<'v>,
        mut keeps: impl FnMut(&mut Self, Cow<'v, Value>) -> Result<bool, Refusal>,
    ) -> Result<Found<'v>, Failure> {
        let mut found = Vec::new();
        for value in input {
            let Cow::Borrowed(Value::Array(list)) = value else {
                let why = EvalError::NotFilterable(go::print(value));
                return Err(Failure::with(input)(why));
            };
            for item in list {
                match keeps(self, Cow::Borrowed(item)) {
                    Ok(true) => found.push(Cow::Borrowed(item)),
                    Ok(false) => {}
                    Err(Refusal::Operand(why)) => return Err(Failure::with(input)(why)),
                    Err(Refusal::Comparison(why)) => return Err(Failure::with(&found)(why)),
                }
            }
        }
        Ok(found)
    }

    fn matches(
        &mut self,
        left: &[Step],
        operator: &str,
        right: &[Step],
        item: &Found<'_>,
    ) -> Result<bool, Refusal> {
        let mut operand = |steps: &[Step]| {
            let found = self.follow(steps, item.clone());
            operand(found.map_err(|failure| failure.why)?)
        };
        let Some(left) = operand(left).map_err(Refusal::Operand)? else {
            return Ok(false);
        };
        let Some(right) = operand(right).map_err(Refusal::Operand)? else {
            return Ok(false);
        };
        compare::holds(&left, operator, &right).map_err(Refusal::Comparison)
    }
}

/// The reason why a filter cannot decide about an item.
enum Refusal {
    /// One side of the comparison cannot be found out.
    Operand(EvalError),
    /// The sides cannot be compared.
    Comparison(EvalError),
}

/// The value with which a loop over nothing, or over null, is walked. Nothing else that is owned is null.
const NOTHING: Cow<'static, Value> = Cow::Owned(Value::Null);

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
            Cow::Borrowed(Value::Null) => continue,
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

fn operand(found: Found<'_>) -> Result<Option<Cow<'_, Value>>, EvalError> {
    let mut found = found.into_iter();
    match (found.next(), found.next()) {
        (_, Some(_)) => Err(EvalError::ManyOperands),
        (value, None) => Ok(value),
    }
}
