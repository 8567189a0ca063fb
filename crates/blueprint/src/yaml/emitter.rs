//! Writing, with an eye on the column.

use super::style::{self, Style};

/// Blocks are indented to the next multiple of this.
const INDENT: usize = 4;

/// The part of a document that a node belongs to, which decides how deep it is indented.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// An item of a list.
    Item,
    /// The document, or the key or value of a map.
    Block,
}

/// Text in the making.
#[derive(Debug)]
pub(super) struct Emitter {
    text: String,
    column: usize,
    /// The indentation of the block; none outside of all blocks.
    indent: Option<usize>,
    /// Whether the last thing written was a blank.
    after_blank: bool,
    /// Whether the line has nothing but indentation and the marks of blocks so far.
    only_marks: bool,
}

impl Emitter {
    pub(super) fn new() -> Self {
        Self {
            text: String::new(),
            column: 0,
            indent: None,
            after_blank: true,
            only_marks: true,
        }
    }

    /// Ends the last line and returns the text.
    pub(super) fn finish(mut self) -> String {
        self.start_line();
        self.text
    }

    /// Enters a block and returns the indentation to go back to.
    pub(super) fn indent(&mut self, place: Place) -> Option<usize> {
        self.deepen(place, 0)
    }

    /// Goes back to the indentation outside of a block.
    pub(super) fn restore(&mut self, indent: Option<usize>) {
        self.indent = indent;
    }

    fn deepen(&mut self, place: Place, outermost: usize) -> Option<usize> {
        let deeper = match (self.indent, place) {
            (None, _) => outermost,
            (Some(indent), Place::Item) => indent + 2,
            (Some(indent), Place::Block) => INDENT * (indent / INDENT + 1),
        };
        self.indent.replace(deeper)
    }

    /// Starts a new line unless this one has nothing that would be in the way, and indents it.
    pub(super) fn start_line(&mut self) {
        let indent = self.indent.unwrap_or(0);
        let is_in_the_way = self.column > indent || self.column == indent && !self.after_blank;
        if !self.only_marks || is_in_the_way {
            self.line_break();
        }
        while self.column < indent {
            self.put(' ');
        }
        self.after_blank = true;
    }

    /// Writes the mark of a list item, or of a key or value that starts its own line.
    pub(super) fn block_mark(&mut self, mark: char) {
        let only_marks = self.only_marks;
        self.mark(mark, true);
        self.only_marks = only_marks;
    }

    /// Writes the colon after a key.
    pub(super) fn colon(&mut self) {
        self.mark(':', false);
    }

    /// Writes a text in a style, or in the next best one that can hold it.
    pub(super) fn scalar(&mut self, text: &str, style: Style, place: Place) {
        let outer = self.deepen(place, INDENT);
        match style {
            Style::Plain => self.plain(text),
            Style::SingleQuoted => self.single_quoted(text),
            Style::DoubleQuoted => self.double_quoted(text),
            Style::Literal => self.literal(text),
        }
        self.restore(outer);
    }

    fn plain(&mut self, text: &str) {
        if !text.is_empty() && !self.after_blank {
            self.put(' ');
        }
        text.chars().for_each(|c| self.put(c));
        self.after_blank = false;
        self.only_marks = false;
    }

    fn single_quoted(&mut self, text: &str) {
        self.mark('\'', true);
        let mut after_break = false;
        for c in text.chars() {
            if style::is_break(c) {
                self.foreign_break(c);
                after_break = true;
                continue;
            }
            if after_break && c != ' ' {
                self.start_line();
                after_break = false;
            }
            if c == '\'' {
                self.put('\'');
            }
            self.put(c);
            self.only_marks &= c == ' ';
        }
        self.mark('\'', false);
    }

    fn double_quoted(&mut self, text: &str) {
        self.mark('"', true);
        // A text that starts with a byte order mark is escaped to its end.
        let escapes_all = text.starts_with('\u{feff}');
        for c in text.chars() {
            if escapes_all || style::needs_escape(c) {
                style::escape(c).chars().for_each(|c| self.put(c));
            } else {
                self.put(c);
            }
        }
        self.mark('"', false);
    }

    fn literal(&mut self, text: &str) {
        self.mark('|', true);
        if text.starts_with(|c| c == ' ' || style::is_break(c)) {
            self.put(char::from(b'0' + INDENT as u8));
        }
        if let Some(chomp) = style::chomp(text) {
            self.put(chomp);
        }
        self.only_marks = false;
        self.after_blank = true;
        let mut after_break = true;
        for c in text.chars() {
            if style::is_break(c) {
                self.foreign_break(c);
                after_break = true;
                continue;
            }
            if after_break {
                self.start_line();
                after_break = false;
            }
            self.put(c);
            self.only_marks = false;
        }
    }

    fn mark(&mut self, mark: char, needs_blank: bool) {
        if needs_blank && !self.after_blank {
            self.put(' ');
        }
        self.put(mark);
        self.after_blank = false;
        self.only_marks = false;
    }

    /// Writes a character that ends a line, whatever it is.
    fn foreign_break(&mut self, c: char) {
        self.text.push(c);
        self.column = 0;
        self.only_marks = true;
    }

    fn line_break(&mut self) {
        self.foreign_break('\n');
    }

    fn put(&mut self, c: char) {
        self.text.push(c);
        self.column += 1;
    }
}
