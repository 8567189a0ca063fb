//! Reading request bodies: JSON and YAML, with duplicate fields found and nesting bounded.

use std::{fmt, thread};

use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

use crate::fields::whole_number;

/// The greatest depth to which an accepted value may nest.
///
/// Everything that reads our JSON (the store, and clients in Rust) stops at 128 levels, and lists
/// and watch events add a few around an object.
pub(crate) const MAX_DEPTH: usize = 100;

/// The stack of the thread that reads YAML, whose parser needs tens of kilobytes for each level.
const YAML_STACK: usize = 16 << 20;

/// A parsed body.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Document {
    /// The value; of a field given twice, the last one counts.
    pub(crate) value: Value,
    /// The paths of fields given twice, such as `spec.replicas`.
    pub(crate) duplicates: Vec<String>,
}

/// The reason for which a body could not be read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ParseError {
    /// The text is not JSON.
    #[error("json parse error: {0}")]
    Json(#[from] serde_json::Error),
    /// The text is not YAML, or uses what JSON has no word for.
    #[error("yaml parse error: {0}")]
    Yaml(Box<serde_saphyr::Error>),
    /// The thread that reads YAML could not be started.
    #[error("cannot read yaml")]
    Thread(#[from] std::io::Error),
    /// The value nests too deep.
    #[error("exceeded max depth: values may nest at most {MAX_DEPTH} levels")]
    TooDeep,
}

/// Reads a JSON body.
pub(crate) fn json(bytes: &[u8]) -> Result<Document, ParseError> {
    let tracked: Tracked = serde_json::from_slice(bytes).map_err(|error| {
        // serde_json has no kind for its own bound on nesting.
        let too_deep = error.to_string().starts_with("recursion limit exceeded");
        if too_deep {
            ParseError::TooDeep
        } else {
            ParseError::Json(error)
        }
    })?;
    tracked.into_document()
}

/// Reads a YAML body, of which JSON is a part.
pub(crate) fn yaml(bytes: &[u8]) -> Result<Document, ParseError> {
    if let Ok(document) = json(bytes) {
        return Ok(document);
    }
    thread::scope(|scope| {
        thread::Builder::new()
            .stack_size(YAML_STACK)
            .spawn_scoped(scope, || parse_yaml(bytes))?
            .join()
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

fn parse_yaml(bytes: &[u8]) -> Result<Document, ParseError> {
    let options = serde_saphyr::options! {
        duplicate_keys: serde_saphyr::DuplicateKeyPolicy::LastWins,
        with_snippet: false,
        budget: serde_saphyr::budget! { max_depth: MAX_DEPTH },
    };
    let tracked: Tracked = serde_saphyr::from_slice_with_options(bytes, options)
        .map_err(|error| ParseError::Yaml(Box::new(error)))?;
    tracked.into_document()
}

/// Refuses a value that nests deeper than [`MAX_DEPTH`]; patches can build one from shallow parts.
pub(crate) fn check_depth(value: &Value) -> Result<(), ParseError> {
    check_depth_at(0, value)
}

/// Refuses a value that nests too deep below as many levels as stand above it.
pub(crate) fn check_depth_at(above: usize, value: &Value) -> Result<(), ParseError> {
    if is_deeper_than(value, MAX_DEPTH.saturating_sub(above)) {
        Err(ParseError::TooDeep)
    } else {
        Ok(())
    }
}

fn is_deeper_than(value: &Value, levels: usize) -> bool {
    let mut children: Box<dyn Iterator<Item = &Value>> = match value {
        Value::Array(items) => Box::new(items.iter()),
        Value::Object(fields) => Box::new(fields.values()),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => return false,
    };
    levels == 0 || children.any(|child| is_deeper_than(child, levels - 1))
}

/// A value that remembers which of its fields came twice.
struct Tracked {
    value: Value,
    duplicates: Vec<String>,
}

impl Tracked {
    fn plain(value: impl Into<Value>) -> Self {
        Self {
            value: value.into(),
            duplicates: Vec::new(),
        }
    }

    fn into_document(self) -> Result<Document, ParseError> {
        check_depth(&self.value)?;
        let duplicates = self
            .duplicates
            .into_iter()
            .map(|path| path.strip_prefix('.').map(str::to_owned).unwrap_or(path))
            .collect();
        Ok(Document {
            value: self.value,
            duplicates,
        })
    }
}

impl<'de> Deserialize<'de> for Tracked {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TrackedVisitor)
    }
}

struct TrackedVisitor;

impl<'de> Visitor<'de> for TrackedVisitor {
    type Value = Tracked;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Tracked, E> {
        Ok(Tracked::plain(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Tracked, E> {
        Ok(Tracked::plain(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Tracked, E> {
        Ok(Tracked::plain(value))
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<Tracked, E> {
        // The API server keeps `2.0` as `2`.
        if let Some(whole) = whole_number(value) {
            return Ok(Tracked::plain(whole));
        }
        let number = Number::from_f64(value)
            .ok_or_else(|| E::custom("JSON has no infinity and no not-a-number"))?;
        Ok(Tracked::plain(Value::Number(number)))
    }

    fn visit_str<E>(self, value: &str) -> Result<Tracked, E> {
        Ok(Tracked::plain(value))
    }

    fn visit_string<E>(self, value: String) -> Result<Tracked, E> {
        Ok(Tracked::plain(value))
    }

    fn visit_unit<E>(self) -> Result<Tracked, E> {
        Ok(Tracked::plain(Value::Null))
    }

    fn visit_none<E>(self) -> Result<Tracked, E> {
        Ok(Tracked::plain(Value::Null))
    }

    fn visit_some<D: Deserializer<'de>>(self, inner: D) -> Result<Tracked, D::Error> {
        Tracked::deserialize(inner)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Tracked, A::Error> {
        let mut items = Vec::new();
        let mut duplicates = Vec::new();
        while let Some(item) = seq.next_element::<Tracked>()? {
            let index = items.len();
            duplicates.extend(
                item.duplicates
                    .iter()
                    .map(|below| format!("[{index}]{below}")),
            );
            items.push(item.value);
        }
        Ok(Tracked {
            value: Value::Array(items),
            duplicates,
        })
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Tracked, A::Error> {
        let mut fields = Map::new();
        let mut duplicates = Vec::new();
        while let Some(key) = map.next_key::<Tracked>()? {
            let name = field_name(key.value).map_err(A::Error::custom)?;
            let Tracked {
                value,
                duplicates: below,
            } = map.next_value()?;
            duplicates.extend(below.iter().map(|below| format!(".{name}{below}")));
            if fields.insert(name.clone(), value).is_some() {
                duplicates.push(format!(".{name}"));
            }
        }
        Ok(Tracked {
            value: Value::Object(fields),
            duplicates,
        })
    }
}

/// Turns a YAML key into a field name, as the conversion to JSON does.
fn field_name(key: Value) -> Result<String, &'static str> {
    match key {
        Value::String(name) => Ok(name),
        Value::Bool(_) | Value::Number(_) => Ok(key.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => {
            Err("a field name must be a string, a number or a boolean")
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn duplicate_fields_are_found_at_every_level_and_the_last_one_counts() {
        let body = br#"{"a": 1, "a": 2, "l": [{"b": 1, "b": {"c": 1, "c": 2}}]}"#;
        let document = json(body).unwrap();
        assert_eq!(document.value, json!({"a": 2, "l": [{"b": {"c": 2}}]}));
        assert_eq!(document.duplicates, ["a", "l[0].b.c", "l[0].b"]);
    }

    #[test]
    fn yaml_reads_as_the_json_it_stands_for() {
        let body = b"a: 1\nb: [x, 'y', true, 1.5, null]\nc:\n  1: one\n  true: two\nd: \"12\"\n";
        let expected = json!({
            "a": 1,
            "b": ["x", "y", true, 1.5, null],
            "c": {"1": "one", "true": "two"},
            "d": "12"
        });
        assert_eq!(
            yaml(body).unwrap(),
            Document {
                value: expected,
                duplicates: vec![]
            }
        );
        assert_eq!(yaml(b"a: 1\na: 2\n").unwrap().duplicates, ["a"]);
    }

    #[test]
    fn nesting_is_bounded_without_overflow() {
        let nested = |levels: usize| "[".repeat(levels) + &"]".repeat(levels);
        assert!(json(nested(MAX_DEPTH).as_bytes()).is_ok());
        for levels in [MAX_DEPTH + 1, 127, 128, 1_000_000] {
            let read = json(nested(levels).as_bytes());
            assert!(
                matches!(read, Err(ParseError::TooDeep)),
                "{levels} levels: {read:?}"
            );
            assert!(
                yaml(nested(levels).as_bytes()).is_err(),
                "{levels} levels of YAML"
            );
        }
    }

    #[test]
    fn malformed_bodies_are_refused() {
        for body in [
            "",
            "{",
            "{\"a\":}",
            "{} {}",
            "\0",
            "{\"a\": \"\0\"}",
            "nope",
        ] {
            assert!(json(body.as_bytes()).is_err(), "{body:?} is not JSON");
        }
        for body in ["a: [", "a: .inf", "? [1]\n: 2\n", "a: &x [*x]"] {
            assert!(
                yaml(body.as_bytes()).is_err(),
                "{body:?} is not acceptable YAML"
            );
        }
        assert!(json(b"\xff").is_err());
    }
}
