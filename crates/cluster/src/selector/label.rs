//! Label selectors: `app=web,tier in (a,b),!legacy`.

use std::collections::BTreeSet;
use std::fmt;

use serde_json::{Map, Value};

use super::ParseError;
use crate::names;

/// Requirements on labels, all of which must hold; none at all selects everything.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct LabelSelector {
    requirements: Vec<Requirement>,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Requirement {
    key: String,
    test: Test,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Test {
    Equals(String),
    NotEquals(String),
    In(BTreeSet<String>),
    NotIn(BTreeSet<String>),
    Exists,
    DoesNotExist,
    GreaterThan(i64),
    LessThan(i64),
}

impl LabelSelector {
    /// Reads a selector.
    pub(crate) fn parse(text: &str) -> Result<Self, ParseError> {
        Parser {
            tokens: tokenize(text),
            position: 0,
        }
        .selector()
    }

    /// Returns whether everything is selected.
    pub(crate) fn is_empty(&self) -> bool {
        self.requirements.is_empty()
    }

    /// Returns whether an object's labels (`metadata.labels`, if any) satisfy every requirement.
    pub(crate) fn matches(&self, labels: Option<&Map<String, Value>>) -> bool {
        self.requirements.iter().all(|requirement| {
            let value = labels.and_then(|labels| labels.get(&requirement.key));
            requirement.test.holds(value.and_then(Value::as_str))
        })
    }
}

impl Test {
    fn holds(&self, value: Option<&str>) -> bool {
        match (self, value) {
            (Self::Equals(wanted), value) => value == Some(wanted),
            (Self::NotEquals(unwanted), value) => value != Some(unwanted),
            (Self::In(wanted), value) => value.is_some_and(|value| wanted.contains(value)),
            (Self::NotIn(unwanted), value) => value.is_none_or(|value| !unwanted.contains(value)),
            (Self::Exists, value) => value.is_some(),
            (Self::DoesNotExist, value) => value.is_none(),
            (Self::GreaterThan(bound), value) => number(value).is_some_and(|value| value > *bound),
            (Self::LessThan(bound), value) => number(value).is_some_and(|value| value < *bound),
        }
    }
}

fn number(value: Option<&str>) -> Option<i64> {
    value?.parse().ok()
}

impl fmt::Display for LabelSelector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, requirement) in self.requirements.iter().enumerate() {
            let comma = if index == 0 { "" } else { "," };
            write!(f, "{comma}{requirement}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Requirement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let key = &self.key;
        let list = |values: &BTreeSet<String>| {
            values
                .iter()
                .map(String::as_str)
                .collect::<Vec<_>>()
                .join(",")
        };
        match &self.test {
            Test::Equals(value) => write!(f, "{key}={value}"),
            Test::NotEquals(value) => write!(f, "{key}!={value}"),
            Test::In(values) => write!(f, "{key} in ({})", list(values)),
            Test::NotIn(values) => write!(f, "{key} notin ({})", list(values)),
            Test::Exists => write!(f, "{key}"),
            Test::DoesNotExist => write!(f, "!{key}"),
            Test::GreaterThan(bound) => write!(f, "{key}>{bound}"),
            Test::LessThan(bound) => write!(f, "{key}<{bound}"),
        }
    }
}

/// A word or a symbol; a run of symbols that means nothing is a symbol too, and fails later.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Token {
    Word(String),
    Symbol(String),
    End,
}

const SYMBOLS: &[&str] = &["(", ")", ",", "!", "!=", "=", "==", ">", "<"];

fn tokenize(text: &str) -> Vec<Token> {
    let is_symbol = |c: char| "=!(),><".contains(c);
    let mut tokens = Vec::new();
    let mut rest = text;
    loop {
        rest = rest.trim_start_matches([' ', '\t', '\r', '\n']);
        let Some(first) = rest.chars().next() else {
            break;
        };
        let length = if is_symbol(first) {
            let two = rest.get(..2).filter(|two| SYMBOLS.contains(two));
            two.map_or(1, str::len)
        } else {
            rest.find(|c: char| is_symbol(c) || " \t\r\n".contains(c))
                .unwrap_or(rest.len())
        };
        let (token, after) = rest.split_at(length);
        let token = token.to_owned();
        tokens.push(if is_symbol(first) {
            Token::Symbol(token)
        } else {
            Token::Word(token)
        });
        rest = after;
    }
    tokens.push(Token::End);
    tokens
}

struct Parser {
    tokens: Vec<Token>,
    position: usize,
}

impl Parser {
    fn peek(&self) -> &Token {
        &self.tokens[self.position.min(self.tokens.len() - 1)]
    }

    fn next(&mut self) -> Token {
        let token = self.peek().clone();
        self.position += 1;
        token
    }

    fn at(&self, symbol: &str) -> bool {
        matches!(self.peek(), Token::Symbol(found) if found == symbol)
    }

