//! From OpenAPI to compiled nodes.

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::{Map, Value};

use super::Schema;
use super::node::{Bound, ListKind, Node, NodeId, PatchRules, Range, Rules, Type};
use super::pattern::Pattern;
use crate::builtin;

/// The definition behind `metadata`, whatever a custom resource says about it.
const OBJECT_META: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";

/// Compiles a schema that was found structural.
pub(super) fn custom(openapi: &Value) -> Schema {
    let mut builder = Builder::new(builtin::definitions());
    let root = builder.inline(openapi);
    builder.add_resource_fields(root);
    Schema {
        nodes: builder.nodes.into(),
        root,
        openapi: Arc::new(openapi.clone()),
    }
}

/// Compiles every named definition into one arena, and returns a schema for each of `roots`.
pub(crate) fn definitions(definitions: &Map<String, Value>, roots: &[&str]) -> Vec<Schema> {
    let mut builder = Builder::new(definitions);
    let roots: Vec<NodeId> = roots
        .iter()
        .map(|name| builder.node(&serde_json::json!({ "$ref": name })))
        .collect();
    let nodes: Arc<[Node]> = builder.nodes.into();
    let openapi = Arc::new(Value::Null);
    roots
        .into_iter()
        .map(|root| Schema {
            nodes: nodes.clone(),
            root,
            openapi: openapi.clone(),
        })
        .collect()
}

struct Builder<'a> {
    nodes: Vec<Node>,
    definitions: &'a Map<String, Value>,
    referred: HashMap<String, NodeId>,
}

impl<'a> Builder<'a> {
    fn new(definitions: &'a Map<String, Value>) -> Self {
        let anything = Node {
            preserve_unknown: true,
            nullable: true,
            additional: Some(NodeId::ANYTHING),
            ..Node::default()
        };
        Self {
            nodes: vec![anything],
            definitions,
            referred: HashMap::new(),
        }
    }

    fn node(&mut self, schema: &Value) -> NodeId {
        match schema.get("$ref").and_then(Value::as_str) {
            Some(name) => self.referred(name, schema),
            None => self.inline(schema),
        }
    }

    /// Compiles a definition once for every way it is referred to; that also ends recursion.
    fn referred(&mut self, name: &str, reference: &Value) -> NodeId {
        let text = reference.to_string();
        if let Some(&id) = self.referred.get(&text) {
            return id;
        }
        let id = self.reserve();
        self.referred.insert(text, id);
        let mut schema = self.definitions.get(name).cloned().unwrap_or(Value::Null);
        if let (Value::Object(fields), Value::Object(own)) = (&mut schema, reference) {
            let own = own.iter().filter(|(key, _)| *key != "$ref");
            fields.extend(own.map(|(key, value)| (key.clone(), value.clone())));
        }
        let node = self.compile(&schema);
        self.set(id, node);
        id
    }

    fn inline(&mut self, schema: &Value) -> NodeId {
        let id = self.reserve();
        let node = self.compile(schema);
        self.set(id, node);
        id
    }

    fn reserve(&mut self) -> NodeId {
        let id = u32::try_from(self.nodes.len()).expect("a schema is far smaller than that");
        self.nodes.push(Node::default());
        NodeId(id)
    }

    fn set(&mut self, id: NodeId, node: Node) {
        self.nodes[id.0 as usize] = node;
        if self.nodes[id.0 as usize].embedded_resource {
            self.add_resource_fields(id);
        }
    }

    fn compile(&mut self, schema: &Value) -> Node {
        let flag = |name: &str| {
            schema
                .get(name)
                .and_then(Value::as_bool)
                .unwrap_or_default()
        };
        let properties = children(schema, "properties")
            .map(|(name, property)| (name.clone(), self.node(property)))
            .collect();
        let additional = match schema.get("additionalProperties") {
            Some(Value::Bool(true)) => Some(NodeId::ANYTHING),
            Some(schema @ Value::Object(_)) => Some(self.node(schema)),
            _ => None,
        };
        let items = schema.get("items").map(|items| self.node(items));
        Node {
            kind: schema
                .get("type")
                .and_then(Value::as_str)
                .and_then(Type::parse),
            properties,
            additional,
            items,
            nullable: flag("nullable"),
            preserve_unknown: flag("x-kubernetes-preserve-unknown-fields"),
            embedded_resource: flag("x-kubernetes-embedded-resource"),
            int_or_string: flag("x-kubernetes-int-or-string"),
            default: schema
                .get("default")
                .filter(|default| !default.is_null())
                .cloned(),
            list: list_kind(schema),
            atomic_map: text(schema, "x-kubernetes-map-type") == Some("atomic"),
            patch: patch_rules(schema),
            rules: own_rules(schema),
        }
    }

