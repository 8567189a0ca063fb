//! Secrets: the values of an application that are kept apart from the rest of it.
//!
//! Values that are known to be no secrets stay beside one: the names of files, and where they are mounted. Anything else that
//! stands where secrets do is taken for one, and so is what a misspelt key may have made of one: keys that mean nothing beside
//! secrets, and whatever has the name of a secret. A variable or a file that repeats a secret, or contains one, is one as well.

mod suspect;

use std::collections::BTreeMap;
use std::fmt;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value};
use zeroize::Zeroizing;

use super::known::is_setting;

/// The path of settings at which files are.
const FILES: [&str; 2] = ["environment", "file"];

/// The path of settings at which files are that everybody may see.
const CONFIG_FILES: [&str; 3] = ["environment", "file", "config"];

/// The member of files that holds those of secrets.
const SECRET: &str = "secret";

/// The paths of settings beside whose known members nothing is shown.
const CLOSED: [(&[&str], &[&str]); 3] = [
    (&FILES, &["config", SECRET]),
    (&["repository"], &["image"]),
    (
        &["repository", "image"],
        &["domain", "owner", "name", "officialImage"],
    ),
];

/// The path of settings at which variables are.
const VARIABLES: [&str; 2] = ["environment", "variable"];

/// The shortest text that is a secret wherever it is repeated: `true` and `1` are nobody's.
const MIN_REPEATED: usize = 8;

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
        let texts = secrets.texts();
        for (key, settings) in members(document) {
            secrets.take_repeated(&child("", key), settings, &texts);
        }
        secrets
    }

    /// Takes the secrets out of settings that hold somewhere.
    pub(crate) fn take_from_settings_of(settings: &mut Value) -> Self {
        let mut secrets = Self::default();
        secrets.take_from_settings("", settings);
        secrets
    }

    /// Returns the texts that are secret wherever they are repeated: those of the secrets, and what they are in base64.
    pub fn texts(&self) -> Vec<Zeroizing<String>> {
        let mut texts = Vec::new();
        for json in self.values.values() {
            let mut open: Vec<Value> = serde_json::from_str(json).into_iter().collect();
            while let Some(value) = open.pop() {
                match value {
                    Value::String(text) => {
                        let decoded = STANDARD.decode(&text).ok();
                        let decoded = decoded.and_then(|it| String::from_utf8(it).ok());
                        texts.extend(decoded.map(Zeroizing::new));
                        texts.push(Zeroizing::new(text));
                    }
                    Value::Array(items) => open.extend(items),
                    Value::Object(fields) => {
                        open.extend(fields.into_iter().map(|(_, value)| value));
                    }
                    Value::Null | Value::Bool(_) | Value::Number(_) => {}
                }
            }
        }
        texts.retain(|it| it.trim().len() >= MIN_REPEATED);
        texts
    }

    /// Takes out of settings that hold somewhere what repeats one of some secret texts.
    pub(crate) fn remove_repeated(settings: &mut Value, texts: &[Zeroizing<String>]) {
        Self::default().take_repeated("", settings, texts);
    }

    /// Tells whether a value repeats one of some secret texts, alone or among other things.
    fn is_repeated(value: &Value, texts: &[Zeroizing<String>]) -> bool {
        let text = value.as_str().unwrap_or_default();
        texts.iter().any(|secret| text.contains(secret.trim()))
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
        for (path, known) in CLOSED {
            self.take_unknown(pointer, settings, path, known);
        }
        if let Some((pointer, files)) = map_at(pointer, settings, &FILES) {
            self.take_from_files(&pointer, files);
        }
        self.take_config_files(pointer, settings, |datum| {
            let name = datum.get("name").and_then(Value::as_str);
            name.is_some_and(suspect::is_named_so)
        });
        if let Some(overrides) = settings.get_mut("in") {
            let pointer = child(pointer, "in");
            for (key, settings) in members(overrides) {
                self.take_from_settings(&child(&pointer, key), settings);
            }
        }
        // Of the files of secrets, what is left is public.
        let files = map_at(pointer, settings, &FILES).and_then(|(_, it)| it.remove(SECRET));
        self.take_suspect_settings(pointer, settings);
        if let (Some(left), Some((_, files))) = (files, map_at(pointer, settings, &FILES)) {
            files.insert(SECRET.to_owned(), left);
        }
    }

    /// Takes variables, and files of the configuration, that repeat a secret of somewhere else.
    fn take_repeated(&mut self, pointer: &str, settings: &mut Value, texts: &[Zeroizing<String>]) {
        self.take_config_files(pointer, settings, |datum| {
            let value = datum.get("value");
            value.is_some_and(|it| Self::is_repeated(it, texts))
        });
        if let Some((pointer, variables)) = map_at(pointer, settings, &VARIABLES) {
            for name in names(variables) {
                if Self::is_repeated(&variables[&name], texts) {
                    self.take(&pointer, variables, &name);
                }
            }
        }
        if let Some(overrides) = settings.get_mut("in") {
            let pointer = child(pointer, "in");
            for (key, settings) in members(overrides) {
                self.take_repeated(&child(&pointer, key), settings, texts);
            }
        }
    }

    /// Takes files of the configuration, each as a whole, of which a datum is a secret.
    fn take_config_files(
        &mut self,
        pointer: &str,
        settings: &mut Value,
        is_secret: impl Fn(&Value) -> bool,
    ) {
        let Some((pointer, files)) = map_at(pointer, settings, &CONFIG_FILES) else {
            return;
        };
        for name in names(files) {
            let data = files[&name].get("data").and_then(Value::as_array);
            if data.into_iter().flatten().any(&is_secret) {
                self.take(&pointer, files, &name);
            }
        }
    }

    /// Takes all members of the map at a path but those that are known.
    fn take_unknown(&mut self, pointer: &str, settings: &mut Value, path: &[&str], known: &[&str]) {
        let Some((pointer, fields)) = map_at(pointer, settings, path) else {
            return;
        };
        for key in names(fields) {
            if !known.contains(&key.as_str()) {
                self.take(&pointer, fields, &key);
            }
        }
    }

    /// Takes what has the name of a secret, and members that mean nothing and may be misspelt ones with secrets below them.
    fn take_suspect_settings(&mut self, pointer: &str, settings: &mut Value) {
        let Value::Object(fields) = settings else {
            return;
        };
        for key in names(fields) {
            if !is_setting(&key) && fields.get(&key).is_some_and(suspect::has_secrets) {
                self.take(pointer, fields, &key);
            } else if key != "in" {
                self.take_suspects(pointer, fields, &key);
            }
        }
    }

    fn take_suspects(&mut self, pointer: &str, parent: &mut Map<String, Value>, key: &str) {
        if suspect::is_named_so(key) {
            self.take(pointer, parent, key);
        } else if let Some(value) = parent.get_mut(key) {
            self.take_suspects_within(&child(pointer, key), value);
        }
    }

    fn take_suspects_within(&mut self, pointer: &str, value: &mut Value) {
        match value {
            Value::Object(fields) => {
                for key in names(fields) {
                    self.take_suspects(pointer, fields, &key);
                }
            }
            Value::Array(items) => {
                for (index, item) in items.iter_mut().enumerate() {
                    self.take_suspects_within(&child(pointer, &index.to_string()), item);
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }

    fn take_from_files(&mut self, pointer: &str, parent: &mut Map<String, Value>) {
        let here = child(pointer, SECRET);
        let Some(Value::Object(files)) = parent.get_mut(SECRET) else {
            return self.take(pointer, parent, SECRET);
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

/// Finds the map at a path.
fn map_at<'a>(pointer: &str, settings: &'a mut Value, path: &[&str]) -> Option<Found<'a>> {
    let mut pointer = pointer.to_owned();
    let mut value = settings;
    for key in path {
        pointer = child(&pointer, key);
        value = value.get_mut(*key)?;
    }
    Some((pointer, value.as_object_mut()?))
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
