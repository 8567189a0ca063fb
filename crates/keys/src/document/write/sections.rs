//! TOML, with a section for each table.

use super::flow;
use super::style::{Style as _, Toml};
use crate::document::error::WriteError;
use crate::document::tree::{Data, Id, Member, Tree};

/// Writes TOML.
pub(in crate::document) fn toml(tree: &Tree) -> Result<String, WriteError> {
    let mut out = String::new();
    let mut sections = vec![(String::new(), tree.root)];
    while let Some((path, id)) = sections.pop() {
        let (Data::Map(members), None) = (&tree.node(id).data, &tree.node(id).tag) else {
            return Err(WriteError::Unsupported {
                format: "TOML",
                what: "a document that is not a map without tags",
            });
        };
        if !path.is_empty() {
            out.push_str(&format!("[{path}]\n"));
        }
        let (tables, values): (Vec<_>, Vec<_>) = members
            .iter()
            .partition(|member| is_table(tree, member.value));
        for member in values {
            Toml.key(member, &mut out)?;
            out.push_str(Toml.between());
            flow::write(tree, member.value, &Toml, &mut out)?;
            out.push('\n');
        }
        for member in tables.into_iter().rev() {
            sections.push((below(&path, member)?, member.value));
        }
    }
    Ok(out)
}

fn is_table(tree: &Tree, id: Id) -> bool {
    matches!(tree.node(id).data, Data::Map(_))
}

fn below(path: &str, member: &Member) -> Result<String, WriteError> {
    let mut below = path.to_owned();
    if !path.is_empty() {
        below.push('.');
    }
    Toml.key(member, &mut below)?;
    Ok(below)
}
