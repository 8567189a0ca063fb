//! From keys to a document that can be written.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use pathline_document::{Child, Data, Document, Member, NodeId, Scalar};

use super::error::WriteError;
use super::types;
use crate::key_ref::KeyRef;
use crate::name::{self, Name, Namespace};
use crate::set::KeySet;
use crate::value::ValueRef;

/// The tags that YAML reads as types, so that they are not there any more when they have been read.
const TYPE_TAGS: [&str; 8] = [
    "binary", "bool", "float", "int", "map", "null", "seq", "str",
];

/// Makes the document that has these keys.
pub(super) fn from_keys(keys: &KeySet) -> Result<Document, WriteError> {
    let mut reader = Reader {
        document: Document::default(),
        open: Vec::new(),
        previous: Vec::new(),
    };
    for key in keys {
        reader.take(key)?;
    }
    if reader.open.is_empty() {
        let root = reader.document.add(Data::Map(Vec::new()));
        reader.document.set_root(root);
    }
    Ok(reader.document)
}

struct Reader {
    document: Document,
    /// The nodes from the root to the previous key, with the lengths of their names.
    open: Vec<(usize, NodeId)>,
    previous: Vec<u8>,
}

impl Reader {
    fn take(&mut self, key: KeyRef<'_>) -> Result<(), WriteError> {
        let name = key.name();
        if name.namespace() != Namespace::User {
            return Err(WriteError::Outside { name });
        }
        let (data, key_type) = data_of(key, &name)?;
        let tag = tag_of(key, &name)?;
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
            let root = self.document.add(data);
            self.document.node_mut(root).tag = tag.clone().filter(|_| root_is_key);
            self.document.set_root(root);
            self.open.push((2, root));
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
            let child = self.document.add(data);
            self.document.node_mut(child).tag = tag.clone().filter(|_| is_key);
            let key_type = if is_key { key_type } else { Scalar::Text };
            self.attach(parent, &rest[..part_len], key_type, child, &name)?;
            self.open.push((length + part_len + 1, child));
        }
        self.previous = path.to_vec();
        Ok(())
    }

    fn attach(
        &mut self,
        parent: NodeId,
        part: &[u8],
        key_type: Scalar,
        child: NodeId,
        name: &Name,
    ) -> Result<(), WriteError> {
        let node = self.document.node_mut(parent);
        match &mut node.data {
            Data::List(items) if name::array_part(items.len() as u64).as_bytes() == part => {
                items.push(Child::new(child));
            }
            Data::List(_) => return Err(WriteError::NotAnIndex { name: name.clone() }),
            Data::Map(members) => {
                let key = String::from_utf8(part.to_vec())
                    .map_err(|_| WriteError::NotText { name: name.clone() })?;
                if !is_of_type(key_type, &key) {
                    let kind = types::name(key_type).unwrap_or_default();
                    return Err(cannot_hold(name, "key", kind));
                }
                members.push(Member::new(key, key_type, child));
            }
            Data::Scalar(..) => {
                return Err(WriteError::BelowScalar { name: name.clone() });
            }
        }
        Ok(())
    }
}

/// Returns the tag of a key, unless it is one that YAML reads as a type or not at all.
fn tag_of(key: KeyRef<'_>, name: &Name) -> Result<Option<Box<str>>, WriteError> {
    let Some(tag) = key.metadata().get("tag") else {
        return Ok(None);
    };
    let is_type = tag
        .strip_prefix("tag:yaml.org,2002:")
        .is_some_and(|suffix| TYPE_TAGS.contains(&suffix));
    if is_type || matches!(tag, "" | "!") || key.value().is_binary() {
        return Err(cannot_hold(name, "tag", tag));
    }
    Ok(Some(tag.into()))
}

fn cannot_hold(name: &Name, metadata: &str, text: &str) -> WriteError {
    WriteError::Metadata {
        name: name.clone(),
        metadata: metadata.to_owned(),
        text: text.to_owned(),
    }
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
        .and_then(types::of_name)
        .unwrap_or(Scalar::Text);
    let kind = metadata
        .get("type")
        .and_then(types::of_name)
        .unwrap_or(Scalar::Text);
    let data = match key.value() {
        ValueRef::Binary(bytes) => Data::Scalar(Scalar::Binary, STANDARD.encode(bytes)),
        ValueRef::Absent | ValueRef::Text("") if metadata.get("array").is_some() => {
            Data::List(Vec::new())
        }
        ValueRef::Absent | ValueRef::Text("") if metadata.get("map").is_some() => {
            Data::Map(Vec::new())
        }
        value => {
            let text = value.text().unwrap_or_default();
            if !is_of_type(kind, text) {
                let kind = types::name(kind).unwrap_or("text").to_owned();
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
        Scalar::Text | Scalar::Datetime | Scalar::Binary => true,
        _ => kind
            .canonical(text)
            .is_some_and(|canonical| canonical == text),
    }
}
