//! Kubernetes' protobuf bodies, for the two kinds that clients in Go send to every cluster so.
//!
//! Typed clients in Go write built-in kinds in protobuf unless they are told not to, and accept JSON
//! in return. Test harnesses in that language at least make and delete their namespaces, so those
//! bodies are read here, into the JSON that all else understands.

mod messages;
mod wire;

use serde_json::{Map, Value, json};

use self::messages::{Field, Shape};
use self::wire::{Fields, Wire};

pub(crate) use self::wire::Malformed;

/// The media type of these bodies.
pub(crate) const MEDIA_TYPE: &str = "application/vnd.kubernetes.protobuf";

/// The first bytes of such a body.
const MAGIC: &[u8] = b"k8s\0";

/// Returns whether bodies of this kind can be read.
pub(crate) fn knows(kind: &str) -> bool {
    message(kind).is_some()
}

/// Reads a body into the JSON of the same object.
pub(crate) fn decode(bytes: &[u8]) -> Result<Value, Malformed> {
    let body = bytes.strip_prefix(MAGIC).ok_or(Malformed::Magic)?;
    let envelope = read(messages::UNKNOWN, body)?;
    let text = |field: &str| envelope.get(field).and_then(Value::as_str);
    if text("contentEncoding").is_some() {
        return Err(Malformed::Encoding);
    }
    let types = Fields::new(body).find_bytes(messages::TYPE_META_NUMBER)?;
    let types = read(messages::TYPE_META, types)?;
    let kind = types
        .get("kind")
        .and_then(Value::as_str)
        .unwrap_or_default();
    let message = message(kind).ok_or_else(|| Malformed::Kind(kind.to_owned()))?;
    let raw = Fields::new(body).find_bytes(messages::RAW_NUMBER)?;
    let mut object = read(message, raw)?;
    object.extend(types);
    Ok(Value::Object(object))
}

fn message(kind: &str) -> Option<&'static [Field]> {
    match kind {
        "Namespace" => Some(messages::NAMESPACE),
        "DeleteOptions" => Some(messages::DELETE_OPTIONS),
        _ => None,
    }
}

/// Reads a message; fields that its description does not have are passed over, as protobuf wants.
fn read(message: &[Field], bytes: &[u8]) -> Result<Map<String, Value>, Malformed> {
    let mut object = Map::new();
    for entry in Fields::new(bytes) {
        let (number, wire) = entry?;
        let Some(field) = message.iter().find(|field| field.number == number) else {
            continue;
        };
        let value = value(field, wire)?;
        if field.repeated {
            let list = object.entry(field.name).or_insert_with(|| json!([]));
            list.as_array_mut()
                .expect("a repeated field is made as a list")
                .push(value);
        } else if let Shape::Map = field.shape {
            let map = object.entry(field.name).or_insert_with(|| json!({}));
            let map = map.as_object_mut().expect("a map is made as an object");
            map.extend(value.as_object().cloned().unwrap_or_default());
        } else if field.pointer || !is_zero(&value) {
            object.insert(field.name.to_owned(), value);
        }
    }
    Ok(object)
}

fn value(field: &Field, wire: Wire<'_>) -> Result<Value, Malformed> {
    let wrong = || Malformed::Field(field.name);
    match (field.shape, wire) {
        (Shape::Text, Wire::Bytes(bytes)) => {
            let text = std::str::from_utf8(bytes).map_err(|_| wrong())?;
            Ok(text.into())
        }
        (Shape::Integer, Wire::Varint(number)) => Ok(number.cast_signed().into()),
        (Shape::Flag, Wire::Varint(number)) => Ok((number != 0).into()),
        (Shape::Json, Wire::Bytes(bytes)) => {
            let raw = Fields::new(bytes).find_bytes(messages::JSON_NUMBER)?;
            serde_json::from_slice(raw).map_err(|_| wrong())
        }
        (Shape::Time, Wire::Bytes(bytes)) => time(&read(messages::TIME, bytes)?).ok_or_else(wrong),
        (Shape::Map, Wire::Bytes(bytes)) => {
            let entry = read(messages::MAP_ENTRY, bytes)?;
            let part = |name: &str| entry.get(name).and_then(Value::as_str).unwrap_or_default();
            Ok(json!({ part("key"): part("value") }))
        }
        (Shape::Message(message), Wire::Bytes(bytes)) => read(message, bytes).map(Value::Object),
        _ => Err(wrong()),
    }
}

/// Returns a time as JSON has it; the zero time is none.
fn time(parts: &Map<String, Value>) -> Option<Value> {
    let seconds = parts.get("seconds").and_then(Value::as_i64);
    match seconds {
        None => Some(Value::Null),
        Some(seconds) => {
            let time = jiff::Timestamp::from_second(seconds).ok()?;
            Some(time.to_string().into())
        }
    }
}

/// Returns whether Go would leave a field with this value out of JSON.
fn is_zero(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Bool(flag) => !flag,
        Value::Number(number) => number.as_i64() == Some(0),
        Value::String(text) => text.is_empty(),
        Value::Array(list) => list.is_empty(),
        Value::Object(map) => map.is_empty(),
    }
}

#[cfg(test)]
mod tests;