    fn selector(mut self) -> Result<LabelSelector, ParseError> {
        let mut requirements = Vec::new();
        loop {
            match self.peek() {
                Token::End => break,
                Token::Symbol(symbol) if symbol != "!" => {
                    return Err(found(
                        symbol,
                        ", expected: !, identifier, or 'end of string'",
                    ));
                }
                Token::Word(_) | Token::Symbol(_) => requirements.push(self.requirement_in_full()?),
            }
            match self.next() {
                Token::End => break,
                Token::Symbol(symbol) if symbol == "," => self.expect_requirement()?,
                Token::Symbol(text) | Token::Word(text) => {
                    return Err(found(&text, ", expected: ',' or 'end of string'"));
                }
            }
        }
        requirements.sort_by(|a: &Requirement, b| a.key.cmp(&b.key));
        Ok(LabelSelector { requirements })
    }

    fn expect_requirement(&self) -> Result<(), ParseError> {
        match self.peek() {
            Token::Word(_) => Ok(()),
            Token::Symbol(symbol) if symbol == "!" => Ok(()),
            Token::Symbol(symbol) => Err(found(symbol, ", expected: identifier after ','")),
            Token::End => Err(found("", ", expected: identifier after ','")),
        }
    }

    fn requirement_in_full(&mut self) -> Result<Requirement, ParseError> {
        self.requirement()
            .map_err(|error| ParseError(format!("unable to parse requirement: {error}")))
    }

    fn requirement(&mut self) -> Result<Requirement, ParseError> {
        let negated = self.at("!");
        if negated {
            self.next();
        }
        let key = match self.next() {
            Token::Word(key) => key,
            Token::Symbol(text) => return Err(found(&text, ", expected: identifier")),
            Token::End => return Err(found("", ", expected: identifier")),
        };
        check(&key, &Value::from(key.as_str()), &names::label_key(&key))?;
        let test = if negated {
            Test::DoesNotExist
        } else if *self.peek() == Token::End || self.at(",") {
            Test::Exists
        } else {
            self.test(&key)?
        };
        Ok(Requirement { key, test })
    }

    fn test(&mut self, key: &str) -> Result<Test, ParseError> {
        let operator = match self.next() {
            Token::Word(text) | Token::Symbol(text) => text,
            Token::End => String::new(),
        };
        match operator.as_str() {
            "in" => Ok(Test::In(self.values(key)?)),
            "notin" => Ok(Test::NotIn(self.values(key)?)),
            "=" | "==" => Ok(Test::Equals(self.value(key)?)),
            "!=" => Ok(Test::NotEquals(self.value(key)?)),
            ">" => Ok(Test::GreaterThan(self.bound(key)?)),
            "<" => Ok(Test::LessThan(self.bound(key)?)),
            other => Err(found(other, ", expected: in, notin, =, ==, !=, gt, lt")),
        }
    }

    fn value(&mut self, key: &str) -> Result<String, ParseError> {
        if *self.peek() == Token::End || self.at(",") {
            return Ok(String::new());
        }
        match self.next() {
            Token::Word(value) => checked_value(key, value),
            Token::Symbol(text) => Err(found(&text, ", expected: identifier")),
            Token::End => Err(found("", ", expected: identifier")),
        }
    }

    fn bound(&mut self, key: &str) -> Result<i64, ParseError> {
        let value = self.value(key)?;
        value.parse().map_err(|_| {
            let detail = "for 'Gt', 'Lt' operators, the value must be an integer";
            ParseError(format!("values[0]: Invalid value: {value:?}: {detail}"))
        })
    }

    fn values(&mut self, key: &str) -> Result<BTreeSet<String>, ParseError> {
        if !self.at("(") {
            return Err(found(&self.peek_text(), " expected: '('"));
        }
        self.next();
        let mut values = BTreeSet::new();
        loop {
            // Between commas there may be nothing, which is the empty value.
            match self.next() {
                Token::Word(value) => {
                    values.insert(checked_value(key, value)?);
                    if self.at(")") {
                        break;
                    }
                    if !self.at(",") {
                        return Err(found(&self.peek_text(), ", expected: ',' or ')'"));
                    }
                    self.next();
                }
                Token::Symbol(symbol) if symbol == "," => {
                    values.insert(String::new());
                }
                Token::Symbol(symbol) if symbol == ")" => {
                    values.insert(String::new());
                    return Ok(values);
                }
                Token::Symbol(text) => return Err(found(&text, ", expected: ',', or identifier")),
                Token::End => return Err(found("", ", expected: ',', ')' or identifier")),
            }
        }
        self.next();
        Ok(values)
    }

    fn peek_text(&self) -> String {
        match self.peek() {
            Token::Word(text) | Token::Symbol(text) => text.clone(),
            Token::End => String::new(),
        }
    }
}

