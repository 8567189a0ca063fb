//! The JSONPath dialect of Kubernetes' client-go.
//!
//! Templates, selectors, output paths and printer columns are written in this dialect, which differs
//! from RFC 9535 in many small ways: `['a.b']` is two steps, an index beyond the end is an error while
//! an absent key is not, and numbers of different kinds do not compare. Keys that are absent yield no
//! result (client-go's `AllowMissingKeys`); a key that holds `null` yields `null`.
//!
//! ```
//! use pathline_blueprint::jsonpath::JsonPath;
//! use serde_json::json;
//!
//! let object = json!({"status": {"conditions": [{"type": "Ready", "status": "True"}]}});
//! let path = JsonPath::relaxed("status.conditions[?(@.type=='Ready')].status")?;
//! assert_eq!(path.one(&object)?.as_deref(), Some(&json!("True")));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod compare;
mod eval;
mod outline;
mod parse;
mod places;

use std::borrow::Cow;

use serde_json::Value;

pub use eval::EvalError;
pub(crate) use outline::Outline;
pub use parse::ParseError;

/// Holds a parsed path, ready to be evaluated many times.
#[derive(Debug, Clone, PartialEq)]
pub struct JsonPath {
    blocks: Vec<parse::Block>,
}

/// Says why a path has no single value in an object; an absent value is not an error.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Error {
    /// The expression is empty.
    #[error("empty jsonpath not allowed")]
    Empty,
    /// The expression is not a path.
    #[error("failed to parse jsonpath '{path}': {reason}")]
    Parse {
        /// The path as it was parsed, with the braces that were added.
        path: String,
        /// What is wrong with it.
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
    /// Parses a template as client-go does: paths stand in braces, all else is text.
    pub fn parse(template: &str) -> Result<Self, ParseError> {
        Ok(Self {
            blocks: parse::blocks(template)?,
        })
    }

    /// Parses an expression whose braces and leading dot may be left out, as in `spec.image`.
    pub fn relaxed(expression: &str) -> Result<Self, Error> {
        if expression.is_empty() {
            return Err(Error::Empty);
        }
        let path = brace(expression);
        Self::parse(&path).map_err(|reason| Error::Parse { path, reason })
    }

    /// Returns the results of each block in turn; a block of plain text results in that text.
    pub fn find<'v>(&self, data: &'v Value) -> Result<Vec<Vec<Cow<'v, Value>>>, EvalError> {
        eval::find(&self.blocks, data)
    }

    /// Returns the results of the first block, which is how printer columns read a path.
    pub fn first<'v>(&self, data: &'v Value) -> Result<Vec<Cow<'v, Value>>, EvalError> {
        self.blocks
            .first()
            .map_or_else(|| Ok(Vec::new()), |block| eval::block(block, data))
    }

    /// Returns the one value the path leads to, or `None` if it leads nowhere.
    pub fn one<'v>(&self, data: &'v Value) -> Result<Option<Cow<'v, Value>>, Error> {
        if let Some(found) = self.plain(data) {
            return Ok(found.map(Cow::Borrowed));
        }
        let mut blocks = self.find(data)?.into_iter();
        let mut results = blocks.next().unwrap_or_default().into_iter();
        let value = results.next();
        match (blocks.next(), results.next()) {
            (Some(_), _) => Err(Error::TooManyQueries),
            (None, Some(_)) => Err(Error::TooManyResults),
            (None, None) => Ok(value),
        }
    }

    /// Follows a path of names only, as nearly all are, without a list of results for each step.
    fn plain<'v>(&self, data: &'v Value) -> Option<Option<&'v Value>> {
        let [parse::Block::Steps(steps)] = &self.blocks[..] else {
            return None;
        };
        eval::names(steps, data)
    }
}

/// Returns the one value that `expression` leads to in `data`, or `None` if it leads nowhere.
pub fn one<'v>(expression: &str, data: &'v Value) -> Result<Option<Cow<'v, Value>>, Error> {
    JsonPath::relaxed(expression)?.one(data)
}

fn brace(expression: &str) -> String {
    let open = expression.strip_prefix('{').unwrap_or(expression);
    let dot = if open.starts_with('.') { "" } else { "." };
    let close = if open.ends_with('}') { "" } else { "}" };
    format!("{{{dot}{open}{close}")
}

#[cfg(test)]
mod tests {
    use pathline_testkit::cases;
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn store() -> Value {
        json!({
            "name": "jsonpath",
            "empty": [],
            "nothing": null,
            "open": true,
            "books": [
                {"category": "reference", "author": "Nigel Rees", "price": 8.95, "copies": 5},
                {"category": "fiction", "author": "Evelyn Waugh", "price": 12.99, "copies": 5},
                {"category": "fiction", "author": "Herman Melville", "price": 8.99, "isbn": "0-553"},
            ],
            "labels": {"app.kubernetes.io/name": "web", "web/html": 15, "k8s": {"deep": "yes"}},
            "nodes": [
                {"name": "127.0.0.1", "metadata": {"name": "one"}, "ready": true},
                {"name": "127.0.0.2", "metadata": {"name": "two"}, "ready": false},
            ],
        })
    }

