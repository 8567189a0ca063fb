//! Values: a text, bytes, or nothing.

use std::sync::Arc;

/// The value of a key. Clones share their content.
///
/// An absent value and an empty text are equal: no getter can tell them apart, so no diff may.
/// Empty bytes are Elektra's null binary; they hold as little, but the key stays binary.
///
/// ```
/// use pathline_keys::Value;
///
/// assert_eq!(Value::Absent, Value::from(""));
/// assert_ne!(Value::Absent, Value::Binary([].into()));
/// assert_ne!(Value::from("x"), Value::Binary(b"x"[..].into()));
/// ```
#[derive(Debug, Clone, Default)]
pub enum Value {
    /// Never set.
    #[default]
    Absent,
    /// A string.
    Text(Arc<str>),
    /// Bytes; the key carries `meta:/binary`.
    Binary(Arc<[u8]>),
}

impl Value {
    /// Returns a view of the value.
    #[must_use]
    pub fn as_ref(&self) -> ValueRef<'_> {
        match self {
            Self::Absent => ValueRef::Absent,
            Self::Text(text) => ValueRef::Text(text),
            Self::Binary(bytes) => ValueRef::Binary(bytes),
        }
    }
}

impl PartialEq for Value {
    fn eq(&self, other: &Self) -> bool {
        self.as_ref() == other.as_ref()
    }
}

impl Eq for Value {}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(text.into())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::Text(text.into())
    }
}

impl From<&[u8]> for Value {
    fn from(bytes: &[u8]) -> Self {
        Self::Binary(bytes.into())
    }
}

impl From<Vec<u8>> for Value {
    fn from(bytes: Vec<u8>) -> Self {
        Self::Binary(bytes.into())
    }
}

/// A view of a value inside a key set.
///
/// ```
/// use pathline_keys::{Key, KeySet, ValueRef};
///
/// let set: KeySet = [Key::new("user:/port".parse()?).with_value("80")].into_iter().collect();
/// let key = set.get(&"user:/port".parse()?).expect("just inserted");
/// assert_eq!(key.value(), ValueRef::Text("80"));
/// # Ok::<(), pathline_keys::name::Error>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub enum ValueRef<'a> {
    /// Never set.
    Absent,
    /// A string.
    Text(&'a str),
    /// Bytes.
    Binary(&'a [u8]),
}

impl<'a> ValueRef<'a> {
    /// Returns the text; of an absent value the empty one, of bytes nothing.
    #[must_use]
    pub fn text(self) -> Option<&'a str> {
        match self {
            Self::Absent => Some(""),
            Self::Text(text) => Some(text),
            Self::Binary(_) => None,
        }
    }

    /// Tells whether the value is bytes.
    #[must_use]
    pub fn is_binary(self) -> bool {
        matches!(self, Self::Binary(_))
    }

    /// Returns an owned copy.
    #[must_use]
    pub fn to_value(self) -> Value {
        match self {
            Self::Absent => Value::Absent,
            Self::Text(text) => text.into(),
            Self::Binary(bytes) => bytes.into(),
        }
    }

    /// Tells whether both hold the same content, where everything empty is alike. That a key became
    /// binary without getting content is then a change of its metadata alone.
    #[must_use]
    pub fn same_content(self, other: ValueRef<'_>) -> bool {
        let (own, others) = (self.bytes(), other.bytes());
        own == others && (own.is_empty() || self.is_binary() == other.is_binary())
    }

    pub(crate) fn bytes(self) -> &'a [u8] {
        match self {
            Self::Absent => &[],
            Self::Text(text) => text.as_bytes(),
            Self::Binary(bytes) => bytes,
        }
    }
}

impl PartialEq<ValueRef<'_>> for ValueRef<'_> {
    fn eq(&self, other: &ValueRef<'_>) -> bool {
        self.is_binary() == other.is_binary() && self.bytes() == other.bytes()
    }
}

impl Eq for ValueRef<'_> {}
