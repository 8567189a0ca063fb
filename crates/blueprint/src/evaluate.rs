//! Expressions that must lead to exactly one value, with the messages people know.

use serde_json::Value;

use pathline_jsonpath::{self as jsonpath, JsonPath};

/// Says why an expression has no single value.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub(crate) enum Error {
    /// The expression leads nowhere.
    #[error("jsonpath returned empty list: {0}")]
    Missing(String),
    /// The expression leads to several values.
    #[error("too many results for the query: {0}")]
    TooManyResults(String),
    /// The expression is no path, or cannot be followed.
    #[error("evaluate: {0}")]
    Path(jsonpath::Error),
}

/// Returns the one value that `expression` leads to in `data`; null is a value.
pub(crate) fn value(expression: &str, data: &Value) -> Result<Value, Error> {
    match parse(expression)?.one(data) {
        Ok(Some(value)) => Ok(value.into_owned()),
        Ok(None) => Err(Error::Missing(expression.to_owned())),
        Err(jsonpath::Error::TooManyResults) => Err(Error::TooManyResults(expression.to_owned())),
        Err(error) => Err(Error::Path(error)),
    }
}

/// Parses an expression.
pub(crate) fn parse(expression: &str) -> Result<JsonPath, Error> {
    JsonPath::parse(expression).map_err(Error::Path)
}

/// Returns the one value that `expression` leads to, unless there is none or it is null.
pub(crate) fn present(expression: &str, data: &Value) -> Result<Value, Error> {
    match value(expression, data) {
        Ok(Value::Null) => Err(Error::Missing(expression.to_owned())),
        other => other,
    }
}
