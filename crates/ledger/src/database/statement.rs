//! One SQL text for both databases, with its values.

use jiff::Timestamp;
use sqlx::{AssertSqlSafe, SqlSafeStr, SqlStr};

use pathline_lineage::ArtifactId;

/// A statement with numbered placeholders (`$1`), which both databases take, and their values.
#[derive(Clone)]
pub(crate) struct Statement {
    pub(super) text: SqlStr,
    pub(super) values: Vec<Value>,
}

/// A value of a type that both databases have.
#[derive(Clone)]
pub(crate) enum Value {
    Integer(Option<i64>),
    Text(Option<String>),
    Boolean(bool),
}

/// Begins a statement.
pub(crate) fn sql(text: &'static str) -> Statement {
    Statement {
        text: text.into_sql_str(),
        values: Vec::new(),
    }
}

/// Begins a statement that is put together from texts of this program.
pub(crate) fn sql_of_parts(parts: &[&'static str]) -> Statement {
    Statement {
        text: AssertSqlSafe(parts.concat()).into_sql_str(),
        values: Vec::new(),
    }
}

/// A statement that takes many rows at once.
pub(crate) struct Rows {
    /// The text before the rows.
    pub(crate) before: &'static str,
    /// The number of values in a row.
    pub(crate) columns: usize,
    /// The text after the rows.
    pub(crate) after: &'static str,
}

/// The numbers of rows that a statement takes. Few sizes, for each is a statement that the databases prepare.
const SIZES: [usize; 3] = [32, 8, 1];

impl Rows {
    /// Cuts rows into parts, each with the statement that takes it and still lacks its values.
    pub(crate) fn chunks<'a, T>(&self, mut rows: &'a [T]) -> Vec<(Statement, &'a [T])> {
        let mut chunks = Vec::new();
        for size in SIZES {
            while let Some((chunk, rest)) = rows.split_at_checked(size) {
                chunks.push((self.statement(size), chunk));
                rows = rest;
            }
        }
        chunks
    }

    fn statement(&self, rows: usize) -> Statement {
        let row = |row: usize| {
            let numbers = (1..=self.columns).map(|column| row * self.columns + column);
            let places: Vec<String> = numbers.map(|number| format!("${number}")).collect();
            format!("({})", places.join(", "))
        };
        let rows: Vec<String> = (0..rows).map(row).collect();
        let text = format!("{}{}{}", self.before, rows.join(", "), self.after);
        Statement {
            text: AssertSqlSafe(text).into_sql_str(),
            values: Vec::new(),
        }
    }
}

impl Statement {
    /// Returns the question how this would be answered.
    #[cfg(test)]
    pub(crate) fn explained(self, how: &str) -> Self {
        let text = format!("{how} {}", self.text.as_str());
        Self {
            text: AssertSqlSafe(text).into_sql_str(),
            ..self
        }
    }

    /// Gives the next placeholder its value.
    pub(crate) fn bind(mut self, value: impl Into<Value>) -> Self {
        self.values.push(value.into());
        self
    }
}

impl From<i64> for Value {
    fn from(number: i64) -> Self {
        Self::Integer(Some(number))
    }
}

impl From<Option<i64>> for Value {
    fn from(number: Option<i64>) -> Self {
        Self::Integer(number)
    }
}

impl From<bool> for Value {
    fn from(truth: bool) -> Self {
        Self::Boolean(truth)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(Some(without_nul(text)))
    }
}

impl From<&String> for Value {
    fn from(text: &String) -> Self {
        Self::from(text.as_str())
    }
}

impl From<Option<&str>> for Value {
    fn from(text: Option<&str>) -> Self {
        Self::Text(text.map(without_nul))
    }
}

impl From<Timestamp> for Value {
    fn from(time: Timestamp) -> Self {
        Self::from(time.as_microsecond())
    }
}

impl From<Option<Timestamp>> for Value {
    fn from(time: Option<Timestamp>) -> Self {
        Self::from(time.map(Timestamp::as_microsecond))
    }
}

impl From<ArtifactId> for Value {
    fn from(id: ArtifactId) -> Self {
        Self::Text(Some(id.to_string()))
    }
}

/// PostgreSQL has no text with a zero character in it; its picture stands for it in both databases.
fn without_nul(text: &str) -> String {
    text.replace('\0', "\u{2400}")
}
