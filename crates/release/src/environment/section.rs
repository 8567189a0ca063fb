//! Sections of a spec: their fields, and the problems that are found in them.

use jiff::SignedDuration;
use serde_json::{Map, Value};

use super::Problem;
use super::duration::{self, InvalidDuration};
use crate::misspelt;

/// The longest text that is repeated in a problem, in characters.
const MAX_REPEATED: usize = 64;

/// A mapping of a spec, and where it is.
pub(super) struct Section<'a> {
    path: String,
    fields: &'a Map<String, Value>,
}

impl<'a> Section<'a> {
    /// Takes a value for a section; what is no mapping is a problem, and nothing is an empty one.
    pub(super) fn of(
        path: impl Into<String>,
        value: &'a Value,
        problems: &mut Vec<Problem>,
    ) -> Option<Self> {
        let path = path.into();
        match value {
            Value::Object(fields) => Some(Self { path, fields }),
            _ => {
                problems.push(Problem::new(path, "a mapping is expected"));
                None
            }
        }
    }

    /// Returns a field; null is none.
    pub(super) fn get(&self, key: &str) -> Option<&'a Value> {
        self.fields.get(key).filter(|it| !it.is_null())
    }

    /// Returns all fields.
    pub(super) fn fields(&self) -> &'a Map<String, Value> {
        self.fields
    }

    /// Returns the path of a field.
    pub(super) fn path(&self, key: &str) -> String {
        format!("{}.{key}", self.path)
    }

    /// Adds the problem of a field.
    pub(super) fn refuse(
        &self,
        key: &str,
        message: impl Into<String>,
        problems: &mut Vec<Problem>,
    ) {
        problems.push(Problem::new(self.path(key), message));
    }

    /// Returns a section of this one.
    pub(super) fn section(&self, key: &str, problems: &mut Vec<Problem>) -> Option<Self> {
        Self::of(self.path(key), self.get(key)?, problems)
    }

    /// Reads a text.
    pub(super) fn text(&self, key: &str, problems: &mut Vec<Problem>) -> Option<&'a str> {
        let text = self.get(key)?.as_str();
        if text.is_none() {
            self.refuse(key, "a text is expected; quote it", problems);
        }
        text
    }

    /// Reads one of a few words.
    pub(super) fn word<T: Copy>(
        &self,
        key: &str,
        words: &[(&str, T)],
        problems: &mut Vec<Problem>,
    ) -> Option<T> {
        let text = self.text(key, problems)?;
        let found = words.iter().find(|(word, _)| *word == text);
        if found.is_none() {
            let known: Vec<_> = words.iter().map(|(word, _)| *word).collect();
            let message = format!("`{}` is none of {}", shortened(text), known.join(", "));
            self.refuse(key, message, problems);
        }
        found.map(|(_, value)| *value)
    }

    /// Reads a duration as Go writes it.
    pub(super) fn duration(
        &self,
        key: &str,
        problems: &mut Vec<Problem>,
    ) -> Option<SignedDuration> {
        let read = duration::parse(self.text(key, problems)?);
        if let Err(invalid) = &read {
            let message = match invalid {
                InvalidDuration::Malformed => {
                    "a duration such as `90s`, `15m` or `1h30m` is expected; a day is `24h`"
                }
                InvalidDuration::Negative => "a duration cannot be negative",
                InvalidDuration::TooLong => "ten years (`87600h`) are the longest",
            };
            self.refuse(key, message, problems);
        }
        read.ok()
    }

    /// Reads the items of a list, each with its path.
    pub(super) fn items(&self, key: &str, problems: &mut Vec<Problem>) -> Vec<(String, &'a Value)> {
        match self.get(key) {
            None => Vec::new(),
            Some(Value::Array(items)) => {
                let items = items.iter().enumerate();
                let at = |index| format!("{}[{index}]", self.path(key));
                items.map(|(index, item)| (at(index), item)).collect()
            }
            Some(_) => {
                self.refuse(key, "a list is expected", problems);
                Vec::new()
            }
        }
    }

    /// Adds a problem for each field that nobody knows.
    pub(super) fn refuse_unknown(&self, known: &[&str], problems: &mut Vec<Problem>) {
        for key in self.fields.keys() {
            if !known.contains(&key.as_str()) {
                let message = misspelt::unknown(key, known);
                self.refuse(&shortened(key), message, problems);
            }
        }
    }
}

/// Returns the beginning of a text.
pub(super) fn shortened(text: &str) -> String {
    text.chars().take(MAX_REPEATED).collect()
}
