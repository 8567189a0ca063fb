//! The few places where the databases differ in words.

/// Which words a database understands.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Dialect {
    Sqlite,
    Postgres,
}

impl Dialect {
    /// Returns the condition that a number is in the list which is the first value.
    pub(crate) fn is_in_first(self) -> &'static str {
        match self {
            Self::Sqlite => "in (select value from json_each($1))",
            Self::Postgres => "= any ($1::bigint[])",
        }
    }

    /// Writes a list of numbers as a value.
    pub(crate) fn list(self, numbers: &[i64]) -> String {
        let (open, close) = match self {
            Self::Sqlite => ('[', ']'),
            Self::Postgres => ('{', '}'),
        };
        let numbers: Vec<String> = numbers.iter().map(i64::to_string).collect();
        format!("{open}{}{close}", numbers.join(","))
    }
}
