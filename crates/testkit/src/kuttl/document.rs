//! YAML as kubectl and kuttl read it: YAML 1.1, by way of JSON.

use std::fmt;

use anyhow::{Context, Result};
use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

/// Reads the documents of a file; those without content are left out.
pub(super) fn documents(text: &str) -> Result<Vec<Value>> {
    let mut found = Vec::new();
    for (position, document) in split(text).iter().enumerate() {
        let value = document_value(document)
            .with_context(|| format!("document {} cannot be read", position + 1))?;
        if !value.is_null() {
            found.push(value);
        }
    }
    Ok(found)
}

/// Cuts a stream where kuttl's reader does: at each line that starts with three dashes.
fn split(text: &str) -> Vec<String> {
    let mut documents = vec![String::new()];
    for line in text.split_inclusive('\n') {
        if line.starts_with("---") {
            documents.push(String::new());
        } else if let Some(document) = documents.last_mut() {
            document.push_str(line);
        }
    }
    documents
}

fn document_value(text: &str) -> Result<Value> {
    let options = serde_saphyr::options! { legacy_octal_numbers: true };
    let read: Option<Read> = serde_saphyr::from_str_with_options(text, options)?;
    Ok(read.map_or(Value::Null, |read| read.0))
}

/// A value whose keys went through YAML 1.1 as well: `yes` is the key `true`.
struct Read(Value);

impl<'de> Deserialize<'de> for Read {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ReadVisitor).map(Self)
    }
}

struct ReadVisitor;

impl<'de> Visitor<'de> for ReadVisitor {
    type Value = Value;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_none<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(number(value))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(Read(item)) = items.next_element()? {
            list.push(item);
        }
        Ok(list.into())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut map = Map::new();
        while let Some((Read(key), Read(value))) = entries.next_entry()? {
            let key = match key {
                Value::String(text) => text,
                other => other.to_string(),
            };
            map.insert(key, value);
        }
        Ok(map.into())
    }
}

/// A whole number is an integer, however it was written: `1.0` is `1` in JSON made by Go.
fn number(value: f64) -> Value {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "whole, and within the integers that a float holds exactly"
    )]
    let integer = (value.fract() == 0.0 && value.abs() < 9e15).then_some(value as i64);
    integer.map_or_else(
        || Number::from_f64(value).map_or(Value::Null, Value::Number),
        Value::from,
    )
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn documents_are_read_as_yaml_1_1() {
        let text = "# nothing\n---\nyes: on\n7: 017\nf: 1.0\ng: 1.5\nt: \"yes\"\n---\n\n--- \na: [~, null, x]\n";
        let expected = vec![
            json!({"true": true, "7": 15, "f": 1, "g": 1.5, "t": "yes"}),
            json!({"a": [null, null, "x"]}),
        ];
        assert_eq!(documents(text).unwrap(), expected);
    }

    #[test]
    fn a_document_that_is_no_yaml_is_named() {
        let error = documents("a: 1\n---\nb: [\n").unwrap_err();
        assert_eq!(error.to_string(), "document 2 cannot be read");
    }
}
