//! TOML, with a section for each table.

use super::flow;
use super::style::{Style as _, Toml};
use crate::document::{Data, Document, Member, NodeId};
use crate::error::WriteError;

/// Writes TOML.
pub(crate) fn toml(document: &Document) -> Result<String, WriteError> {
    let mut out = String::new();
    let mut sections = vec![(String::new(), document.root())];
    while let Some((path, id)) = sections.pop() {
        let (Data::Map(members), None) = (&document.node(id).data, &document.node(id).tag) else {
            return Err(WriteError {
                format: "TOML",
                what: "a document that is not a map without tags",
            });
        };
        if !path.is_empty() {
            out.push_str(&format!("[{path}]\n"));
        }
        let (tables, values): (Vec<_>, Vec<_>) = members
            .iter()
            .partition(|member| is_table(document, member.value.id));
        for member in values {
            Toml.key(member, &mut out)?;
            out.push_str(Toml.between());
            flow::write(document, member.value.id, &Toml, &mut out)?;
            out.push('\n');
        }
        for member in tables.into_iter().rev() {
            sections.push((below(&path, member)?, member.value.id));
        }
    }
    Ok(out)
}

fn is_table(document: &Document, id: NodeId) -> bool {
    matches!(document.node(id).data, Data::Map(_))
}

fn below(path: &str, member: &Member) -> Result<String, WriteError> {
    let mut below = path.to_owned();
    if !path.is_empty() {
        below.push('.');
    }
    Toml.key(member, &mut below)?;
    Ok(below)
}
