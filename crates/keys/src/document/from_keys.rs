//! From keys to a document that can be written.

use super::error::WriteError;
use super::number;
use super::tree::{Data, Id, Member, Scalar, Tree};
use crate::key_ref::KeyRef;
use crate::name::{self, Name, Namespace};
use crate::set::KeySet;
use crate::value::ValueRef;

/// Makes the document that has these keys.
pub(super) fn from_keys(keys: &KeySet) -> Result<Tree, WriteError> {
    let mut reader = Reader {
        tree: Tree::default(),
        open: Vec::new(),
        previous: Vec::new(),
    };
    for key in keys {
        reader.take(key)?;
    }
    if reader.open.is_empty() {
        reader.tree.root = reader.tree.add(Data::Map(Vec::new()), 0);
    }
    Ok(reader.tree)
}

struct Reader {
    tree: Tree,
    /// The nodes from the root to the previous key, with the lengths of their names.
    open: Vec<(usize, Id)>,
    previous: Vec<u8>,
}

impl Reader {
    fn take(&mut self, key: KeyRef<'_>) -> Result<(), WriteError> {
        let name = key.name();
        if name.namespace() != Namespace::User {
            return Err(WriteError::Outside { name });
        }
        let (data, key_type) = data_of(key, &name)?;
        let path = name.subtree();
        let shared = path
            .iter()
            .zip(&self.previous)
            .take_while(|(a, b)| a == b)
            .count();
        while self.open.last().is_some_and(|(length, _)| *length > shared) {
            self.open.pop();
        }
        if self.open.is_empty() {
            let root_is_key = name.is_root();
            let data = if root_is_key {
                data.clone()
            } else {
                Data::Map(Vec::new())
            };
            self.tree.root = self.tree.add(data, 0);
            self.tree.node_mut(self.tree.root).tag = tag_of(key).filter(|_| root_is_key);
            self.open.push((2, self.tree.root));
        }
        while let Some((length, parent)) =
            self.open.last().copied().filter(|(l, _)| *l < path.len())
        {
            let rest = &path[length..];
            let part_len = rest
                .iter()
                .position(|byte| *byte == 0)
                .unwrap_or(rest.len());
            let is_key = length + part_len + 1 == path.len();
            let data = if is_key {
                data.clone()
            } else {
                Data::Map(Vec::new())
            };
            let child = self.tree.add(data, 0);
            self.tree.node_mut(child).tag = tag_of(key).filter(|_| is_key);
            let key_type = if is_key { key_type } else { Scalar::Text };
            self.attach(parent, &rest[..part_len], key_type, child, &name)?;
            self.open.push((length + part_len + 1, child));
        }
        self.previous = path.to_vec();
        Ok(())
    }

    fn attach(
        &mut self,
        parent: Id,
        part: &[u8],
        key_type: Scalar,
        child: Id,
        name: &Name,
    ) -> Result<(), WriteError> {
        let node = self.tree.node_mut(parent);
        if matches!(&node.data, Data::Scalar(Scalar::Text, text) if text.is_empty()) {
            node.data = Data::Map(Vec::new());
        }
        match &mut node.data {
            Data::List(items) if name::array_part(items.len() as u64).as_bytes() == part => {
                items.push(child);
            }
            Data::List(_) => return Err(WriteError::NotAnIndex { name: name.clone() }),
            Data::Map(members) => {
                let key = String::from_utf8(part.to_vec())
                    .map_err(|_| WriteError::NotText { name: name.clone() })?;
                members.push(Member {
                    key,
                    key_type,
                    offset: 0,
                    value: child,
                });
            }
            Data::Scalar(..) | Data::Binary(_) => {
                return Err(WriteError::BelowScalar { name: name.clone() });
            }
        }
        Ok(())
    }
}

fn tag_of(key: KeyRef<'_>) -> Option<Box<str>> {
    key.metadata().get("tag").map(Into::into)
}

/// Returns what a key stands for by its metadata, and the type of its own name.
fn data_of(key: KeyRef<'_>, name: &Name) -> Result<(Data, Scalar), WriteError> {
    let metadata = key.metadata();
    if metadata.is_empty() {
        let text = key.value().text().expect("bytes come with metadata");
        return Ok((Data::Scalar(Scalar::Text, text.to_owned()), Scalar::Text));
    }
    let key_type = metadata
        .get("key")
        .and_then(Scalar::from_name)
        .unwrap_or(Scalar::Text);
    let kind = metadata
        .get("type")
        .and_then(Scalar::from_name)
        .unwrap_or(Scalar::Text);
    let data = match key.value() {
        ValueRef::Binary(bytes) => Data::Binary(bytes.to_vec()),
        ValueRef::Absent | ValueRef::Text("") if metadata.get("array").is_some() => {
            Data::List(Vec::new())
        }
        ValueRef::Absent | ValueRef::Text("") if metadata.get("map").is_some() => {
            Data::Map(Vec::new())
        }
        value => {
            let text = value.text().unwrap_or_default();
            if !is_of_type(kind, text) {
                let kind = kind.name().unwrap_or("text").to_owned();
                return Err(WriteError::WrongType {
                    name: name.clone(),
                    kind,
                });
            }
            Data::Scalar(kind, text.to_owned())
        }
    };
    Ok((data, key_type))
}

fn is_of_type(kind: Scalar, text: &str) -> bool {
    match kind {
        Scalar::Text | Scalar::Datetime => true,
        Scalar::Null => text.is_empty(),
        Scalar::Boolean => matches!(text, "true" | "false"),
        Scalar::Integer => number::integer(text).is_some_and(|canonical| canonical == text),
        Scalar::Float => number::is_float(text),
    }
}