    fn all(template: &str) -> Result<Vec<Value>, String> {
        let path = JsonPath::parse(template).map_err(|error| error.to_string())?;
        let data = store();
        let blocks = path.find(&data).map_err(|error| error.to_string())?;
        Ok(blocks.into_iter().flatten().map(Cow::into_owned).collect())
    }

    fn values<const N: usize>(values: [Value; N]) -> Result<Vec<Value>, String> {
        Ok(Vec::from(values))
    }

    #[test]
    fn steps_lead_to_values() {
        let cases: &[(&str, Vec<Value>)] = &[
            ("plain", vec![json!("plain")]),
            ("{.name}", vec![json!("jsonpath")]),
            ("{$.name}", vec![json!("jsonpath")]),
            ("{@.name}", vec![json!("jsonpath")]),
            ("{ .name }", vec![json!("jsonpath")]),
            (
                "is {.name}!",
                vec![json!("is "), json!("jsonpath"), json!("!")],
            ),
            ("{.nothing}", vec![Value::Null]),
            ("{.nothing.more}", vec![]),
            ("{.absent}", vec![]),
            ("{.absent.more[3]}", vec![]),
            ("{.name.more}", vec![]),
            ("{.}", vec![]),
            ("{['name']}", vec![json!("jsonpath")]),
            ("{.labels.web/html}", vec![json!(15)]),
            (r"{.labels.app\.kubernetes\.io/name}", vec![json!("web")]),
            (r"{.labels['app\.kubernetes\.io/name']}", vec![json!("web")]),
            ("{.labels['k8s.deep']}", vec![json!("yes")]),
            ("{.books[0].author}", vec![json!("Nigel Rees")]),
            ("{.books[-1].author}", vec![json!("Herman Melville")]),
            ("{.books[0:2].copies}", vec![json!(5), json!(5)]),
            (
                "{.books[1:].author}",
                vec![json!("Evelyn Waugh"), json!("Herman Melville")],
            ),
            ("{.books[:-1].copies}", vec![json!(5), json!(5)]),
            ("{.books[::2].price}", vec![json!(8.95), json!(8.99)]),
            ("{.books[1:1]}", vec![]),
            ("{.empty[*]}", vec![]),
            (
                "{.nodes[*].name}",
                vec![json!("127.0.0.1"), json!("127.0.0.2")],
            ),
            (
                "{.nodes.*.name}",
                vec![json!("127.0.0.1"), json!("127.0.0.2")],
            ),
            ("{.nodes[0,1].ready}", vec![json!(true), json!(false)]),
            (
                "{.nodes[0]['name', 'metadata.name']}",
                vec![json!("127.0.0.1"), json!("one")],
            ),
            (
                "{.nodes..name}",
                vec![
                    json!("127.0.0.1"),
                    json!("one"),
                    json!("127.0.0.2"),
                    json!("two"),
                ],
            ),
            ("{..isbn}", vec![json!("0-553")]),
            (
                "{5}{1.5}{true}{'x'}",
                vec![json!(5), json!(1.5), json!(true), json!("x")],
            ),
            (
                r"{'it\'s'}{'\t\x41\u00e9\101'}",
                vec![json!("it's"), json!("\tA\u{e9}A")],
            ),
        ];
        for (template, expected) in cases {
            assert_eq!(all(template).as_ref(), Ok(expected), "{template}");
        }
    }

