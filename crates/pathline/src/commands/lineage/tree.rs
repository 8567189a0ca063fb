//! Draws a tree, in as many columns as there are.

use std::io::{self, Write};

use anstyle::Style;
use pathline_client::words::{one_line, shorten};

use super::style::HEADER;

/// The fewest characters of a value that are worth showing.
const MIN_VALUE_WIDTH: usize = 12;

/// One thing and what is below it.
#[derive(Clone, Debug, Default)]
pub(super) struct Node {
    pub(super) label: String,
    pub(super) value: String,
    /// The rest that there is to say, each in its style.
    pub(super) notes: Vec<(Style, String)>,
    pub(super) below: Vec<Self>,
}

impl Node {
    /// Draws the tree; no line has more than `columns`, if that is possible at all.
    pub(super) fn draw(&self, columns: usize, out: &mut dyn Write) -> io::Result<()> {
        self.draw_at("", "", columns, out)
    }

    /// Draws the tree a little to the right, as part of a list.
    pub(super) fn draw_item(&self, columns: usize, out: &mut dyn Write) -> io::Result<()> {
        self.draw_at("  ", "  ", columns, out)
    }

    fn draw_at(
        &self,
        first: &str,
        rest: &str,
        columns: usize,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let margin = if self.below.is_empty() { "  " } else { "│ " };
        let taken = first.chars().count() + self.label.chars().count() + 1;
        let value = one_line(&self.value);
        let notes: usize = self
            .notes
            .iter()
            .map(|(_, it)| it.chars().count() + 2)
            .sum();
        let fits = taken + value.chars().count() + notes <= columns;
        let room = columns.saturating_sub(taken).max(MIN_VALUE_WIDTH);
        let value = shorten(&value, room);
        write!(out, "{first}{HEADER}{}{HEADER:#} {value}", self.label)?;
        if fits {
            for (style, note) in &self.notes {
                write!(out, "  {style}{note}{style:#}")?;
            }
        }
        writeln!(out)?;
        if !fits {
            for (style, note) in &self.notes {
                writeln!(out, "{rest}{margin} {style}{note}{style:#}")?;
            }
        }
        for (index, node) in self.below.iter().enumerate() {
            let is_last = index + 1 == self.below.len();
            let (branch, trunk) = if is_last {
                ("└─ ", "   ")
            } else {
                ("├─ ", "│  ")
            };
            let (first, rest) = (format!("{rest}{branch}"), format!("{rest}{trunk}"));
            node.draw_at(&first, &rest, columns, out)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::super::style::{GOOD, SOFT};
    use super::*;

    fn mk_node(label: &str, value: &str, below: Vec<Node>) -> Node {
        Node {
            label: label.to_owned(),
            value: value.to_owned(),
            notes: vec![
                (GOOD, "proven by rule".to_owned()),
                (SOFT, "made by build".to_owned()),
            ],
            below,
        }
    }

    fn drawn(columns: usize) -> String {
        let field = mk_node("field", "main", Vec::new());
        let source = mk_node("source", "main@sha1:8f1c2e7d00000000", vec![field]);
        let param = mk_node("param debug", "on\noff", Vec::new());
        let tree = mk_node(
            "image",
            "registry.example/app@sha256:12",
            vec![source, param],
        );
        let mut plain = anstream::StripStream::new(Vec::new());
        tree.draw(columns, &mut plain).unwrap();
        String::from_utf8(plain.into_inner()).unwrap()
    }

    #[test]
    fn wide_terminal_has_one_line_for_each_thing() {
        assert_snapshot!(drawn(100), @"
        image registry.example/app@sha256:12  proven by rule  made by build
        ├─ source main@sha1:8f1c2e7d00000000  proven by rule  made by build
        │  └─ field main  proven by rule  made by build
        └─ param debug on�off  proven by rule  made by build
        ");
    }

    #[test]
    fn narrow_terminal_shortens_values_and_has_a_line_for_each_note() {
        let drawn = drawn(26);
        assert!(drawn.lines().all(|it| it.chars().count() <= 26), "{drawn}");
        assert_snapshot!(drawn, @"
        image registry.e…sha256:12
        │  proven by rule
        │  made by build
        ├─ source main@sha…0000000
        │  │  proven by rule
        │  │  made by build
        │  └─ field main
        │        proven by rule
        │        made by build
        └─ param debug on�off
              proven by rule
              made by build
        ");
    }
}
