//! Documents as JSON values, and back.

use serde_json::{Map, Number, Value};

use crate::document::{Child, Data, Document, Member, NodeId};
use crate::scalar::{Scalar, spelled, with_radix};

impl Document {
    /// Returns what it says as JSON, with aliases and merge keys resolved.
    ///
    /// Numbers that JSON has not, dates and bytes are texts as they are written; tags are left out. As many
    /// values are made as [`Limits::values`](crate::Limits::values) allowed, and they nest as deep as
    /// [`Limits::nesting`](crate::Limits::nesting) allowed: dropping a very deep value overflows the stack.
    ///
    /// ```
    /// use pathline_document::Format;
    ///
    /// let documents = Format::Yaml.read("a: &a [0x10, yes, .inf]\nb: *a\n")?;
    /// let json = serde_json::json!({"a": [16, "yes", ".inf"], "b": [16, "yes", ".inf"]});
    /// assert_eq!(documents[0].to_json(), json);
    /// # Ok::<(), pathline_document::ReadError>(())
    /// ```
    #[must_use]
    pub fn to_json(&self) -> Value {
        let mut frames: Vec<Frame> = Vec::new();
        let mut next = self.root();
        loop {
            let mut finished = match &self.node(next).data {
                Data::Scalar(scalar, text) => Some(json_scalar(*scalar, text)),
                Data::List(_) | Data::Map(_) => {
                    frames.push(Frame::new(self, next));
                    None
                }
            };
            loop {
                let Some(frame) = frames.last_mut() else {
                    return finished.unwrap_or_default();
                };
                if let Some(value) = finished.take() {
                    frame.put(self, value);
                }
                if let Some(child) = frame.child(self) {
                    next = child;
                    break;
                }
                finished = frames.pop().map(|frame| frame.value);
            }
        }
    }
}

/// A list or map that is being made.
struct Frame {
    id: NodeId,
    at: usize,
    value: Value,
}

impl Frame {
    fn new(document: &Document, id: NodeId) -> Self {
        let value = match &document.node(id).data {
            Data::Map(_) => Value::Object(Map::new()),
            Data::List(items) => Value::Array(Vec::with_capacity(items.len())),
            Data::Scalar(..) => Value::Null,
        };
        Self { id, at: 0, value }
    }

    /// Returns the part that is made next.
    fn child(&self, document: &Document) -> Option<NodeId> {
        let child = match &document.node(self.id).data {
            Data::Map(members) => members.get(self.at).map(|member| &member.value),
            Data::List(items) => items.get(self.at),
            Data::Scalar(..) => None,
        };
        child.map(|child| child.id)
    }

    fn put(&mut self, document: &Document, part: Value) {
        match (&mut self.value, &document.node(self.id).data) {
            (Value::Array(items), _) => items.push(part),
            (Value::Object(object), Data::Map(members)) => {
                object.insert(members[self.at].key.clone(), part);
            }
            _ => {}
        }
        self.at += 1;
    }
}

fn json_scalar(scalar: Scalar, text: &str) -> Value {
    match scalar {
        Scalar::Null => Value::Null,
        Scalar::Boolean => Value::Bool(text.eq_ignore_ascii_case("true")),
        Scalar::Integer | Scalar::Float => {
            json_number(text).map_or_else(|| Value::from(text), Value::Number)
        }
        Scalar::Text | Scalar::Datetime | Scalar::Binary => Value::from(text),
    }
}

/// Returns the number a text stands for. JSON has no infinity, so what does not fit stays text.
fn json_number(text: &str) -> Option<Number> {
    if let Some((radix, digits)) = with_radix(text) {
        return u64::from_str_radix(digits, radix).ok().map(Number::from);
    }
    if let Ok(whole) = text.parse::<i64>() {
        return Some(Number::from(whole));
    }
    if let Ok(whole) = text.parse::<u64>() {
        return Some(Number::from(whole));
    }
    Number::from_f64(text.parse().ok()?)
}

impl From<&Value> for Document {
    fn from(value: &Value) -> Self {
        let mut document = Self::default();
        let mut open = vec![(document.root(), value)];
        while let Some((id, value)) = open.pop() {
            let mut below = |document: &mut Self, value| {
                let child = document.add(Data::Scalar(Scalar::Null, String::new()));
                open.push((child, value));
                child
            };
            let data = match value {
                Value::Null => Data::Scalar(Scalar::Null, String::new()),
                Value::Bool(boolean) => Data::Scalar(Scalar::Boolean, boolean.to_string()),
                Value::Number(number) => number_data(number),
                Value::String(text) => Data::Scalar(Scalar::Text, text.clone()),
                Value::Array(items) => {
                    let items = items
                        .iter()
                        .map(|item| Child::new(below(&mut document, item)));
                    Data::List(items.collect())
                }
                Value::Object(members) => {
                    let members = members.iter().map(|(key, value)| {
                        Member::new(key.as_str(), Scalar::Text, below(&mut document, value))
                    });
                    Data::Map(members.collect())
                }
            };
            document.node_mut(id).data = data;
        }
        document
    }
}

impl From<Value> for Document {
    fn from(value: Value) -> Self {
        Self::from(&value)
    }
}

fn number_data(number: &Number) -> Data {
    match number.as_f64() {
        Some(float) if number.is_f64() => Data::Scalar(Scalar::Float, spelled(float)),
        _ => Data::Scalar(Scalar::Integer, number.to_string()),
    }
}
