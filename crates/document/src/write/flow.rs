//! A value in one line, without recursion.

use super::style::Style;
use crate::document::{Data, Document, Member, NodeId};
use crate::error::WriteError;

/// A part that is still to be written, last first.
enum Task<'a> {
    Node(NodeId),
    Key(&'a Member),
    Text(&'static str),
}

/// Writes a value.
pub(crate) fn write(
    document: &Document,
    id: NodeId,
    style: &impl Style,
    out: &mut String,
) -> Result<(), WriteError> {
    let mut tasks = vec![Task::Node(id)];
    while let Some(task) = tasks.pop() {
        match task {
            Task::Text(text) => out.push_str(text),
            Task::Key(member) => style.key(member, out)?,
            Task::Node(id) => {
                let node = document.node(id);
                if let Some(tag) = &node.tag {
                    style.tag(tag, out)?;
                    out.push(' ');
                }
                match &node.data {
                    Data::Scalar(scalar, text) => style.scalar(*scalar, text, out)?,
                    Data::List(items) => {
                        tasks.push(Task::Text("]"));
                        for (at, item) in items.iter().enumerate().rev() {
                            tasks.push(Task::Node(item.id));
                            tasks.extend((at > 0).then_some(Task::Text(", ")));
                        }
                        out.push('[');
                    }
                    Data::Map(members) => {
                        tasks.push(Task::Text("}"));
                        for (at, member) in members.iter().enumerate().rev() {
                            tasks.push(Task::Node(member.value.id));
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
