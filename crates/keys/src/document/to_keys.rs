//! From a parsed document to keys.

use std::collections::HashSet;

use super::error::{Failure, ReadErrorKind};
use super::tree::{Data, Id, Member, Scalar, Tree};
use crate::key::Key;
use crate::metadata::Metadata;
use crate::name::{self, Name, Namespace};
use crate::set::KeySet;
use crate::value::Value;

/// How many bytes of names and values aliases may add to what the document itself says.
const ALIAS_BUDGET: usize = 64 * 1024 * 1024;

/// Makes the keys of a document.
pub(super) fn to_keys(tree: &Tree) -> Result<KeySet, Failure> {
    let root = Name::root(Namespace::User);
    let mut writer = Writer {
        tree,
        keys: Vec::with_capacity(tree.len()),
        path: root.subtree().to_vec(),
        seen: vec![false; tree.len()],
        aliased: 0,
        described: Described::default(),
    };
    writer.run()?;
    Ok(writer.keys.into_iter().collect())
}

/// A list or map on the way to the node that is being written, and where an alias led into it.
struct Frame {
    node: Id,
    next: usize,
    path_len: usize,
    alias: Option<usize>,
}

/// Where the list or map of a node begins, and the outermost alias it is part of.
#[derive(Clone, Copy, Default)]
struct Place {
    offset: usize,
    alias: Option<usize>,
}

struct Writer<'a> {
    tree: &'a Tree,
    keys: Vec<Key>,
    path: Vec<u8>,
    seen: Vec<bool>,
    aliased: usize,
    described: Described,
}

impl Writer<'_> {
    fn run(&mut self) -> Result<(), Failure> {
        let mut frames = Vec::new();
        frames.extend(self.enter(self.tree.root, None, Place::default())?);
        while let Some(frame) = frames.last_mut() {
            self.path.truncate(frame.path_len);
            let at = frame.next;
            frame.next += 1;
            let offset = self.tree.node(frame.node).offset;
            let place = Place {
                offset,
                alias: frame.alias,
            };
            let entered = match &self.tree.node(frame.node).data {
                Data::List(items) if at < items.len() => {
                    self.push(name::array_part(at as u64).as_bytes());
                    self.enter(items[at], None, place)?
                }
                Data::Map(members) if at < members.len() => {
                    let member = &members[at];
                    if member.key.is_empty() && self.path.len() == 2 {
                        return Err(Failure::new(member.offset, ReadErrorKind::EmptyKey));
                    }
                    self.push(member.key.as_bytes());
                    self.enter(member.value, Some(member), place)?
                }
                _ => {
                    frames.pop();
                    continue;
                }
            };
            frames.extend(entered);
        }
        Ok(())
    }

    fn push(&mut self, part: &[u8]) {
        self.path.extend_from_slice(part);
        self.path.push(0);
    }

    /// Writes the key of a node, and returns a frame if there is something below it.
    fn enter(
        &mut self,
        id: Id,
        member: Option<&Member>,
        place: Place,
    ) -> Result<Option<Frame>, Failure> {
        let node = self.tree.node(id);
        let offset = member.map_or(place.offset, |member| member.offset);
        let seen = std::mem::replace(&mut self.seen[id], true);
        let alias = place.alias.or_else(|| seen.then_some(offset));
        if self.path.len() > name::MAX_LEN {
            return Err(Failure::new(offset, ReadErrorKind::TooLong));
        }
        if let Some(alias) = alias {
            let size = match &node.data {
                Data::Scalar(_, text) => text.len(),
                Data::Binary(bytes) => bytes.len(),
                Data::List(_) | Data::Map(_) => 0,
            };
            self.aliased += self.path.len() + size;
            if self.aliased > ALIAS_BUDGET {
                return Err(Failure::new(alias, ReadErrorKind::Bomb));
            }
        }
        let (value, kind) = match &node.data {
            Data::Scalar(Scalar::Null, _) => (Value::Absent, Some(("type", "null"))),
            Data::Scalar(scalar, text) => (
                text.as_str().into(),
                scalar.name().map(|name| ("type", name)),
            ),
            Data::Binary(bytes) => (bytes.as_slice().into(), None),
            Data::List(_) => (Value::Absent, Some(("array", ""))),
            Data::Map(_) => (Value::Absent, Some(("map", ""))),
        };
        let key_type = member.and_then(|member| member.key_type.name());
        let says_nothing = matches!(&node.data, Data::Map(members) if !members.is_empty())
            && key_type.is_none()
            && node.tag.is_none();
        if !says_nothing {
            let metadata = self.described.metadata([
                kind,
                key_type.map(|name| ("key", name)),
                node.tag.as_deref().map(|tag| ("tag", tag)),
            ]);
            self.keys.push(
                Key::new(self.name())
                    .with_metadata(metadata)
                    .with_value(value),
            );
        }
        if let Data::Map(members) = &node.data {
            refuse_duplicates(members)?;
        }
        let is_container = matches!(node.data, Data::List(_) | Data::Map(_));
        let path_len = self.path.len();
        Ok(is_container.then_some(Frame {
            node: id,
            next: 0,
            path_len,
            alias,
        }))
    }

    fn name(&self) -> Name {
        if self.path.len() == 2 {
            return Name::root(Namespace::User);
        }
        Name::from_unescaped(self.path.as_slice())
    }
}

fn refuse_duplicates(members: &[Member]) -> Result<(), Failure> {
    let mut keys = HashSet::with_capacity(members.len());
    match members
        .iter()
        .find(|member| !keys.insert(member.key.as_str()))
    {
        Some(member) => {
            let kind = ReadErrorKind::DuplicateKey(member.key.clone());
            Err(Failure::new(member.offset, kind))
        }
        None => Ok(()),
    }
}

/// The metadata in use, each set made once and shared by all keys that carry it.
#[derive(Default)]
struct Described(std::collections::HashMap<Vec<(String, String)>, Metadata>);

impl Described {
    fn metadata(&mut self, entries: [Option<(&str, &str)>; 3]) -> Metadata {
        let entries: Vec<_> = entries
            .into_iter()
            .flatten()
            .map(|(name, text)| (name.to_owned(), text.to_owned()))
            .collect();
        if entries.is_empty() {
            return Metadata::new();
        }
        let make = |entries: &Vec<(String, String)>| {
            let mut metadata = Metadata::new();
            for (name, text) in entries {
                metadata
                    .insert(name, text.as_str())
                    .expect("the names are literals");
            }
            metadata
        };
        self.0.entry(entries).or_insert_with_key(make).clone()
    }
}
