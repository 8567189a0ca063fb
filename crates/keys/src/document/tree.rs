//! A parsed document, of whatever format.
//!
//! Nodes refer to each other by number, so that deep documents need no recursion and aliases share
//! what they stand for.

use super::error::{Failure, ReadErrorKind};

/// The number of a node.
pub(super) type Id = usize;

/// A document.
#[derive(Debug, Clone, Default)]
pub(super) struct Tree {
    nodes: Vec<Node>,
    pub(super) root: Id,
}

/// One value of a document.
#[derive(Debug, Clone)]
pub(super) struct Node {
    pub(super) data: Data,
    /// A tag that is not one of the types.
    pub(super) tag: Option<Box<str>>,
    /// Where it begins in the text.
    pub(super) offset: usize,
}

/// What a node is.
#[derive(Debug, Clone)]
pub(super) enum Data {
    Scalar(Scalar, String),
    Binary(Vec<u8>),
    List(Vec<Id>),
    Map(Vec<Member>),
}

/// The types of scalars; the text is in canonical spelling.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scalar {
    Text,
    Null,
    Boolean,
    Integer,
    Float,
    Datetime,
}

impl Scalar {
    const TYPES: [(&'static str, Self); 5] = [
        ("null", Self::Null),
        ("boolean", Self::Boolean),
        ("integer", Self::Integer),
        ("float", Self::Float),
        ("datetime", Self::Datetime),
    ];

    /// Returns what metadata calls the type; text needs none.
    pub(super) fn name(self) -> Option<&'static str> {
        Self::TYPES
            .iter()
            .find(|(_, scalar)| *scalar == self)
            .map(|(name, _)| *name)
    }

    pub(super) fn from_name(name: &str) -> Option<Self> {
        Self::TYPES
            .iter()
            .find(|(known, _)| *known == name)
            .map(|(_, scalar)| *scalar)
    }
}

/// One entry of a map.
#[derive(Debug, Clone)]
pub(super) struct Member {
    pub(super) key: String,
    pub(super) key_type: Scalar,
    pub(super) offset: usize,
    pub(super) value: Id,
}

impl Tree {
    pub(super) fn len(&self) -> usize {
        self.nodes.len()
    }

    pub(super) fn node(&self, id: Id) -> &Node {
        &self.nodes[id]
    }

    pub(super) fn node_mut(&mut self, id: Id) -> &mut Node {
        &mut self.nodes[id]
    }

    pub(super) fn add(&mut self, data: Data, offset: usize) -> Id {
        self.nodes.push(Node {
            data,
            tag: None,
            offset,
        });
        self.nodes.len() - 1
    }

    /// Puts a finished value into its list, or into its map under a key.
    pub(super) fn attach(&mut self, parent: Id, member: Option<Member>, value: Id) {
        match (&mut self.nodes[parent].data, member) {
            (Data::List(items), None) => items.push(value),
            (Data::Map(members), Some(member)) => members.push(Member { value, ..member }),
            _ => unreachable!("lists take values, and maps take members"),
        }
    }
}

impl Member {
    /// Returns a member that is still without its value.
    pub(super) fn new(key: String, key_type: Scalar, offset: usize) -> Result<Self, Failure> {
        if key.contains('\0') {
            return Err(Failure::new(offset, ReadErrorKind::NulInKey));
        }
        Ok(Self {
            key,
            key_type,
            offset,
            value: 0,
        })
    }
}
