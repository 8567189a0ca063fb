//! Regular expressions whose first group is replaced.

use regex::{Regex, RegexBuilder};

/// The largest compiled expression, in bytes.
const MAX_COMPILED: usize = 1 << 20;
/// The longest expression.
const MAX_LENGTH: usize = 4_096;

/// A regular expression with a group that is replaced in each match. `^` and `$` are those of lines.
#[derive(Clone, Debug)]
pub struct Pattern(Regex);

impl Pattern {
    /// Reads an expression.
    ///
    /// # Errors
    /// If it is none, is too large, or has no group.
    pub fn read(text: &str) -> Result<Self, NotAPattern> {
        if text.len() > MAX_LENGTH {
            return Err(NotAPattern::TooLong);
        }
        let mut builder = RegexBuilder::new(text);
        let built = builder.multi_line(true).size_limit(MAX_COMPILED).build();
        let regex = built.map_err(|error| NotAPattern::Syntax(error.to_string()))?;
        match regex.captures_len() {
            1 => Err(NotAPattern::NoGroup),
            _ => Ok(Self(regex)),
        }
    }

    /// Returns the text with the value in each match: `None` without a match, `Some(None)` if all have it.
    pub(super) fn replace(&self, text: &str, value: &str) -> Option<Option<String>> {
        let groups = self.0.captures_iter(text).filter_map(|it| it.get(1));
        let groups: Vec<_> = groups.map(|it| it.range()).collect();
        if groups.is_empty() {
            return None;
        }
        let mut replaced = String::with_capacity(text.len());
        let mut end = 0;
        for group in groups {
            replaced.push_str(&text[end..group.start]);
            replaced.push_str(value);
            end = group.end;
        }
        replaced.push_str(&text[end..]);
        Some((replaced != text).then_some(replaced))
    }
}

/// Says why a text is not an expression that can be replaced.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotAPattern {
    /// It is not a regular expression.
    #[error("{0}")]
    Syntax(String),
    /// It has no group.
    #[error("it has no group: put what is to be replaced in parentheses")]
    NoGroup,
    /// It is too long.
    #[error("it is longer than {MAX_LENGTH} bytes")]
    TooLong,
}
