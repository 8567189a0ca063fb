//! A value in one line, without recursion.

use super::style::Style;
use crate::document::error::WriteError;
use crate::document::tree::{Data, Id, Member, Tree};

/// What is still to be written, last first.
enum Task<'a> {
    Node(Id),
    Key(&'a Member),
    Text(&'static str),
}

pub(super) fn write(
    tree: &Tree,
    id: Id,
    style: &impl Style,
    out: &mut String,
) -> Result<(), WriteError> {
    let mut tasks = vec![Task::Node(id)];
    while let Some(task) = tasks.pop() {
        match task {
            Task::Text(text) => out.push_str(text),
            Task::Key(member) => style.key(member, out)?,
            Task::Node(id) => {
                let node = tree.node(id);
                if let Some(tag) = &node.tag {
                    style.tag(tag, out)?;
                    out.push(' ');
                }
                match &node.data {
                    Data::Scalar(scalar, text) => style.scalar(*scalar, text, out)?,
                    Data::Binary(bytes) => style.binary(bytes, out)?,
                    Data::List(items) => {
                        tasks.push(Task::Text("]"));
                        for (at, item) in items.iter().enumerate().rev() {
                            tasks.push(Task::Node(*item));
                            tasks.extend((at > 0).then_some(Task::Text(", ")));
                        }
                        out.push('[');
                    }
                    Data::Map(members) => {
                        tasks.push(Task::Text("}"));
                        for (at, member) in members.iter().enumerate().rev() {
                            tasks.push(Task::Node(member.value));
                            tasks.push(Task::Text(style.between()));
                            tasks.push(Task::Key(member));
                            tasks.extend((at > 0).then_some(Task::Text(", ")));
                        }
                        out.push('{');
                    }
                }
            }
        }
    }
    Ok(())
}
