//! YAML in block style, and in flow style where it gets too deep for people anyway.

use super::flow;
use super::style::{Style as _, Yaml};
use crate::document::error::WriteError;
use crate::document::tree::{Data, Id, Tree};

/// Collections deeper than this are written in one line: indentation would be most of the text.
const BLOCK_DEPTH_MAX: usize = 64;

/// Writes YAML.
pub(in crate::document) fn yaml(tree: &Tree) -> Result<String, WriteError> {
    let mut writer = Writer {
        tree,
        out: String::new(),
        frames: Vec::new(),
    };
    writer.enter(tree.root, 0, After::Nothing)?;
    while let Some(frame) = writer.frames.last().copied() {
        writer.step(frame)?;
    }
    Ok(writer.out)
}

/// What is in the line already.
#[derive(Clone, Copy, PartialEq, Eq)]
enum After {
    Nothing,
    Key,
    Dash,
}

/// A collection that is being written; the first entry may go on in the line of a dash.
#[derive(Clone, Copy)]
struct Frame {
    id: Id,
    next: usize,
    indent: usize,
    in_line: bool,
}

struct Writer<'a> {
    tree: &'a Tree,
    out: String,
    frames: Vec<Frame>,
}

impl Writer<'_> {
    fn enter(&mut self, id: Id, indent: usize, after: After) -> Result<(), WriteError> {
        let node = self.tree.node(id);
        let has_entries = match &node.data {
            Data::List(items) => !items.is_empty(),
            Data::Map(members) => !members.is_empty(),
            Data::Scalar(..) | Data::Binary(_) => false,
        };
        if after != After::Nothing && (!has_entries || node.tag.is_some()) {
            self.out.push(' ');
        }
        if !has_entries || self.frames.len() >= BLOCK_DEPTH_MAX {
            if has_entries && node.tag.is_none() && after != After::Nothing {
                self.out.push(' ');
            }
            flow::write(self.tree, id, &Yaml, &mut self.out)?;
            self.out.push('\n');
            return Ok(());
        }
        if let Some(tag) = &node.tag {
            Yaml.tag(tag, &mut self.out)?;
        }
        let in_line = node.tag.is_none() && after == After::Dash;
        if in_line {
            self.out.push(' ');
        } else if after != After::Nothing || node.tag.is_some() {
            self.out.push('\n');
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
        let (entries, is_map) = match &self.tree.node(frame.id).data {
            Data::Map(members) => (members.len(), true),
            Data::List(items) => (items.len(), false),
            Data::Scalar(..) | Data::Binary(_) => (0, false),
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
        let Data::List(items) = &self.tree.node(frame.id).data else {
            return Ok(());
        };
        self.out.push('-');
        self.enter(items[frame.next], frame.indent + 2, After::Dash)
    }

    fn member(&mut self, frame: Frame) -> Result<(), WriteError> {
        let Data::Map(members) = &self.tree.node(frame.id).data else {
            return Ok(());
        };
        let member = &members[frame.next];
        let start = self.out.len();
        Yaml.key(member, &mut self.out)?;
        let is_explicit = self.out[start..].starts_with("? ");
        if is_explicit {
            self.out.pop();
            self.out.push('\n');
            self.indent(frame.indent);
        }
        self.out.push(':');
        let is_list = matches!(self.tree.node(member.value).data, Data::List(_));
        let deeper = if is_list && !is_explicit { 0 } else { 2 };
        self.enter(member.value, frame.indent + deeper, After::Key)
    }

    fn indent(&mut self, indent: usize) {
        self.out.extend(std::iter::repeat_n(' ', indent));
    }
}
