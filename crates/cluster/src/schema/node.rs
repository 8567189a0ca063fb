//! The compiled form of a schema: an arena of nodes, so that kinds may contain themselves.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::pattern::Pattern;
use crate::fields::PathElement;

/// The place of a node in its arena.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct NodeId(pub(super) u32);

impl NodeId {
    /// The node of every arena that accepts anything and is typed by what it holds.
    pub(super) const ANYTHING: Self = Self(0);
}

/// The JSON types of OpenAPI.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Type {
    Object,
    Array,
    String,
    Integer,
    Number,
    Boolean,
}

impl Type {
    /// Reads a type's name.
    pub(super) fn parse(name: &str) -> Option<Self> {
        Some(match name {
            "object" => Self::Object,
            "array" => Self::Array,
            "string" => Self::String,
            "integer" => Self::Integer,
            "number" => Self::Number,
            "boolean" => Self::Boolean,
            _ => return None,
        })
    }

    /// Returns the type's name.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Object => "object",
            Self::Array => "array",
            Self::String => "string",
            Self::Integer => "integer",
            Self::Number => "number",
            Self::Boolean => "boolean",
        }
    }

    /// Returns whether a value is of this type; null is of none.
    pub(crate) fn admits(self, value: &Value) -> bool {
        match self {
            Self::Object => value.is_object(),
            Self::Array => value.is_array(),
            Self::String => value.is_string(),
            Self::Integer => is_integer(value),
            Self::Number => value.is_number(),
            Self::Boolean => value.is_boolean(),
        }
    }
}

fn is_integer(value: &Value) -> bool {
    match value {
        Value::Number(number) => {
            number.is_i64()
                || number.is_u64()
                || number.as_f64().is_some_and(|float| float.fract() == 0.0)
        }
        _ => false,
    }
}

/// The way in which the items of a list are told apart.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) enum ListKind {
    /// They are not: the list is replaced as a whole.
    #[default]
    Atomic,
    /// By their value.
    Set,
    /// By the values of these fields.
    Map(Vec<String>),
}

/// The treatment of a field by strategic merge patches (`x-kubernetes-patch-strategy` and
/// `-merge-key`).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct PatchRules {
    pub(super) strategies: Vec<String>,
    pub(super) merge_key: Option<String>,
}

/// One compiled schema.
#[derive(Debug, Default)]
pub(super) struct Node {
    pub(super) kind: Option<Type>,
    pub(super) properties: BTreeMap<String, NodeId>,
    pub(super) additional: Option<NodeId>,
    pub(super) items: Option<NodeId>,
    pub(super) nullable: bool,
    pub(super) preserve_unknown: bool,
    pub(super) embedded_resource: bool,
    pub(super) int_or_string: bool,
    pub(super) default: Option<Value>,
    pub(super) list: ListKind,
    pub(super) atomic_map: bool,
    pub(super) patch: PatchRules,
    pub(super) rules: Rules,
}

/// The constraints on a value beyond its type; in `allOf` and its kin they reach into fields.
#[derive(Debug, Default)]
pub(super) struct Rules {
    pub(super) kind: Option<Type>,
    pub(super) required: Vec<String>,
    pub(super) allowed: Vec<Value>,
    pub(super) format: Option<String>,
    pub(super) pattern: Option<Pattern>,
    pub(super) minimum: Option<Bound>,
    pub(super) maximum: Option<Bound>,
    pub(super) multiple_of: Option<f64>,
    pub(super) length: Range,
    pub(super) items_count: Range,
    pub(super) properties_count: Range,
    pub(super) all_of: Vec<Self>,
    pub(super) any_of: Vec<Self>,
    pub(super) one_of: Vec<Self>,
    pub(super) not: Option<Box<Self>>,
    pub(super) properties: BTreeMap<String, Self>,
    pub(super) additional: Option<Box<Self>>,
    pub(super) items: Option<Box<Self>>,
}

/// One end of a range of numbers.
#[derive(Debug, Clone)]
pub(super) struct Bound {
    pub(super) limit: serde_json::Number,
    pub(super) exclusive: bool,
}

/// The smallest and the largest number of something.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Range {
    pub(super) least: Option<u64>,
    pub(super) most: Option<u64>,
}

/// The way in which a value merges, once both its schema and the value itself are known.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Shape<'a> {
    /// As a whole.
    Scalar,
    /// As a list.
    List(&'a ListKind),
    /// As an object; an atomic one is replaced as a whole.
    Map { atomic: bool },
}

/// A node and the arena it lives in.
#[derive(Clone, Copy)]
pub(crate) struct View<'a> {
    nodes: &'a [Node],
    id: NodeId,
}

