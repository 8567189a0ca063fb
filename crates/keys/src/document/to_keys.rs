//! From a parsed document to keys.

use std::borrow::Cow;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use pathline_document::{Data, Document, Member, Node, NodeId, Scalar};

use super::error::{ErrorAt, ReadErrorKind};
use super::types;
use crate::key::Key;
use crate::metadata::Metadata;
use crate::name::{self, Name, Namespace};
use crate::set::KeySet;
use crate::value::Value;

/// The bytes of names and values that aliases may add to what the document itself says.
const ALIAS_BUDGET: usize = 64 * 1024 * 1024;

/// Makes the keys of a document.
pub(super) fn to_keys(document: &Document) -> Result<KeySet, ErrorAt> {
    let root = Name::root(Namespace::User);
    let mut writer = Writer {
        document,
        keys: Vec::with_capacity(document.len()),
        path: root.subtree().to_vec(),
        seen: vec![false; document.len()],
        aliased: 0,
        described: Described::default(),
    };
    writer.run()?;
    Ok(writer.keys.into_iter().collect())
}

/// A list or map on the way to the node that is being written, and where an alias led into it.
struct Frame {
    node: NodeId,
    next: usize,
    path_len: usize,
    alias: Option<usize>,
}

/// The offset at which the list or map of a node begins, and the outermost alias it is part of.
#[derive(Clone, Copy, Default)]
struct Around {
    offset: usize,
    alias: Option<usize>,
}

struct Writer<'a> {
    document: &'a Document,
    keys: Vec<Key>,
    path: Vec<u8>,
    seen: Vec<bool>,
    aliased: usize,
    described: Described,
}

impl Writer<'_> {
    fn run(&mut self) -> Result<(), ErrorAt> {
        let mut frames = Vec::new();
        frames.extend(self.enter(self.document.root(), None, Around::default())?);
        while let Some(frame) = frames.last_mut() {
            self.path.truncate(frame.path_len);
            let at = frame.next;
            frame.next += 1;
            let offset = self.document.node(frame.node).span.start;
            let around = Around {
                offset,
                alias: frame.alias,
            };
            let entered = match &self.document.node(frame.node).data {
                Data::List(items) if at < items.len() => {
                    self.push(name::array_part(at as u64).as_bytes());
                    self.enter(items[at].id, None, around)?
                }
                Data::Map(members) if at < members.len() => {
                    let member = &members[at];
                    let key = key_text(member)?;
                    if key.is_empty() && self.path.len() == 2 {
                        let at = member.key_span.start;
                        return Err(ErrorAt::new(at, ReadErrorKind::EmptyKey));
                    }
                    self.push(key.as_bytes());
                    self.enter(member.value.id, Some(member), around)?
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
        id: NodeId,
        member: Option<&Member>,
        around: Around,
    ) -> Result<Option<Frame>, ErrorAt> {
        let node = self.document.node(id);
        let offset = member.map_or(around.offset, |member| member.key_span.start);
        let seen = std::mem::replace(&mut self.seen[id.index()], true);
        let alias = around.alias.or_else(|| seen.then_some(offset));
        if self.path.len() > name::MAX_LEN {
            return Err(ErrorAt::new(offset, ReadErrorKind::TooLong));
        }
        if let Some(alias) = alias {
            let size = match &node.data {
                Data::Scalar(_, text) => text.len(),
                Data::List(_) | Data::Map(_) => 0,
            };
            self.aliased += self.path.len() + size;
            if self.aliased > ALIAS_BUDGET {
                return Err(ErrorAt::new(alias, ReadErrorKind::Bomb));
            }
        }
        let (value, kind) = match &node.data {
            Data::Scalar(scalar, text) => {
                let kind = types::name(*scalar).map(|name| ("type", name));
                (value_of(node, *scalar, text)?, kind)
            }
            Data::List(_) => (Value::Absent, Some(("array", ""))),
            Data::Map(_) => (Value::Absent, Some(("map", ""))),
        };
        let key_type = member.and_then(|member| types::name(member.key_type));
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

/// Returns the part of a name that a key of a map becomes.
fn key_text(member: &Member) -> Result<Cow<'_, str>, ErrorAt> {
    let failed = |kind| ErrorAt::new(member.key_span.start, kind);
    if member.key_type == Scalar::Binary {
        return Err(failed(
            pathline_document::ReadErrorKind::NonScalarKey.into(),
        ));
    }
    let key = member.key_type.canonical(&member.key);
    let key = key.ok_or_else(|| failed(ReadErrorKind::OutOfRange(member.key.clone())))?;
    if key.contains('\0') {
        return Err(failed(ReadErrorKind::NulInKey));
    }
    Ok(key)
}

fn value_of(node: &Node, scalar: Scalar, text: &str) -> Result<Value, ErrorAt> {
    let failed = |kind| ErrorAt::new(node.span.start, kind);
    match scalar {
        Scalar::Null => Ok(Value::Absent),
        Scalar::Binary => {
            let packed: String = text.split_whitespace().collect();
            let bytes = STANDARD.decode(packed);
            let bytes =
                bytes.map_err(|error| failed(ReadErrorKind::NotBase64(error.to_string())))?;
            Ok(bytes.as_slice().into())
        }
        _ => match scalar.canonical(text) {
            Some(text) => Ok((&*text).into()),
            None => Err(failed(ReadErrorKind::OutOfRange(text.to_owned()))),
        },
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
