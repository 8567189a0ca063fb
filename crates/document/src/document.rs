//! The values of a document, of whatever format.
//!
//! Values refer to each other by number, so that deep documents need no recursion and aliases share
//! what they stand for.

mod find;
mod same;

use std::ops::Range;

#[cfg(any(feature = "json", feature = "yaml"))]
pub(crate) use self::same::identity;
#[cfg(any(feature = "json", feature = "toml", feature = "yaml"))]
pub(crate) use self::same::same;
use crate::scalar::Scalar;

/// The number of a value within its document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub(crate) usize);

impl NodeId {
    /// Returns the number; those of a document are below [`Document::len`].
    #[must_use]
    pub const fn index(self) -> usize {
        self.0
    }
}

/// A value, everything below it, and where all of it is written.
///
/// Two documents are equal if they say the same: the types, the values, the tags and the keys count,
/// the order of keys, the spelling of numbers and the spans do not.
///
/// ```
/// use pathline_document::{Document, Format, Scalar};
///
/// let read = &Format::Toml.read("port = 0x50")?[0];
/// assert_eq!(read, &Format::Yaml.read("{port: 80}")?[0]);
/// assert_ne!(read, &Format::Yaml.read("{port: '80'}")?[0]);
/// assert_eq!(Document::scalar(Scalar::Text, "a"), Format::Json.read("\"a\"")?[0]);
/// # Ok::<(), pathline_document::ReadError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Document {
    nodes: Vec<Node>,
    pub(crate) root: Child,
    /// The offset at which it begins in the text; of a YAML stream, that of its first line.
    pub start: usize,
}

/// One value of a document.
#[cfg_attr(
    not(any(feature = "json", feature = "toml", feature = "yaml")),
    expect(dead_code, reason = "the layout is for edits of a format")
)]
#[derive(Debug, Clone)]
pub struct Node {
    /// The kind and the content.
    pub data: Data,
    /// A tag that is not one of the types (YAML).
    pub tag: Option<Box<str>>,
    /// The bytes of the text in which it is written, without tag and anchor. A table of TOML that
    /// has a header is where its header is, and one that has none is nowhere: an empty range.
    pub span: Range<usize>,
    /// Its first token; of a block of YAML, its first line.
    pub(crate) head: Range<usize>,
    /// The offset at which the last entry of a list or map ends.
    pub(crate) content_end: usize,
    pub(crate) layout: Layout,
    /// An alias repeats it.
    pub(crate) is_aliased: bool,
    /// A map has a merge key.
    pub(crate) has_merge: bool,
}

/// The kind and the content of a value.
#[derive(Debug, Clone)]
pub enum Data {
    /// A scalar, as it is written but for quotes, escapes and folded lines; see [`Scalar::canonical`].
    Scalar(Scalar, String),
    /// A list.
    List(Vec<Child>),
    /// A map, in the order of the text; what merge keys bring comes last.
    Map(Vec<Member>),
}

/// A value as a part of a list or map.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Child {
    /// The value.
    pub id: NodeId,
    /// The bytes in which this part is written, tag and anchor included; of an alias, those of the
    /// alias.
    pub span: Range<usize>,
    /// The way in which it got there.
    pub origin: Origin,
}

/// The way a value became part of a list or map.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Origin {
    /// It is written there.
    Written,
    /// An alias repeats it there.
    Alias,
    /// A merge key repeats it there.
    Merged,
}

/// One entry of a map.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Member {
    /// The key, as it is written but for quotes and escapes.
    pub key: String,
    /// The type of the key: in YAML it need not be a text.
    pub key_type: Scalar,
    /// The bytes in which the key is written.
    pub key_span: Range<usize>,
    /// The value.
    pub value: Child,
}

/// The layout of a value in its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Layout {
    /// Not a list or map, or not written at all.
    Plain,
    /// In brackets.
    #[cfg(any(feature = "json", feature = "toml", feature = "yaml"))]
    Flow,
    /// In lines of its own (YAML).
    #[cfg(feature = "yaml")]
    Block,
    /// A pair in a list, without brackets of its own (YAML).
    #[cfg(feature = "yaml")]
    Pair,
    /// The root, or behind a header (TOML).
    #[cfg(feature = "toml")]
    Section,
    /// All tables of this name that have a header in double brackets (TOML).
    #[cfg(feature = "toml")]
    Sections,
    /// By keys with dots (TOML).
    #[cfg(feature = "toml")]
    Dotted,
    /// Only by headers of tables below it (TOML).
    #[cfg(feature = "toml")]
    Implied,
}

impl Default for Document {
    /// Returns null.
    fn default() -> Self {
        Self::scalar(Scalar::Null, "")
    }
}

impl Document {
    /// Returns a document that is one scalar.
    #[must_use]
    pub fn scalar(scalar: Scalar, text: impl Into<String>) -> Self {
        let node = Node::new(Data::Scalar(scalar, text.into()), 0..0);
        Self {
            nodes: vec![node],
            root: Child::new(NodeId(0)),
            start: 0,
        }
    }

    /// Returns a document without a value; one has to be added.
    #[cfg(any(feature = "json", feature = "toml", feature = "yaml"))]
    pub(crate) fn empty(start: usize) -> Self {
        Self {
            nodes: Vec::new(),
            root: Child::new(NodeId(0)),
            start,
        }
    }

    /// Returns the number of the value that is not part of another one.
    #[must_use]
    pub fn root(&self) -> NodeId {
        self.root.id
    }

    /// Makes a value the root.
    pub fn set_root(&mut self, id: NodeId) {
        self.root = Child::new(id);
    }

    /// Returns how many values there are; one that aliases repeat counts once.
    #[expect(clippy::len_without_is_empty, reason = "there is always a root")]
    #[must_use]
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Returns a value.
    #[must_use]
    pub fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.0]
    }

    /// Returns a value, to change it.
    pub fn node_mut(&mut self, id: NodeId) -> &mut Node {
        &mut self.nodes[id.0]
    }

    /// Adds a value that is not part of another one yet.
    pub fn add(&mut self, data: Data) -> NodeId {
        self.push(Node::new(data, 0..0))
    }

    pub(crate) fn push(&mut self, node: Node) -> NodeId {
        self.nodes.push(node);
        NodeId(self.nodes.len() - 1)
    }
}

impl Node {
    pub(crate) fn new(data: Data, span: Range<usize>) -> Self {
        Self {
            data,
            tag: None,
            head: span.clone(),
            content_end: span.end,
            span,
            layout: Layout::Plain,
            is_aliased: false,
            has_merge: false,
        }
    }

    /// Returns what the value has as parts: items, or values of members.
    pub fn children(&self) -> impl Iterator<Item = &Child> {
        let (items, members) = match &self.data {
            Data::Scalar(..) => (None, None),
            Data::List(items) => (Some(items), None),
            Data::Map(members) => (None, Some(members)),
        };
        let values = members.into_iter().flatten().map(|member| &member.value);
        items.into_iter().flatten().chain(values)
    }
}

impl Child {
    /// Returns a part that is written nowhere yet.
    #[must_use]
    pub const fn new(id: NodeId) -> Self {
        Self::at(id, 0..0)
    }

    pub(crate) const fn at(id: NodeId, span: Range<usize>) -> Self {
        Self {
            id,
            span,
            origin: Origin::Written,
        }
    }
}

impl Member {
    /// Returns an entry that is written nowhere yet.
    #[must_use]
    pub fn new(key: impl Into<String>, key_type: Scalar, value: NodeId) -> Self {
        Self {
            key: key.into(),
            key_type,
            key_span: 0..0,
            value: Child::new(value),
        }
    }
}
