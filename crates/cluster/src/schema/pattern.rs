//! `pattern`: regular expressions in Go's dialect.

use std::fmt;

use regex::{Regex, RegexBuilder};

/// The most memory one compiled pattern may take.
const SIZE_LIMIT: usize = 1 << 20;

/// A compiled `pattern`; it matches anywhere in a string unless anchored.
#[derive(Clone)]
pub(super) struct Pattern {
    source: String,
    regex: Regex,
}

impl Pattern {
    /// Compiles a pattern or says what is wrong with it.
    pub(super) fn compile(source: &str) -> Result<Self, String> {
        let regex = RegexBuilder::new(&translate(source))
            .size_limit(SIZE_LIMIT)
            .build()
            .map_err(|error| error.to_string())?;
        Ok(Self {
            source: source.to_owned(),
            regex,
        })
    }

    /// Returns whether the pattern occurs in `text`.
    pub(super) fn matches(&self, text: &str) -> bool {
        self.regex.is_match(text)
    }

    /// Returns the pattern as it was written.
    pub(super) fn source(&self) -> &str {
        &self.source
    }
}

impl fmt::Debug for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "/{}/", self.source)
    }
}

/// Rewrites what Go's regular expressions read differently from Rust's.
///
/// In Go `\d`, `\s` and `\w` are ASCII, and inside a class `[` and doubled operators such as `&&`
/// are plain characters.
fn translate(source: &str) -> String {
    let mut out = String::with_capacity(source.len());
    let mut chars = source.chars().peekable();
    let mut class = Class::Outside;
    while let Some(current) = chars.next() {
        match current {
            '\\' => match chars.next() {
                Some(escaped) => push_escape(&mut out, escaped),
                None => out.push('\\'),
            },
            '[' if class == Class::Outside => {
                out.push('[');
                if chars.next_if_eq(&'^').is_some() {
                    out.push('^');
                }
                // A `]` that opens a class is part of it.
                if chars.next_if_eq(&']').is_some() {
                    out.push_str("\\]");
                }
                class = Class::Inside;
            }
            '[' if chars.peek() == Some(&':') => {
                out.push('[');
                class = Class::Named;
            }
            ']' if class == Class::Named => {
                out.push(']');
                class = Class::Inside;
            }
            ']' => {
                out.push(']');
                class = Class::Outside;
            }
            '[' | '&' | '~' if class == Class::Inside => {
                out.push('\\');
                out.push(current);
            }
            '-' if class == Class::Inside && chars.peek() == Some(&'-') => {
                // The first one opens the class, or stands between the ends of a range.
                if out.ends_with(['[', '^']) {
                    out.push_str("\\-");
                } else {
                    chars.next();
                    out.push_str("-\\-");
                }
            }
            other => out.push(other),
        }
    }
    out
}

#[derive(PartialEq, Eq)]
enum Class {
    Outside,
    Inside,
    Named,
}

fn push_escape(out: &mut String, escaped: char) {
    match escaped {
        'd' => out.push_str("[0-9]"),
        'D' => out.push_str("[^0-9]"),
        's' => out.push_str("[\\t\\n\\f\\r ]"),
        'S' => out.push_str("[^\\t\\n\\f\\r ]"),
        'w' => out.push_str("[0-9A-Za-z_]"),
        'W' => out.push_str("[^0-9A-Za-z_]"),
        other => {
            out.push('\\');
            out.push(other);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_as_in_go() {
        let cases = [
            (r"^\d+$", "12", true),
            (r"^\d+$", "١٢", false),
            (r"^[\w.-]+$", "a_b-c.d", true),
            (r"^[^\s/]+$", "a/b", false),
            (r"^[[]$", "[", true),
            (r"^[]a]+$", "]a", true),
            (r"^[a&&b]+$", "a&b", true),
            (r"^[[:alpha:]_]+$", "ab_", true),
            (r"^[[:alpha:]_]+$", "1", false),
            (r"b", "abc", true),
            (r"^(\[\d\])$", "[1]", true),
            (r"^[+--]$", ",", true),
            (r"^[--/]$", ".", true),
        ];
        for (pattern, text, expected) in cases {
            let compiled = Pattern::compile(pattern).unwrap();
            assert_eq!(compiled.matches(text), expected, "{pattern} on {text}");
        }
    }

    #[test]
    fn malformed_and_huge_patterns_are_refused() {
        for pattern in ["(", "[a", "a{1000}{1000}{1000}", "(?=x)", "\\"] {
            assert!(Pattern::compile(pattern).is_err(), "{pattern} is refused");
        }
    }
}
