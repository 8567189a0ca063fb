//! Reads JSON and says, of whatever is wrong, what and where.

use serde_json::{Map, Value};

/// A history that can't be simulated.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("{path}: {problem}")]
pub struct Invalid {
    /// The path, such as `steps[3].seen.generation`.
    pub path: String,
    /// The complaint, and what would be right.
    pub problem: String,
}

/// A value and where it is.
#[derive(Clone)]
pub(super) struct Cursor<'a> {
    pub(super) value: &'a Value,
    path: String,
}

/// An object whose fields are taken one by one; one that nobody takes is a mistake.
pub(super) struct Fields<'a> {
    fields: &'a Map<String, Value>,
    path: String,
    taken: Vec<&'static str>,
}

impl<'a> Cursor<'a> {
    pub(super) fn root(value: &'a Value) -> Self {
        let path = "history".to_owned();
        Self { value, path }
    }

    pub(super) fn invalid(&self, problem: impl Into<String>) -> Invalid {
        Invalid {
            path: self.path.clone(),
            problem: problem.into(),
        }
    }

    pub(super) fn text(&self) -> Result<&'a str, Invalid> {
        let text = self.value.as_str();
        text.ok_or_else(|| self.expected("a text"))
    }

    /// Returns a whole number, or `None` for null: unknown.
    pub(super) fn number(&self) -> Result<Option<i64>, Invalid> {
        match self.value {
            Value::Null => Ok(None),
            value => {
                let number = value.as_i64().map(Some);
                number.ok_or_else(|| self.expected("a whole number (null if unknown)"))
            }
        }
    }

    /// Returns true or false, or `None` for null: unknown.
    pub(super) fn truth(&self) -> Result<Option<bool>, Invalid> {
        match self.value {
            Value::Null => Ok(None),
            Value::Bool(truth) => Ok(Some(*truth)),
            _ => Err(self.expected("true or false (null if unknown)")),
        }
    }

    pub(super) fn items(&self) -> Result<Vec<Self>, Invalid> {
        let items = self.value.as_array();
        let items = items.ok_or_else(|| self.expected("a list"))?.iter();
        let at = |(index, value)| Self {
            value,
            path: format!("{}[{index}]", self.path),
        };
        Ok(items.enumerate().map(at).collect())
    }

    /// Returns the values of an object by their names; null is absent.
    pub(super) fn entries(&self) -> Result<Vec<(&'a str, Self)>, Invalid> {
        let entries = self.object()?.iter().filter(|(_, value)| !value.is_null());
        let at = |(name, value): (&'a String, &'a Value)| {
            let path = child(&self.path, name);
            (name.as_str(), Self { value, path })
        };
        Ok(entries.map(at).collect())
    }

    pub(super) fn fields(&self) -> Result<Fields<'a>, Invalid> {
        Ok(Fields {
            fields: self.object()?,
            path: self.path.clone(),
            taken: Vec::new(),
        })
    }

    fn object(&self) -> Result<&'a Map<String, Value>, Invalid> {
        let object = self.value.as_object();
        object.ok_or_else(|| self.expected("an object"))
    }

    fn expected(&self, what: &str) -> Invalid {
        let found = match self.value {
            Value::Null => "null".to_owned(),
            Value::Bool(_) | Value::Number(_) => self.value.to_string(),
            Value::String(text) if text.len() <= 40 => format!("the text \"{text}\""),
            Value::String(_) => "a long text".to_owned(),
            Value::Array(_) => "a list".to_owned(),
            Value::Object(_) => "an object".to_owned(),
        };
        self.invalid(format!("{what} is expected, found {found}"))
    }
}

impl<'a> Fields<'a> {
    /// Takes a field that has to be there.
    pub(super) fn required(&mut self, name: &'static str) -> Result<Cursor<'a>, Invalid> {
        self.optional(name).ok_or_else(|| Invalid {
            path: self.path.clone(),
            problem: format!("the field `{name}` is missing"),
        })
    }

    /// Takes a field that may be missing.
    pub(super) fn optional(&mut self, name: &'static str) -> Option<Cursor<'a>> {
        self.taken.push(name);
        let value = self.fields.get(name)?;
        let path = child(&self.path, name);
        Some(Cursor { value, path })
    }

    /// Refuses what was not taken.
    pub(super) fn finish(self) -> Result<(), Invalid> {
        let unknown = |name: &&String| !self.taken.contains(&name.as_str());
        match self.fields.keys().find(unknown) {
            None => Ok(()),
            Some(name) => Err(Invalid {
                path: child(&self.path, name),
                problem: format!("no such field; there are {}", self.taken.join(", ")),
            }),
        }
    }
}

fn child(path: &str, name: &str) -> String {
    if path == "history" {
        name.to_owned()
    } else {
        format!("{path}.{name}")
    }
}
