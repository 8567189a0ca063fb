//! Text with paths in it.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::parse::{self, Block};
use crate::{EvalError, ParseError, eval};

/// A parsed template as `kubectl -o jsonpath=` takes it: paths stand in braces, all else is text.
///
/// ```
/// use pathline_jsonpath::Template;
/// use serde_json::json;
///
/// let list = json!({"items": [{"name": "a"}, {"name": "b"}]});
/// let names = Template::parse("{range .items[*]}{.name};{end}")?;
/// let found: Vec<_> = names.find(&list)?.into_iter().flatten().collect();
/// assert_eq!(found.iter().filter_map(|it| it.as_str()).collect::<String>(), "a;b;");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Template {
    text: String,
    blocks: Vec<Block>,
}

impl Template {
    /// Parses a template as client-go does.
    ///
    /// # Errors
    /// Fails if something between braces is no path.
    pub fn parse(text: &str) -> Result<Self, ParseError> {
        Ok(Self {
            text: text.to_owned(),
            blocks: parse::blocks(text)?,
        })
    }

    /// Returns the results of each block in turn; a block of plain text results in that text.
    ///
    /// # Errors
    /// Fails if a step asks for what the object cannot have, or `{end}` has no `{range}`.
    pub fn find<'v>(&self, data: &'v Value) -> Result<Vec<Vec<Cow<'v, Value>>>, EvalError> {
        eval::find(&self.blocks, data)
    }
}

impl FromStr for Template {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        Self::parse(text)
    }
}

impl TryFrom<String> for Template {
    type Error = ParseError;

    fn try_from(text: String) -> Result<Self, ParseError> {
        Self::parse(&text)
    }
}

impl From<Template> for String {
    fn from(template: Template) -> Self {
        template.text
    }
}

impl fmt::Display for Template {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}