impl std::fmt::Debug for View<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // The arena would print whole, and a kind that contains itself never ends.
        f.debug_struct("View")
            .field("id", &self.id)
            .field("kind", &self.node().kind)
            .finish()
    }
}

/// Walking
impl<'a> View<'a> {
    pub(super) fn new(nodes: &'a [Node], id: NodeId) -> Self {
        Self { nodes, id }
    }

    pub(super) fn node(self) -> &'a Node {
        &self.nodes[self.id.0 as usize]
    }

    fn at(self, id: NodeId) -> Self {
        Self { id, ..self }
    }

    /// Returns the schema of a declared field.
    pub(crate) fn property(self, name: &str) -> Option<Self> {
        self.node().properties.get(name).map(|&id| self.at(id))
    }

    pub(super) fn properties(self) -> impl Iterator<Item = (&'a str, Self)> {
        self.node()
            .properties
            .iter()
            .map(move |(name, &id)| (name.as_str(), self.at(id)))
    }

    /// Returns the schema of the values of a map.
    pub(crate) fn additional(self) -> Option<Self> {
        self.node().additional.map(|id| self.at(id))
    }

    /// Returns the schema of a list's items.
    pub(crate) fn items(self) -> Option<Self> {
        self.node().items.map(|id| self.at(id))
    }

    /// Returns the schema that applies to a field, declared or not; `None` if it may not be there.
    pub(crate) fn child(self, name: &str) -> Option<Self> {
        self.property(name)
            .or_else(|| self.additional())
            .or_else(|| {
                let free = self.node().preserve_unknown || self.node().properties.is_empty();
                free.then(|| self.at(NodeId::ANYTHING))
            })
    }

    /// Returns the schema that applies to a field, taking undeclared ones as they come.
    pub(crate) fn child_or_anything(self, name: &str) -> Self {
        self.child(name)
            .unwrap_or_else(|| self.at(NodeId::ANYTHING))
    }

    /// Returns the schema that applies to every item of a list.
    pub(crate) fn item(self) -> Self {
        self.items().unwrap_or_else(|| self.at(NodeId::ANYTHING))
    }
}

/// Merging
impl<'a> View<'a> {
    /// Returns the declared type, if one is.
    pub(crate) fn kind(self) -> Option<Type> {
        self.node().kind
    }

    /// Returns how `value` merges: by the declared type, or by its own where none is declared.
    pub(crate) fn shape(self, value: &Value) -> Shape<'a> {
        let node = self.node();
        if node.int_or_string {
            return Shape::Scalar;
        }
        let kind = node.kind.or(match value {
            Value::Object(_) => Some(Type::Object),
            Value::Array(_) => Some(Type::Array),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
        });
        match kind {
            Some(Type::Object) => Shape::Map {
                atomic: node.atomic_map,
            },
            Some(Type::Array) => Shape::List(&node.list),
            _ => Shape::Scalar,
        }
    }

    /// Returns the names that strategic merge patches give this field's strategy.
    pub(crate) fn patch_strategies(self) -> &'a [String] {
        &self.node().patch.strategies
    }

    /// Returns the field by which strategic merge patches tell this list's items apart.
    pub(crate) fn patch_merge_key(self) -> Option<&'a str> {
        self.node().patch.merge_key.as_deref()
    }

    /// Returns the step that leads to an item of this set or map list, or why there is none.
    pub(crate) fn element(self, item: &Value) -> Result<PathElement, String> {
        match &self.node().list {
            ListKind::Atomic => Err("invalid indexing of non-associative list".to_owned()),
            ListKind::Set => set_element(item),
            ListKind::Map(keys) => self.keyed_element(keys, item),
        }
    }

    fn keyed_element(self, keys: &[String], item: &Value) -> Result<PathElement, String> {
        let Value::Object(fields) = item else {
            let what = if item.is_null() {
                "a null element"
            } else {
                "non-map elements"
            };
            return Err(format!("associative list with keys may not have {what}"));
        };
        let mut key = Map::new();
        for name in keys {
            let default = || self.item().property(name)?.node().default.as_ref();
            if let Some(value) = fields.get(name).or_else(default) {
                key.insert(name.clone(), value.clone());
            }
        }
        if key.is_empty() {
            return Err(format!(
                "associative list with keys has an element that omits all key fields {keys:?} \
                 (and doesn't have default values for any key fields)"
            ));
        }
        Ok(PathElement::key(key))
    }
}

fn set_element(item: &Value) -> Result<PathElement, String> {
    match item {
        Value::Object(_) => {
            Err("associative list without keys has an element that's a map type".to_owned())
        }
        Value::Array(_) => Err("not supported: associative list with lists as elements".to_owned()),
        Value::Null => {
            Err("associative list without keys has an element that's an explicit null".to_owned())
        }
        scalar => Ok(PathElement::value(scalar)),
    }
}