    /// Gives a node the fields that every resource has.
    fn add_resource_fields(&mut self, id: NodeId) {
        let name = self.inline(&serde_json::json!({ "type": "string" }));
        let metadata = self.node(&serde_json::json!({ "$ref": OBJECT_META }));
        let properties = &mut self.nodes[id.0 as usize].properties;
        properties.insert("metadata".to_owned(), metadata);
        properties.entry("apiVersion".to_owned()).or_insert(name);
        properties.entry("kind".to_owned()).or_insert(name);
    }
}

fn children<'v>(schema: &'v Value, name: &str) -> impl Iterator<Item = (&'v String, &'v Value)> {
    schema
        .get(name)
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
}

fn text<'v>(schema: &'v Value, name: &str) -> Option<&'v str> {
    schema.get(name).and_then(Value::as_str)
}

fn strings(schema: &Value, name: &str) -> Vec<String> {
    let items = schema
        .get(name)
        .and_then(Value::as_array)
        .into_iter()
        .flatten();
    items.filter_map(Value::as_str).map(str::to_owned).collect()
}

fn list_kind(schema: &Value) -> ListKind {
    match text(schema, "x-kubernetes-list-type") {
        Some("set") => ListKind::Set,
        Some("map") => ListKind::Map(strings(schema, "x-kubernetes-list-map-keys")),
        _ => ListKind::Atomic,
    }
}

fn patch_rules(schema: &Value) -> PatchRules {
    let strategies = text(schema, "x-kubernetes-patch-strategy").unwrap_or_default();
    PatchRules {
        strategies: strategies
            .split(',')
            .filter(|s| !s.is_empty())
            .map(str::to_owned)
            .collect(),
        merge_key: text(schema, "x-kubernetes-patch-merge-key").map(str::to_owned),
    }
}

/// Reads the rules of a node itself; those of its parts are in its children.
fn own_rules(schema: &Value) -> Rules {
    let number = |name: &str| schema.get(name).and_then(Value::as_number).cloned();
    let count = |name: &str| schema.get(name).and_then(Value::as_u64);
    let flag = |name: &str| {
        schema
            .get(name)
            .and_then(Value::as_bool)
            .unwrap_or_default()
    };
    let bound = |name: &str, exclusive: &str| {
        number(name).map(|limit| Bound {
            limit,
            exclusive: flag(exclusive),
        })
    };
    let range = |least: &str, most: &str| Range {
        least: count(least),
        most: count(most),
    };
    let several = |name: &str| -> Vec<Rules> {
        schema
            .get(name)
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .map(nested_rules)
            .collect()
    };
    Rules {
        required: strings(schema, "required"),
        allowed: schema
            .get("enum")
            .and_then(Value::as_array)
            .cloned()
            .unwrap_or_default(),
        format: text(schema, "format").map(str::to_owned),
        pattern: text(schema, "pattern").and_then(|source| Pattern::compile(source).ok()),
        minimum: bound("minimum", "exclusiveMinimum"),
        maximum: bound("maximum", "exclusiveMaximum"),
        multiple_of: number("multipleOf").and_then(|number| number.as_f64()),
        length: range("minLength", "maxLength"),
        items_count: range("minItems", "maxItems"),
        properties_count: range("minProperties", "maxProperties"),
        all_of: several("allOf"),
        any_of: several("anyOf"),
        one_of: several("oneOf"),
        not: schema.get("not").map(|not| Box::new(nested_rules(not))),
        ..Rules::default()
    }
}

/// Reads a schema inside `allOf` and its kin, which constrains values but declares nothing.
fn nested_rules(schema: &Value) -> Rules {
    Rules {
        kind: text(schema, "type").and_then(Type::parse),
        properties: children(schema, "properties")
            .map(|(name, property)| (name.clone(), nested_rules(property)))
            .collect(),
        additional: schema
            .get("additionalProperties")
            .filter(|additional| additional.is_object())
            .map(|additional| Box::new(nested_rules(additional))),
        items: schema
            .get("items")
            .map(|items| Box::new(nested_rules(items))),
        ..own_rules(schema)
    }
}
