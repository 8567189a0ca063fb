//! The few places where the databases differ in words.

/// The words that a database understands.
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

    /// Returns the condition that a word is in the list which is the first value.
    pub(crate) fn is_in_first_words(self) -> &'static str {
        match self {
            Self::Sqlite => "in (select value from json_each($1))",
            Self::Postgres => "= any ($1::text[])",
        }
    }

    /// Writes a list of numbers as a value.
    pub(crate) fn list(self, numbers: &[i64]) -> String {
        let numbers: Vec<String> = numbers.iter().map(i64::to_string).collect();
        self.enclosed(&numbers.join(","))
    }

    /// Writes a list of words as a value.
    pub(crate) fn words(self, words: &[String]) -> String {
        let quoted = |word: &String| match self {
            Self::Sqlite => serde_json::Value::from(word.as_str()).to_string(),
            Self::Postgres => format!("\"{}\"", word.replace('\\', r"\\").replace('"', "\\\"")),
        };
        let words: Vec<String> = words.iter().map(quoted).collect();
        self.enclosed(&words.join(","))
    }

    fn enclosed(self, list: &str) -> String {
        match self {
            Self::Sqlite => format!("[{list}]"),
            Self::Postgres => format!("{{{list}}}"),
        }
    }
}
