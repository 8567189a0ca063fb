//! Field selectors: `metadata.name=web,status.phase!=Running`.

use std::fmt;

use super::ParseError;

/// Requirements on fields, all of which must hold; none at all selects everything.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct FieldSelector {
    terms: Vec<Term>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Term {
    field: String,
    value: String,
    equal: bool,
}

impl FieldSelector {
    /// Reads a selector; `\`, `,` and `=` in values are escaped with `\`.
    pub(crate) fn parse(text: &str) -> Result<Self, ParseError> {
        let mut terms = Vec::new();
        for part in split_terms(text) {
            if !part.is_empty() {
                terms.push(parse_term(part, text)?);
            }
        }
        Ok(Self { terms })
    }

    /// Returns whether everything is selected.
    pub(crate) fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }

    /// Returns the fields it asks for, so that a kind can refuse those it does not index.
    pub(crate) fn fields(&self) -> impl Iterator<Item = &str> {
        self.terms.iter().map(|term| term.field.as_str())
    }

    /// Returns whether an object satisfies every term; `value_of` reads a field, `""` if unset.
    pub(crate) fn matches(&self, mut value_of: impl FnMut(&str) -> String) -> bool {
        self.terms
            .iter()
            .all(|term| (value_of(&term.field) == term.value) == term.equal)
    }
}

impl fmt::Display for FieldSelector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, term) in self.terms.iter().enumerate() {
            let comma = if index == 0 { "" } else { "," };
            let operator = if term.equal { "=" } else { "!=" };
            write!(f, "{comma}{}{operator}{}", term.field, escape(&term.value))?;
        }
        Ok(())
    }
}

/// Splits at commas that are not escaped.
fn split_terms(text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut start = 0;
    let mut escaped = false;
    for (index, byte) in text.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b',' => {
                parts.push(&text[start..index]);
                start = index + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    parts
}

fn parse_term(part: &str, whole: &str) -> Result<Term, ParseError> {
    let not_understood = || {
        ParseError(format!(
            "invalid selector: '{whole}'; can't understand '{part}'"
        ))
    };
    let operators = [("!=", false), ("==", true), ("=", true)];
    let (field, value, equal) = part
        .char_indices()
        .find_map(|(index, _)| {
            let (field, rest) = part.split_at(index);
            operators
                .into_iter()
                .find_map(|(operator, equal)| Some((field, rest.strip_prefix(operator)?, equal)))
        })
        .ok_or_else(not_understood)?;
    Ok(Term {
        field: field.to_owned(),
        value: unescape(value)?,
        equal,
    })
}

fn unescape(value: &str) -> Result<String, ParseError> {
    let mut result = String::with_capacity(value.len());
    let mut chars = value.chars();
    while let Some(current) = chars.next() {
        match current {
            '\\' => match chars.next() {
                Some(escaped @ ('\\' | ',' | '=')) => result.push(escaped),
                Some(other) => {
                    let sequence = format!("\\{other}");
                    return Err(ParseError(format!(
                        "invalid field selector: invalid escape sequence: {sequence}"
                    )));
                }
                None => {
                    return Err(ParseError(
                        "invalid field selector: invalid escape sequence: \\".to_owned(),
                    ));
                }
            },
            ',' | '=' => {
                return Err(ParseError(format!(
                    "invalid field selector: unescaped character in value: {current}"
                )));
            }
            other => result.push(other),
        }
    }
    Ok(result)
}

fn escape(value: &str) -> String {
    let mut result = String::with_capacity(value.len());
    for current in value.chars() {
        if matches!(current, '\\' | ',' | '=') {
            result.push('\\');
        }
        result.push(current);
    }
    result
}

#[cfg(test)]
mod tests {
    use pathline_testkit::cases;
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn terms_hold_as_in_kubernetes() {
        let value_of = |field: &str| match field {
            "metadata.name" => "web".to_owned(),
            "odd" => "a,b=c".to_owned(),
            _ => String::new(),
        };
        let cases = [
            ("", true),
            ("metadata.name=web", true),
            ("metadata.name==web,metadata.namespace!=x", true),
            ("metadata.name!=web", false),
            (r"odd=a\,b\=c", true),
            ("metadata.namespace=", true),
        ];
        for (selector, expected) in cases {
            let parsed = FieldSelector::parse(selector).unwrap();
            assert_eq!(parsed.matches(value_of), expected, "{selector}");
        }
    }

    #[test]
    fn fields_are_known_without_an_object() {
        let selector = FieldSelector::parse("metadata.name=web,a!=b").unwrap();
        assert_eq!(
            selector.fields().collect::<Vec<_>>(),
            ["metadata.name", "a"]
        );
    }

    #[test]
    fn malformed_selectors_are_refused() {
        let cases = [
            (
                "nothing",
                "invalid selector: 'nothing'; can't understand 'nothing'",
            ),
            ("a=b,c", "invalid selector: 'a=b,c'; can't understand 'c'"),
            ("a!b", "invalid selector: 'a!b'; can't understand 'a!b'"),
            (
                r"a=\x",
                r"invalid field selector: invalid escape sequence: \x",
            ),
            (
                "a=b=c",
                "invalid field selector: unescaped character in value: =",
            ),
        ];
        for (selector, expected) in cases {
            let error = FieldSelector::parse(selector).unwrap_err();
            assert_eq!(error.to_string(), expected, "{selector}");
        }
    }

    proptest! {
        #![proptest_config(cases(256))]

        #[test]
        fn printed_selectors_read_back_equal(
            terms in prop::collection::vec(("[a-z.]{1,5}", "[a-z,=\\\\é ]{0,5}", any::<bool>()), 0..4)
        ) {
            let terms = terms.into_iter()
                .map(|(field, value, equal)| Term { field, value, equal })
                .collect();
            let selector = FieldSelector { terms };
            prop_assert_eq!(FieldSelector::parse(&selector.to_string()).unwrap(), selector);
        }
    }
}
