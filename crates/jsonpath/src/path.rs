//! One path, as it is written in a manifest.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::parse::{self, Block};
use crate::{EvalError, ParseError, eval};

/// A parsed path, ready to be evaluated many times.
///
/// Braces and the leading dot may be left out: `spec.image`, `.spec.image` and `{.spec.image}` are the
/// same path. It prints, and is serialized, as it was written.
///
/// ```
/// use pathline_jsonpath::JsonPath;
/// use serde_json::json;
///
/// let pod = json!({"spec": {"containers": [{"image": "web:1"}, {"image": "proxy:2"}]}});
/// let images = JsonPath::parse("spec.containers[*].image")?;
/// let found = images.find(&pod)?;
/// assert_eq!(found.iter().map(|it| it.as_str()).collect::<Vec<_>>(), [Some("web:1"), Some("proxy:2")]);
///
/// let column: JsonPath = serde_json::from_value(json!(".spec.nodeName"))?;
/// assert_eq!(column.one(&pod)?, None);
/// assert_eq!(column.to_string(), ".spec.nodeName");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct JsonPath {
    expression: String,
    pub(crate) blocks: Vec<Block>,
}

/// The reason why a path has no single value in an object; an absent value is not an error.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The expression is empty.
    #[error("empty jsonpath not allowed")]
    Empty,
    /// The expression is not a path.
    #[error("failed to parse jsonpath '{path}': {reason}")]
    Parse {
        /// The path as it was parsed, with the braces that were added.
        path: String,
        /// The fault in it.
        reason: ParseError,
    },
    /// The path cannot be followed in this object.
    #[error("failed to find results: {0}")]
    Eval(#[from] EvalError),
    /// The path leads to several values where one is needed.
    #[error("too many results for the query")]
    TooManyResults,
    /// The expression holds several `{}` blocks where one is needed.
    #[error("more queries than expected")]
    TooManyQueries,
}

impl JsonPath {
    /// Parses an expression whose braces and leading dot may be left out, as in `spec.image`.
    ///
    /// # Errors
    /// [`Error::Empty`] and [`Error::Parse`], if the expression is no path.
    pub fn parse(expression: &str) -> Result<Self, Error> {
        if expression.is_empty() {
            return Err(Error::Empty);
        }
        let path = brace(expression);
        match parse::blocks(&path) {
            Ok(blocks) => Ok(Self {
                expression: expression.to_owned(),
                blocks,
            }),
            Err(reason) => Err(Error::Parse { path, reason }),
        }
    }

    /// Returns all values the path leads to. Of an expression with several `{}` blocks these are the
    /// values of the first, which is how printer columns read a path.
    ///
    /// # Errors
    /// Fails if a step asks for what the object cannot have, such as an item beyond the end of a
    /// list.
    pub fn find<'v>(&self, data: &'v Value) -> Result<Vec<Cow<'v, Value>>, EvalError> {
        self.blocks
            .first()
            .map_or_else(|| Ok(Vec::new()), |block| eval::block(block, data))
    }

    /// Returns the one value the path leads to, or `None` if it leads nowhere.
    ///
    /// # Errors
    /// Fails if the path leads to several values, has several blocks, or cannot be followed.
    pub fn one<'v>(&self, data: &'v Value) -> Result<Option<Cow<'v, Value>>, Error> {
        if let Some(found) = self.plain(data) {
            return Ok(found.map(Cow::Borrowed));
        }
        let mut blocks = eval::find(&self.blocks, data)?.into_iter();
        let mut results = blocks.next().unwrap_or_default().into_iter();
        let value = results.next();
        match (blocks.next(), results.next()) {
            (Some(_), _) => Err(Error::TooManyQueries),
            (None, Some(_)) => Err(Error::TooManyResults),
            (None, None) => Ok(value),
        }
    }

    /// Follows a path of names only, as nearly all are, without a list of results for each step.
    pub(crate) fn plain<'v>(&self, data: &'v Value) -> Option<Option<&'v Value>> {
        let [Block::Steps(steps)] = &self.blocks[..] else {
            return None;
        };
        eval::names(steps, data)
    }
}

impl FromStr for JsonPath {
    type Err = Error;

    fn from_str(expression: &str) -> Result<Self, Error> {
        Self::parse(expression)
    }
}

impl TryFrom<String> for JsonPath {
    type Error = Error;

    fn try_from(expression: String) -> Result<Self, Error> {
        Self::parse(&expression)
    }
}

impl From<JsonPath> for String {
    fn from(path: JsonPath) -> Self {
        path.expression
    }
}

impl fmt::Display for JsonPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.expression)
    }
}

/// Returns the one value that `expression` leads to in `data`, or `None` if it leads nowhere.
///
/// ```
/// use serde_json::json;
///
/// let object = json!({"metadata": {"labels": {"app.kubernetes.io/name": "web"}}});
/// let name = pathline_jsonpath::one(r"metadata.labels.app\.kubernetes\.io/name", &object)?;
/// assert_eq!(name.as_deref(), Some(&json!("web")));
/// # Ok::<(), pathline_jsonpath::Error>(())
/// ```
///
/// # Errors
/// Those of [`JsonPath::parse`] and [`JsonPath::one`].
pub fn one<'v>(expression: &str, data: &'v Value) -> Result<Option<Cow<'v, Value>>, Error> {
    JsonPath::parse(expression)?.one(data)
}

fn brace(expression: &str) -> String {
    let open = expression.strip_prefix('{').unwrap_or(expression);
    let dot = if open.starts_with('.') { "" } else { "." };
    let close = if open.ends_with('}') { "" } else { "}" };
    format!("{{{dot}{open}{close}")
}