fn found(what: &str, expectation: &str) -> ParseError {
    ParseError(format!("found '{what}'{expectation}"))
}

fn checked_value(key: &str, value: String) -> Result<String, ParseError> {
    check(
        &format!("values[0][{key}]"),
        &Value::from(value.as_str()),
        &names::label_value(&value),
    )?;
    Ok(value)
}

fn check(path: &str, value: &Value, problems: &[String]) -> Result<(), ParseError> {
    if problems.is_empty() {
        return Ok(());
    }
    // The API server has no path for a key, and says so.
    let path = if path.starts_with("values") {
        path
    } else {
        "<nil>"
    };
    Err(ParseError(format!(
        "{path}: Invalid value: {value}: {}",
        problems.join("; ")
    )))
}

#[cfg(test)]
mod tests {
    use pathline_testkit::cases;
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn matches(selector: &str, labels: &Value) -> bool {
        LabelSelector::parse(selector)
            .unwrap()
            .matches(labels.as_object())
    }

    #[test]
    fn requirements_hold_as_in_kubernetes() {
        let labels = json!({"app": "web", "tier": "front", "size": "12", "empty": ""});
        let cases = [
            ("", true),
            ("app=web", true),
            ("app==web,tier=front", true),
            ("app=db", false),
            ("app!=db", true),
            ("app!=web", false),
            ("missing!=x", true),
            ("app in (web, db)", true),
            ("app in (db)", false),
            ("app notin (db)", true),
            ("missing notin (db)", true),
            ("app", true),
            ("!app", false),
            ("! missing", true),
            ("missing", false),
            ("empty=", true),
            ("empty in (,x)", true),
            ("app in ()", false),
            ("size > 11", true),
            ("size<12", false),
            ("app > 1", false),
            ("in in (in)", false),
            ("!in", true),
        ];
        for (selector, expected) in cases {
            assert_eq!(matches(selector, &labels), expected, "{selector}");
        }
        assert!(LabelSelector::parse("!app").unwrap().matches(None));
    }

    #[test]
    fn errors_are_worded_as_the_api_server_words_them() {
        let cases = [
            (
                "=x",
                "found '=', expected: !, identifier, or 'end of string'",
            ),
            ("a,", "found '', expected: identifier after ','"),
            ("a,=", "found '=', expected: identifier after ','"),
            (
                "a b",
                "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt",
            ),
            (
                "a in b",
                "unable to parse requirement: found 'b' expected: '('",
            ),
            ("a=b=c", "found '=', expected: ',' or 'end of string'"),
            ("!a=b", "found '=', expected: ',' or 'end of string'"),
            ("a=b c", "found 'c', expected: ',' or 'end of string'"),
            (
                "a=(",
                "unable to parse requirement: found '(', expected: identifier",
            ),
        ];
        for (selector, expected) in cases {
            let error = LabelSelector::parse(selector).unwrap_err();
            assert_eq!(error.to_string(), expected, "{selector}");
        }
        let error = LabelSelector::parse("a=-b").unwrap_err().to_string();
        assert!(
            error.contains("values[0][a]: Invalid value: \"-b\": a valid label"),
            "{error}"
        );
        let error = LabelSelector::parse("-a=b").unwrap_err().to_string();
        assert!(
            error.contains("Invalid value: \"-a\": name part must consist of"),
            "{error}"
        );
    }

    fn requirement() -> impl Strategy<Value = String> {
        let key = "[a-z]{1,4}(/[a-z]{1,3})?";
        let value = "[a-z0-9]{0,3}";
        prop_oneof![
            (key, value).prop_map(|(key, value)| format!("{key}={value}")),
            (key, value).prop_map(|(key, value)| format!("{key} != {value}")),
            (key, value, value).prop_map(|(key, a, b)| format!("{key} in ({a}, {b})")),
            (key, value, value).prop_map(|(key, a, b)| format!("{key} notin ({a},{b})")),
            key.prop_map(|key| format!("!{key}")),
            key.prop_map(|key| key),
            (key, any::<i16>()).prop_map(|(key, bound)| format!("{key}>{}", bound.unsigned_abs())),
        ]
    }

    proptest! {
        #![proptest_config(cases(256))]

        #[test]
        fn printed_selectors_read_back_equal(parts in prop::collection::vec(requirement(), 0..4)) {
            let selector = LabelSelector::parse(&parts.join(",")).unwrap();
            prop_assert_eq!(LabelSelector::parse(&selector.to_string()).unwrap(), selector);
        }

        #[test]
        fn any_text_is_read_or_refused(text in "[a-c=!<>(), inot]{0,20}") {
            if let Ok(selector) = LabelSelector::parse(&text) {
                prop_assert_eq!(LabelSelector::parse(&selector.to_string()).unwrap(), selector);
            }
        }
    }
}
