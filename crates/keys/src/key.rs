//! A key of its own, outside of any set.

use std::sync::Arc;

use crate::metadata::{Metadata, is_binary_name, meta_name};
use crate::name::{self, Name};
use crate::value::Value;

/// A name, a value and metadata.
///
/// A key is binary exactly when its metadata has `meta:/binary`; the setters keep that in step with
/// the value, so switching between text and bytes is also a change of metadata.
///
/// ```
/// use pathline_keys::{Key, Value};
///
/// let mut key = Key::new("user:/logo".parse()?).with_value(vec![0x89, b'P']);
/// assert_eq!(key.metadata().get("binary"), Some(""));
/// key.set_value(Value::from("none"));
/// assert!(key.metadata().is_empty());
/// # Ok::<(), pathline_keys::name::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Key {
    name: Name,
    value: Value,
    metadata: Metadata,
}

impl Key {
    /// Returns a key without value and metadata.
    #[must_use]
    pub const fn new(name: Name) -> Self {
        Self {
            name,
            value: Value::Absent,
            metadata: Metadata::new(),
        }
    }

    /// Returns the key with another value.
    #[must_use]
    pub fn with_value(mut self, value: impl Into<Value>) -> Self {
        self.set_value(value);
        self
    }

    /// Returns the key with one more entry of metadata.
    ///
    /// ```
    /// use pathline_keys::Key;
    ///
    /// let key = Key::new("user:/timeout".parse()?).with_value("30").with_meta("unit", "s")?;
    /// assert_eq!(key.metadata().get("unit"), Some("s"));
    /// # Ok::<(), pathline_keys::name::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Fails if the name of the entry is not one.
    pub fn with_meta(mut self, name: &str, text: impl Into<Arc<str>>) -> Result<Self, name::Error> {
        self.insert_meta(name, text)?;
        Ok(self)
    }

    /// Returns the key with other metadata; see [`Key::set_metadata`].
    #[must_use]
    pub fn with_metadata(mut self, metadata: Metadata) -> Self {
        self.set_metadata(metadata);
        self
    }

    /// Returns the key under another name.
    #[must_use]
    pub fn with_name(mut self, name: Name) -> Self {
        self.name = name;
        self
    }

    /// Returns the name.
    #[must_use]
    pub const fn name(&self) -> &Name {
        &self.name
    }

    /// Returns the value.
    #[must_use]
    pub const fn value(&self) -> &Value {
        &self.value
    }

    /// Returns the metadata.
    #[must_use]
    pub const fn metadata(&self) -> &Metadata {
        &self.metadata
    }

    /// Replaces the value; bytes set `meta:/binary`, everything else removes it.
    pub fn set_value(&mut self, value: impl Into<Value>) {
        self.value = value.into();
        match self.value {
            Value::Binary(_) if !self.metadata.is_binary() => self.metadata.set_binary(),
            Value::Absent | Value::Text(_) if self.metadata.is_binary() => {
                self.metadata.remove("binary");
            }
            _ => {}
        }
    }

    /// Replaces the metadata. `meta:/binary` turns the value into bytes, and stays if the value is
    /// bytes already.
    pub fn set_metadata(&mut self, metadata: Metadata) {
        self.metadata = metadata;
        self.settle_kind();
    }

    /// Keeps one entry of metadata. `meta:/binary` turns the value into bytes, and has no text.
    ///
    /// # Errors
    ///
    /// Fails if the name of the entry is not one; then nothing changes.
    pub fn insert_meta(
        &mut self,
        name: &str,
        text: impl Into<Arc<str>>,
    ) -> Result<(), name::Error> {
        self.metadata.insert(name, text)?;
        self.settle_kind();
        Ok(())
    }

    /// Forgets one entry of metadata and returns its text. `meta:/binary` follows the value and
    /// cannot be forgotten while that is bytes.
    pub fn remove_meta(&mut self, name: &str) -> Option<Arc<str>> {
        let follows_value = matches!(self.value, Value::Binary(_))
            && meta_name(name).is_ok_and(|name| is_binary_name(&name));
        if follows_value {
            None
        } else {
            self.metadata.remove(name)
        }
    }

    fn settle_kind(&mut self) {
        match (&self.value, self.metadata.is_binary()) {
            (Value::Absent, true) => self.value = Value::Binary([].into()),
            (Value::Text(text), true) => self.value = Value::Binary(text.as_bytes().into()),
            (Value::Binary(_), _) => {}
            _ => return,
        }
        self.metadata.set_binary();
    }
}
