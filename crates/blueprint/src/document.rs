//! YAML files as JSON values that know where they are written.
//!
//! Booleans are those of YAML 1.2: `yes` and `on` are text. A key may be given once, and what a
//! file says is bounded: aliases that unfold into millions of values are refused.

mod compose;
mod scalar;

use std::ops::Range;
use std::sync::Arc;

use serde_json::{Map, Value};

use crate::field_path::{FieldPath, Segment};

/// How deep values may nest; the limit of everything else that reads JSON.
const NESTING_MAX: usize = 100;
/// How many values a file may hold, those that aliases and merge keys repeat included.
const VALUES_MAX: usize = 2_000_000;

/// One document of a file.
#[derive(Debug, Clone)]
pub struct Document {
    /// What it says.
    pub value: Value,
    root: Arc<Node>,
}

/// A line and a column, both from 1; columns count characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// The line.
    pub line: usize,
    /// The column.
    pub column: usize,
}

/// Says why a text cannot be read, and where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {}, column {}: {kind}", .position.line, .position.column)]
pub struct ReadError {
    /// Where.
    pub position: Position,
    /// The same as an offset in bytes.
    pub offset: usize,
    /// Why.
    pub kind: ReadErrorKind,
}

/// Says why a text cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReadErrorKind {
    /// It is not YAML.
    #[error("{0}")]
    Syntax(String),
    /// A key is there twice.
    #[error("the key `{0}` is there twice")]
    DuplicateKey(String),
    /// A list or a map stands where a key belongs.
    #[error("a key has to be text")]
    KeyNotText,
    /// A merge key is given something else than maps.
    #[error("`<<` takes a map, or a list of maps")]
    Merge,
    /// An alias stands inside of what it repeats.
    #[error("an alias cannot repeat what it is part of")]
    Recursive,
    /// Values nest too deep.
    #[error("values nest deeper than {NESTING_MAX} levels")]
    TooDeep,
    /// There are too many values.
    #[error(
        "the file holds more than {VALUES_MAX} values; aliases count as often as they are used"
    )]
    TooMany,
}

/// Reads all documents of a text; empty ones are left out.
///
/// ```
/// use pathline_blueprint::document;
/// use pathline_blueprint::field_path::FieldPath;
///
/// let text = "kind: Workload\nspec: {image: app}\n";
/// let documents = document::read(text)?;
/// let place = documents[0].place(&FieldPath::default().field("spec").field("image"));
/// assert_eq!(&text[place.clone()], "app");
/// assert_eq!(document::Lines::new(text).position(place.start).column, 15);
/// # Ok::<(), document::ReadError>(())
/// ```
pub fn read(text: &str) -> Result<Vec<Document>, ReadError> {
    let failed = |failure: compose::Failure| ReadError {
        position: Lines::new(text).position(failure.offset),
        offset: failure.offset,
        kind: failure.kind,
    };
    let roots = compose::compose(text).map_err(failed)?;
    let mut budget = VALUES_MAX;
    let mut documents = Vec::new();
    for root in roots {
        let value = root.value(&mut budget).map_err(failed)?;
        if !value.is_null() {
            documents.push(Document { value, root });
        }
    }
    Ok(documents)
}

/// Finds lines and columns in a text.
#[derive(Debug, Clone)]
pub struct Lines<'t> {
    text: &'t str,
    starts: Vec<usize>,
    /// Then characters need not be counted: some files are one long line.
    is_ascii: bool,
}

impl<'t> Lines<'t> {
    /// Finds where the lines of a text begin.
    pub fn new(text: &'t str) -> Self {
        let after_newlines = text.match_indices('\n').map(|(newline, _)| newline + 1);
        Self {
            text,
            starts: [0].into_iter().chain(after_newlines).collect(),
            is_ascii: text.is_ascii(),
        }
    }

    /// Returns line and column of an offset in bytes.
    pub fn position(&self, offset: usize) -> Position {
        let offset = self.text.floor_char_boundary(offset);
        let line = self.starts.partition_point(|start| *start <= offset);
        let before = &self.text[self.starts[line - 1]..offset];
        let column = if self.is_ascii {
            before.len()
        } else {
            before.chars().count()
        };
        Position {
            line,
            column: column + 1,
        }
    }
}

impl Document {
    /// Returns where a value is written, as a range of bytes; of a map or a list, its key.
    ///
    /// If there is no such value, it is the place of the nearest one around it.
    pub fn place(&self, path: &FieldPath) -> Range<usize> {
        let (key, node) = self.find(path);
        match (&node.content, key) {
            (Content::Map(_) | Content::List(_), Some(key)) => key,
            _ => node.place.clone(),
        }
    }

    /// Returns where the key of a value is written; of an item of a list, the item.
    pub fn key_place(&self, path: &FieldPath) -> Range<usize> {
        let (key, node) = self.find(path);
        key.unwrap_or_else(|| node.place.clone())
    }

    fn find(&self, path: &FieldPath) -> (Option<Range<usize>>, &Node) {
        let mut key = None;
        let mut node = &*self.root;
        for segment in path.segments() {
            let Some((next_key, next)) = node.child(segment) else {
                break;
            };
            (key, node) = (next_key, next);
        }
        (key, node)
    }
}

/// A value and where it is written: a scalar as a whole, anything else by its first token.
#[derive(Debug)]
struct Node {
    place: Range<usize>,
    content: Content,
}

#[derive(Debug)]
enum Content {
    Scalar(Value),
    List(Vec<Arc<Node>>),
    Map(Vec<Member>),
}

