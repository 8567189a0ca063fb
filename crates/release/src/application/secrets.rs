//! Secrets: the values of an application that are kept apart from the rest of it.
//!
//! Values that are known to be no secrets stay beside one: the names of files, and where they are mounted. Anything else that
//! stands where secrets do is taken for one.

use std::collections::BTreeMap;
use std::fmt;

use serde_json::{Map, Value};
use zeroize::Zeroizing;

/// The paths of settings at which files of secrets are.
const FILES: [&[&str]; 1] = [&["environment", "file", "secret"]];

/// The paths of settings that are secrets as a whole. The older words are among them: in a file of the other dialect
/// they mean nothing, and are secrets all the same.
const WHOLE: [&[&str]; 4] = [
    &["repository", "image", "auth"],
    &["repository", "auth"],
    &["authRepository"],
    &["secrets"],
];

/// The members of a file of secrets that are none.
const PUBLIC_OF_FILE: [&str; 2] = ["inheritGroup", "mountPath"];

/// Values that were taken out of a document, by the paths that they were at. They are printed nowhere, and wiped when
/// they are dropped.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Secrets {
    /// JSON texts, by JSON pointers.
    values: BTreeMap<String, Zeroizing<String>>,
}

/// A text that holds no secrets: it was written by something else. It is not repeated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the secrets of a configuration cannot be read")]
pub struct InvalidSecrets;

impl Secrets {
    /// Takes the secrets out of a document with the settings of a group and of an application.
    pub(super) fn take_from(document: &mut Value) -> Self {
        let mut secrets = Self::default();
        for (key, settings) in members(document) {
            secrets.take_from_settings(&child("", key), settings);
        }
        secrets
    }

    /// Tells whether there are none.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Returns the JSON pointers of the secrets.
    pub fn pointers(&self) -> impl Iterator<Item = &str> {
        self.values.keys().map(String::as_str)
    }

    /// Returns a document with the secrets where they were, as it was before they were taken out.
    pub fn merged_into(&self, public: &Value) -> Value {
        let mut whole = public.clone();
        for (pointer, value) in &self.values {
            // A pointer to nowhere belongs to another document.
            if let Ok(value) = serde_json::from_str(value) {
                put(&mut whole, pointer, value);
            }
        }
        whole
    }

    /// Writes all of them, to be sealed.
    pub fn to_json(&self) -> Zeroizing<String> {
        let values = self.values.iter();
        let values: BTreeMap<&str, &str> = values
            .map(|(pointer, value)| (pointer.as_str(), value.as_str()))
            .collect();
        let text = serde_json::to_string(&values);
        Zeroizing::new(text.expect("texts are JSON"))
    }

    /// Reads what [`Secrets::to_json`] wrote.
    ///
    /// # Errors
    /// If something else wrote it.
    pub fn from_json(text: &str) -> Result<Self, InvalidSecrets> {
        let read: BTreeMap<String, String> =
            serde_json::from_str(text).map_err(|_| InvalidSecrets)?;
        let values = read.into_iter();
        let values = values.map(|(pointer, value)| (pointer, Zeroizing::new(value)));
        Ok(Self {
            values: values.collect(),
        })
    }

    // Recursion ends: readers refuse documents that nest too deep.
    fn take_from_settings(&mut self, pointer: &str, settings: &mut Value) {
        for path in WHOLE {
            self.take_at(pointer, settings, path);
        }
        for path in FILES {
            let Some((parent, key)) = find(pointer, settings, path) else {
                continue;
            };
            self.take_from_files(&parent.0, parent.1, key);
        }
        if let Some(overrides) = settings.get_mut("in") {
            let pointer = child(pointer, "in");
            for (key, settings) in members(overrides) {
                self.take_from_settings(&child(&pointer, key), settings);
            }
        }
    }

    fn take_at(&mut self, pointer: &str, settings: &mut Value, path: &[&str]) {
        if let Some(((pointer, parent), key)) = find(pointer, settings, path) {
            self.take(&pointer, parent, key);
        }
    }

    fn take_from_files(&mut self, pointer: &str, parent: &mut Map<String, Value>, key: &str) {
        let here = child(pointer, key);
        let Some(Value::Object(files)) = parent.get_mut(key) else {
            return self.take(pointer, parent, key);
        };
        for name in names(files) {
            let Some(Value::Object(file)) = files.get_mut(&name) else {
                self.take(&here, files, &name);
                continue;
            };
            let here = child(&here, &name);
            for key in names(file) {
                match file.get_mut(&key) {
                    Some(Value::Bool(_) | Value::String(_))
                        if PUBLIC_OF_FILE.contains(&key.as_str()) => {}
                    Some(Value::Array(items))
                        if key == "data" && items.iter().all(Value::is_object) =>
                    {
                        self.take_from_data(&child(&here, &key), items);
                    }
                    _ => self.take(&here, file, &key),
                }
            }
        }
    }

    fn take_from_data(&mut self, pointer: &str, items: &mut [Value]) {
        for (index, item) in items.iter_mut().enumerate() {
            let pointer = child(pointer, &index.to_string());
            let Value::Object(item) = item else {
                continue;
            };
            for key in names(item) {
                if key != "name" {
                    self.take(&pointer, item, &key);
                }
            }
        }
    }

    fn take(&mut self, pointer: &str, parent: &mut Map<String, Value>, key: &str) {
        if let Some(value) = parent.remove(key) {
            let text = Zeroizing::new(value.to_string());
            self.values.insert(child(pointer, key), text);
        }
    }
}

impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[redacted]")
    }
}

/// A map in a document, and its pointer there.
type Found<'a> = (String, &'a mut Map<String, Value>);

/// Finds the map that has the last key of a path, if it has it.
fn find<'a, 'b>(
    pointer: &str,
    settings: &'a mut Value,
    path: &[&'b str],
) -> Option<(Found<'a>, &'b str)> {
    let (key, parents) = path.split_last()?;
    let mut pointer = pointer.to_owned();
    let mut value = settings;
    for parent in parents {
        pointer = child(&pointer, parent);
        value = value.get_mut(*parent)?;
    }
    let fields = value.as_object_mut()?;
    fields
        .contains_key(*key)
        .then_some(((pointer, fields), *key))
}

fn members(value: &mut Value) -> impl Iterator<Item = (&String, &mut Value)> {
    value.as_object_mut().into_iter().flatten()
}

fn names(fields: &Map<String, Value>) -> Vec<String> {
    fields.keys().cloned().collect()
}

/// Returns the JSON pointer of a member.
fn child(pointer: &str, key: &str) -> String {
    format!("{pointer}/{}", key.replace('~', "~0").replace('/', "~1"))
}

fn put(document: &mut Value, pointer: &str, value: Value) {
    let Some((parent, key)) = pointer.rsplit_once('/') else {
        return;
    };
    let fields = document.pointer_mut(parent).and_then(Value::as_object_mut);
    if let Some(fields) = fields {
        fields.insert(key.replace("~1", "/").replace("~0", "~"), value);
    }
}
