//! Lines and columns of a text.

use std::fmt;

/// A line and a column, both from 1; columns count characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position {
    /// The line.
    pub line: usize,
    /// The column.
    pub column: usize,
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}", self.line, self.column)
    }
}

/// Finds lines and columns in a text.
///
/// ```
/// use pathline_document::{Lines, Position};
///
/// let lines = Lines::new("a: 1\né: 2\n");
/// assert_eq!(lines.position(9), Position { line: 2, column: 4 });
/// ```
#[derive(Debug, Clone)]
pub struct Lines<'t> {
    text: &'t str,
    starts: Vec<usize>,
    /// Then characters need not be counted: some files are one long line.
    is_ascii: bool,
}

impl<'t> Lines<'t> {
    /// Finds where the lines of a text begin.
    #[must_use]
    pub fn new(text: &'t str) -> Self {
        let after_newlines = text.match_indices('\n').map(|(newline, _)| newline + 1);
        Self {
            text,
            starts: [0].into_iter().chain(after_newlines).collect(),
            is_ascii: text.is_ascii(),
        }
    }

    /// Returns line and column of an offset in bytes.
    #[must_use]
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
