//! YAML in block style, and in flow style where it gets too deep for people anyway.

use super::flow;
use super::style::{Style as _, Yaml};
use crate::document::{Data, Document, NodeId};
use crate::error::WriteError;

/// Collections deeper than this are written in one line: indentation would be most of the text.
const BLOCK_DEPTH_MAX: usize = 64;

/// Writes YAML.
pub(crate) fn yaml(document: &Document) -> Result<String, WriteError> {
    lines(document, document.root(), &Lines::default(), After::Nothing)
}

/// The layout of lines.
pub(crate) struct Lines<'l> {
    /// The column at which they begin.
    pub(crate) indent: usize,
    /// The number of further columns for the lines of a map that is part of another one.
    pub(crate) step: usize,
    /// The number of further columns for the lines of a list that is part of a map.
    pub(crate) list_step: usize,
    /// The line break.
    pub(crate) newline: &'l str,
}

impl Default for Lines<'_> {
    fn default() -> Self {
        Self {
            indent: 0,
            step: 2,
            list_step: 0,
            newline: "\n",
        }
    }
}

/// Writes a value as lines, each with its line break. What comes after a dash or a key begins with
/// the space or line break between them.
pub(crate) fn lines(
    document: &Document,
    id: NodeId,
    lines: &Lines<'_>,
    after: After,
) -> Result<String, WriteError> {
    let mut writer = Writer {
        document,
        lines,
        out: String::new(),
        frames: Vec::new(),
    };
    writer.enter(id, lines.indent, after)?;
    while let Some(frame) = writer.frames.last().copied() {
        writer.step(frame)?;
    }
    Ok(writer.out)
}

/// The beginning of a line that is there already.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum After {
    Nothing,
    Key,
    Dash,
}

/// A collection that is being written; the first entry may go on in the line of a dash.
#[derive(Clone, Copy)]
struct Frame {
    id: NodeId,
    next: usize,
    indent: usize,
    in_line: bool,
}

struct Writer<'a> {
    document: &'a Document,
    lines: &'a Lines<'a>,
    out: String,
    frames: Vec<Frame>,
}

impl Writer<'_> {
    fn enter(&mut self, id: NodeId, indent: usize, after: After) -> Result<(), WriteError> {
        let node = self.document.node(id);
        let has_entries = match &node.data {
            Data::List(items) => !items.is_empty(),
            Data::Map(members) => !members.is_empty(),
            Data::Scalar(..) => false,
        };
        if after != After::Nothing && (!has_entries || node.tag.is_some()) {
            self.out.push(' ');
        }
        if !has_entries || self.frames.len() >= BLOCK_DEPTH_MAX {
            if has_entries && node.tag.is_none() && after != After::Nothing {
                self.out.push(' ');
            }
            flow::write(self.document, id, &Yaml, &mut self.out)?;
            self.out.push_str(self.lines.newline);
            return Ok(());
        }
        if let Some(tag) = &node.tag {
            Yaml.tag(tag, &mut self.out)?;
        }
        let in_line = node.tag.is_none() && after == After::Dash;
        if in_line {
            self.out.push(' ');
        } else if after != After::Nothing || node.tag.is_some() {
            self.out.push_str(self.lines.newline);
        }
        self.frames.push(Frame {
            id,
            next: 0,
            indent,
            in_line,
        });
        Ok(())
    }

    fn step(&mut self, frame: Frame) -> Result<(), WriteError> {
        let (entries, is_map) = match &self.document.node(frame.id).data {
            Data::Map(members) => (members.len(), true),
            Data::List(items) => (items.len(), false),
            Data::Scalar(..) => (0, false),
        };
        if frame.next == entries {
            self.frames.pop();
            return Ok(());
        }
        if let Some(top) = self.frames.last_mut() {
            top.next += 1;
        }
        if !(frame.in_line && frame.next == 0) {
            self.indent(frame.indent);
        }
        if is_map {
            self.member(frame)
        } else {
            self.item(frame)
        }
    }

    fn item(&mut self, frame: Frame) -> Result<(), WriteError> {
        let Data::List(items) = &self.document.node(frame.id).data else {
            return Ok(());
        };
        self.out.push('-');
        self.enter(items[frame.next].id, frame.indent + 2, After::Dash)
    }

    fn member(&mut self, frame: Frame) -> Result<(), WriteError> {
        let Data::Map(members) = &self.document.node(frame.id).data else {
            return Ok(());
        };
        let member = &members[frame.next];
        let start = self.out.len();
        Yaml.key(member, &mut self.out)?;
        let is_explicit = self.out[start..].starts_with("? ");
        if is_explicit {
            self.out.pop();
            self.out.push_str(self.lines.newline);
            self.indent(frame.indent);
        }
        self.out.push(':');
        let is_list = matches!(self.document.node(member.value.id).data, Data::List(_));
        let deeper = if is_list && !is_explicit {
            self.lines.list_step
        } else {
            self.lines.step
        };
        self.enter(member.value.id, frame.indent + deeper, After::Key)
    }

    fn indent(&mut self, indent: usize) {
        self.out.extend(std::iter::repeat_n(' ', indent));
    }
}