#[derive(Debug, Clone)]
struct Member {
    name: String,
    place: Range<usize>,
    node: Arc<Node>,
}

impl Node {
    fn child(&self, segment: &Segment) -> Option<(Option<Range<usize>>, &Self)> {
        match (&self.content, segment) {
            (Content::Map(members), Segment::Field(name)) => {
                let member = members.iter().find(|member| member.name == *name)?;
                Some((Some(member.place.clone()), &*member.node))
            }
            (Content::List(items), Segment::Index(index)) => Some((None, &**items.get(*index)?)),
            _ => None,
        }
    }

    fn value(&self, budget: &mut usize) -> Result<Value, compose::Failure> {
        *budget = budget.checked_sub(1).ok_or(compose::Failure {
            offset: self.place.start,
            kind: ReadErrorKind::TooMany,
        })?;
        Ok(match &self.content {
            Content::Scalar(value) => value.clone(),
            Content::List(items) => {
                let items = items.iter().map(|item| item.value(budget));
                Value::Array(items.collect::<Result<_, _>>()?)
            }
            Content::Map(members) => {
                let members = members
                    .iter()
                    .map(|member| Ok((member.name.clone(), member.node.value(budget)?)));
                Value::Object(members.collect::<Result<Map<_, _>, _>>()?)
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn values(text: &str) -> Vec<Value> {
        let documents = read(text).expect("the test wrote YAML");
        documents.into_iter().map(|it| it.value).collect()
    }

    fn error(text: &str) -> String {
        read(text).expect_err("it cannot be read").to_string()
    }

    #[test]
    fn every_document_becomes_a_value() {
        let text = "# a comment\n---\na: yes\nb: [1, -2, 0x10, 1.5, .5, 007]\n---\n---\n{c: ~, d: true, 1: 'no'}\n";
        assert_eq!(
            values(text),
            [
                json!({"a": "yes", "b": [1, -2, 16, 1.5, 0.5, 7]}),
                json!({"c": null, "d": true, "1": "no"}),
            ]
        );
        assert_eq!(values(""), Vec::<Value>::new());
    }

    #[test]
    fn quoted_and_tagged_scalars_are_what_they_say() {
        assert_eq!(
            values("a: !!str 1\nb: '2'\nc: |\n  3\nd: 1e400\ne: 99999999999999999999"),
            [json!({"a": "1", "b": "2", "c": "3\n", "d": "1e400", "e": 1e20})]
        );
    }

    #[test]
    fn aliases_and_merge_keys_are_resolved() {
        let text = "base: &base {a: 1, b: 2}\nnext:\n  <<: *base\n  b: 3\nlist: [*base]\n";
        assert_eq!(
            values(text)[0],
            json!({"base": {"a": 1, "b": 2}, "next": {"b": 3, "a": 1}, "list": [{"a": 1, "b": 2}]})
        );
    }

    #[test]
    fn places_are_those_of_what_is_written() {
        let text = "a:\n  - name: x\n    é: [1, 2]\n  - {name: \"y\"}\n";
        let document = &read(text).expect("YAML")[0];
        let item = |index| FieldPath::default().field("a").index(index);
        let written = |path: &FieldPath| &text[document.place(path)];
        assert_eq!(written(&item(0).field("name")), "x");
        assert_eq!(written(&item(0).field("é")), "é");
        assert_eq!(written(&item(0).field("é").index(1)), "2");
        assert_eq!(written(&item(1).field("name")), "\"y\"");
        assert_eq!(&text[document.key_place(&item(1).field("name"))], "name");
        assert_eq!(written(&item(0).field("missing")), "name: x");
        assert_eq!(written(&item(7)), "a");
        let place = document.place(&item(0).field("é").index(1));
        assert_eq!(
            Lines::new(text).position(place.start),
            Position {
                line: 3,
                column: 12
            }
        );
    }

    #[test]
    fn what_cannot_be_read_says_where() {
        assert_eq!(
            error("a: 1\na: 2"),
            "line 2, column 1: the key `a` is there twice"
        );
        assert_eq!(
            error("? [a]\n: 1"),
            "line 1, column 3: a key has to be text"
        );
        assert_eq!(
            error("a: &a [*a]"),
            "line 1, column 8: an alias cannot repeat what it is part of"
        );
        assert_eq!(
            error("<<: 1"),
            "line 1, column 1: `<<` takes a map, or a list of maps"
        );
        assert!(
            error("a: [1").starts_with("line 1, column "),
            "{}",
            error("a: [1")
        );
        assert!(
            error("a: b: c").starts_with("line 1, column 5"),
            "{}",
            error("a: b: c")
        );
        assert!(
            error("a: *b").starts_with("line 1, column 4"),
            "{}",
            error("a: *b")
        );
    }

    #[test]
    fn bombs_and_deep_nesting_are_refused() {
        let mut bomb = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
        for level in 1..10 {
            let before = format!("*a{}", level - 1);
            bomb += &format!(
                "a{level}: &a{level} [{}]\n",
                [before.as_str(); 10].join(", ")
            );
        }
        assert!(
            error(&bomb).contains("more than 2000000 values"),
            "{}",
            error(&bomb)
        );
        for deep in [
            "[".repeat(200_000),
            "- ".repeat(200_000),
            "{a: ".repeat(200_000),
        ] {
            assert!(error(&deep).contains("values nest deeper than 100 levels"));
        }
        let fits = format!("{}{}", "[".repeat(NESTING_MAX), "]".repeat(NESTING_MAX));
        assert_eq!(values(&fits).len(), 1);
    }
}
