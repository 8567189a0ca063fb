//! Field errors, worded as Kubernetes words them.

use std::fmt;

use serde_json::Value;

/// The fault of a field; decides the cause's reason in a `Status`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ErrorKind {
    /// A value is needed and missing.
    Required,
    /// A value is malformed or out of bounds.
    Invalid,
    /// A value has the wrong JSON type.
    TypeInvalid,
    /// A value is not one of the allowed ones.
    NotSupported,
    /// A value collides with another one that must differ.
    Duplicate,
    /// A value is not allowed here.
    Forbidden,
    /// A string or a map is too long.
    TooLong,
    /// A list has too many items.
    TooMany,
}

impl ErrorKind {
    /// Returns the `reason` of a cause, such as `FieldValueRequired`.
    pub(crate) fn reason(self) -> &'static str {
        match self {
            Self::Required => "FieldValueRequired",
            Self::Invalid => "FieldValueInvalid",
            Self::TypeInvalid => "FieldValueTypeInvalid",
            Self::NotSupported => "FieldValueNotSupported",
            Self::Duplicate => "FieldValueDuplicate",
            Self::Forbidden => "FieldValueForbidden",
            Self::TooLong => "FieldValueTooLong",
            Self::TooMany => "FieldValueTooMany",
        }
    }

    /// Returns how a message of this kind opens.
    fn title(self) -> &'static str {
        match self {
            Self::Required => "Required value",
            Self::Invalid | Self::TypeInvalid => "Invalid value",
            Self::NotSupported => "Unsupported value",
            Self::Duplicate => "Duplicate value",
            Self::Forbidden => "Forbidden",
            Self::TooLong => "Too long",
            Self::TooMany => "Too many",
        }
    }
}

/// One thing wrong with one field of an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FieldError {
    /// The fault.
    pub(crate) kind: ErrorKind,
    /// The path, as `spec.containers[0].name`; empty for the object itself.
    pub(crate) path: String,
    /// The text after the path, such as `Required value`.
    pub(crate) message: String,
}

impl FieldError {
    /// Reports a missing value; `detail` may be empty.
    pub(crate) fn required(path: impl Into<String>, detail: &str) -> Self {
        Self::new(ErrorKind::Required, path, None, detail)
    }

    /// Reports a malformed value.
    pub(crate) fn invalid(path: impl Into<String>, value: &Value, detail: &str) -> Self {
        Self::new(ErrorKind::Invalid, path, Some(value), detail)
    }

    /// Reports something that may not be set.
    pub(crate) fn forbidden(path: impl Into<String>, detail: &str) -> Self {
        Self::new(ErrorKind::Forbidden, path, None, detail)
    }

    /// Reports a value that occurs twice.
    pub(crate) fn duplicate(path: impl Into<String>, value: &Value) -> Self {
        Self::new(ErrorKind::Duplicate, path, Some(value), "")
    }

    /// Reports a value outside a closed list.
    pub(crate) fn not_supported(path: impl Into<String>, value: &Value, allowed: &[Value]) -> Self {
        let allowed: Vec<String> = allowed.iter().map(quoted).collect();
        let detail = format!("supported values: {}", allowed.join(", "));
        Self::new(ErrorKind::NotSupported, path, Some(value), &detail)
    }

    /// Reports a string longer than `limit` bytes.
    pub(crate) fn too_long(path: impl Into<String>, limit: u64) -> Self {
        let unit = if limit == 1 { "byte" } else { "bytes" };
        let detail = format!("may not be more than {limit} {unit}");
        Self::new(ErrorKind::TooLong, path, None, &detail)
    }

    /// Reports a list of `actual` items where at most `limit` are allowed.
    pub(crate) fn too_many(path: impl Into<String>, actual: usize, limit: u64) -> Self {
        let unit = if limit == 1 { "item" } else { "items" };
        let detail = format!("must have at most {limit} {unit}");
        Self::new(
            ErrorKind::TooMany,
            path,
            Some(&Value::from(actual)),
            &detail,
        )
    }

    pub(crate) fn new(
        kind: ErrorKind,
        path: impl Into<String>,
        value: Option<&Value>,
        detail: &str,
    ) -> Self {
        let mut message = kind.title().to_owned();
        if let Some(value) = value {
            message.push_str(": ");
            message.push_str(&shown(value));
        }
        if !detail.is_empty() {
            message.push_str(": ");
            message.push_str(detail);
        }
        Self {
            kind,
            path: path.into(),
            message,
        }
    }
}

impl fmt::Display for FieldError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The API server names the object itself `<nil>`, as its path has no element.
        let path = if self.path.is_empty() {
            "<nil>"
        } else {
            &self.path
        };
        write!(f, "{path}: {}", self.message)
    }
}

/// Prints a value as Kubernetes does in messages: strings quoted, the rest as JSON.
fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => quoted_text(text),
        other => other.to_string(),
    }
}

fn quoted(value: &Value) -> String {
    match value {
        Value::String(text) => quoted_text(text),
        other => format!("\"{other}\""),
    }
}

/// Quotes a text as Go does, in whose words messages are.
fn quoted_text(text: &str) -> String {
    let mut quoted = String::from('"');
    for character in text.chars() {
        match character {
            '"' | '\\' => quoted.extend(['\\', character]),
            '\u{7}' => quoted.push_str("\\a"),
            '\u{8}' => quoted.push_str("\\b"),
            '\u{b}' => quoted.push_str("\\v"),
            '\u{c}' => quoted.push_str("\\f"),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            other if other.is_ascii_control() => {
                quoted.push_str(&format!("\\x{:02x}", u32::from(other)));
            }
            other if other.is_control() => {
                quoted.push_str(&format!("\\u{:04x}", u32::from(other)));
            }
            other => quoted.push(other),
        }
    }
    quoted + "\""
}