    #[test]
    fn filters_keep_what_they_match() {
        let author = |filter: &str| all(&format!("{{.books[?({filter})].author}}"));
        assert_eq!(author("@.isbn"), values([json!("Herman Melville")]));
        assert_eq!(
            author("@.isbn == '0-553'"),
            values([json!("Herman Melville")])
        );
        assert_eq!(
            author("@.category=='reference'"),
            values([json!("Nigel Rees")])
        );
        assert_eq!(
            author(r#"@.category!="fiction""#),
            values([json!("Nigel Rees")])
        );
        assert_eq!(author("@.price > 12.5"), values([json!("Evelyn Waugh")]));
        assert_eq!(author("@.price <= 8.95"), values([json!("Nigel Rees")]));
        assert_eq!(author("@.price >= 12.99"), values([json!("Evelyn Waugh")]));
        assert_eq!(
            author("@.copies<6"),
            values([json!("Nigel Rees"), json!("Evelyn Waugh")])
        );
        assert_eq!(
            all("{.nodes[?(@.ready==true)].name}"),
            values([json!("127.0.0.1")])
        );
        assert_eq!(all("{.nodes[?(@.name=='a)b')].name}"), values([]));
        assert_eq!(all("{.absent[?(@.x=='y')]}"), values([]));
    }

    #[test]
    fn what_cannot_be_evaluated_is_an_error() {
        let cases = [
            (
                "{.books[3]}",
                "array index out of bounds: index 3, length 3",
            ),
            (
                "{.books[-4]}",
                "array index out of bounds: index -1, length 3",
            ),
            (
                "{.books[0:4]}",
                "array index out of bounds: index 3, length 3",
            ),
            (
                "{.books[2:1]}",
                "starting index 2 is greater than ending index 1",
            ),
            ("{.books[::0]}", "step must be > 0"),
            (
                "{.empty[0]}",
                "array index out of bounds: index 0, length 0",
            ),
            ("{.name[0]}", "string is not array or slice"),
            (
                "{.labels[0]}",
                "map[string]interface {} is not array or slice",
            ),
            ("{.open[0]}", "bool is not array or slice"),
            (
                "{.nothing[?(@.x)]}",
                "<nil> is not array or slice and cannot be filtered",
            ),
            (
                "{.name[?(@.x)]}",
                "jsonpath is not array or slice and cannot be filtered",
            ),
            (
                "{.books[?(@.price > 9)]}",
                "incompatible types for comparison",
            ),
            (
                "{.nodes[?(@.metadata == 'x')]}",
                "invalid type for comparison",
            ),
            ("{.nodes[?(@.ready < true)]}", "invalid type for comparison"),
            (
                "{.nodes[?(@..name == 'x')]}",
                "can only compare one element at a time",
            ),
            (
                "{.books[?(@.copies => 5)]}",
                "unrecognized filter operator =>",
            ),
            ("{hello}", "unrecognized identifier hello"),
        ];
        for (template, message) in cases {
            assert_eq!(all(template), Err(message.to_owned()), "{template}");
        }
    }

    #[test]
    fn what_is_no_path_is_refused() {
        let cases = [
            ("{.name", "unclosed action"),
            ("{.a\n}", "unclosed action"),
            ("{[0}", "unterminated array"),
            ("{[a]}", "invalid array index a"),
            ("{[-]}", "array index - is not a number"),
            (
                "{[99999999999999999999]}",
                "array index 99999999999999999999 is not a number",
            ),
            ("{[?(@.a)}", "unclosed array expect ]"),
            ("{[?(@.a}", "unterminated filter"),
            ("{....a}", "invalid multiple recursive descent"),
            ("{'a}", "unterminated quoted string"),
            (r"{'\q'}", r"unquote string '\q' error invalid syntax"),
            (r"{'x\\'y'}", r"unquote string 'x\\'y' error invalid syntax"),
            ("{.a}{^}", "unrecognized character in action: U+005E '^'"),
            ("{1.2.3}", "cannot parse number 1.2.3"),
        ];
        for (template, message) in cases {
            let error = JsonPath::parse(template).map_err(|error| error.to_string());
            assert_eq!(error, Err(message.to_owned()), "{template}");
        }
    }

    #[test]
    fn braces_and_dot_may_be_left_out() {
        for spelling in [
            "labels.k8s.deep",
            ".labels.k8s.deep",
            "{.labels.k8s.deep}",
            "{labels.k8s.deep}",
        ] {
            assert_eq!(
                one(spelling, &store()).unwrap().as_deref(),
                Some(&json!("yes")),
                "{spelling}"
            );
        }
    }

    #[test]
    fn one_value_is_not_none_nor_many() {
        let data = store();
        assert_eq!(
            one("nothing", &data).unwrap().as_deref(),
            Some(&Value::Null)
        );
        assert_eq!(one("absent", &data), Ok(None));
        assert_eq!(one("nodes[*].name", &data), Err(Error::TooManyResults));
        assert_eq!(one("{.name}{.name}", &data), Err(Error::TooManyQueries));
        assert_eq!(one("", &data), Err(Error::Empty));
        assert_eq!(
            one("a[", &data).unwrap_err().to_string(),
            "failed to parse jsonpath '{.a[}': unterminated array"
        );
    }

    #[test]
    fn a_descent_that_multiplies_is_cut_off() {
        let mut tree = json!({"a": "leaf"});
        for _ in 0..60 {
            tree = json!({"a": tree});
        }
        let path = JsonPath::parse("{..a..a..a..a..a..a}").unwrap();
        assert_eq!(path.find(&tree), Err(EvalError::TooManyResults));
    }

    #[test]
    fn a_path_of_names_leads_where_its_steps_lead() {
        let data = store();
        for path in [
            "name",
            "nothing",
            "nothing.more",
            "name.more",
            "books.category",
            "labels.k8s.deep",
        ] {
            let path = JsonPath::relaxed(path).unwrap();
            assert_eq!(path.one(&data).unwrap(), path.first(&data).unwrap().pop());
            assert!(path.plain(&data).is_some());
        }
        for path in ["books[0].price", "books[*]", "..price"] {
            assert_eq!(JsonPath::relaxed(path).unwrap().plain(&data), None);
        }
    }

    proptest! {
        #![proptest_config(cases(256))]

        #[test]
        fn any_text_is_parsed_or_refused(text in "[-{}\\[\\]().?@$*,:'\"\\\\ a-c0-2<>=!~é]{0,40}") {
            if let Ok(path) = JsonPath::parse(&text) {
                let _ = path.find(&json!({"a": [{"b": 1}, {"c": "x"}], "b": {"a": null}}));
            }
        }
    }
}
