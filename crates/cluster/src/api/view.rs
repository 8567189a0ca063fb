//! Objects and lists in the form a client asked for: themselves, a table, or their metadata.

use std::borrow::Cow;

use jiff::Timestamp;
use serde_json::{Map, Value, json};

use super::accept::Form;
use super::resource::Resource;

/// The amount of an object that goes with its row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum IncludeObject {
    /// Nothing.
    None,
    /// Its metadata.
    Metadata,
    /// All of it.
    Object,
}

/// The form of an answer about one resource.
#[derive(Debug, Clone, Copy)]
pub(crate) struct View<'a> {
    /// The resource.
    pub(crate) resource: &'a Resource,
    /// The form.
    pub(crate) form: Form,
    /// The amount of each object that goes with the rows of a table.
    pub(crate) include: IncludeObject,
    /// The time of the answer, from which ages are counted.
    pub(crate) now: Timestamp,
}

impl IncludeObject {
    /// Reads the query parameter `includeObject`.
    pub(crate) fn parse(text: Option<&str>) -> Self {
        match text {
            Some("None") => Self::None,
            Some("Object") => Self::Object,
            _ => Self::Metadata,
        }
    }
}

impl View<'_> {
    /// Shows one object.
    pub(crate) fn object(self, object: Cow<'_, Value>) -> Value {
        match self.form {
            Form::Object => object.into_owned(),
            Form::Metadata => metadata_of(&object),
            Form::Table => {
                let version = object["metadata"]["resourceVersion"].clone();
                self.table(&[object], &json!({"resourceVersion": version}), true)
            }
        }
    }

    /// Shows one object of a watch; only the first row of a watched table has headers.
    pub(crate) fn event(self, object: Cow<'_, Value>, first: bool) -> Value {
        match self.form {
            Form::Object | Form::Metadata => self.object(object),
            Form::Table => {
                let version = object["metadata"]["resourceVersion"].clone();
                self.table(&[object], &json!({"resourceVersion": version}), first)
            }
        }
    }

    /// Shows a list.
    pub(crate) fn list(self, items: &[Cow<'_, Value>], metadata: &Value) -> Value {
        match self.form {
            Form::Table => self.table(items, metadata, true),
            Form::Metadata => {
                let items: Vec<Value> = items.iter().map(|item| metadata_of(item)).collect();
                json!({
                    "kind": "PartialObjectMetadataList",
                    "apiVersion": "meta.k8s.io/v1",
                    "metadata": metadata,
                    "items": items,
                })
            }
            Form::Object => json!({
                "kind": self.resource.list_kind,
                "apiVersion": self.resource.api_version(),
                "metadata": metadata,
                "items": items.iter().map(|item| self.item(item)).collect::<Vec<Value>>(),
            }),
        }
    }

    /// Items of built-in lists do not repeat the kind that the list already tells.
    fn item(self, object: &Value) -> Value {
        match object {
            Value::Object(fields) if !self.resource.is_custom() => {
                let told = |key: &str| matches!(key, "kind" | "apiVersion");
                let fields = fields.iter().filter(|(key, _)| !told(key));
                Value::Object(
                    fields
                        .map(|(key, value)| (key.clone(), value.clone()))
                        .collect(),
                )
            }
            other => other.clone(),
        }
    }

    fn table(self, items: &[Cow<'_, Value>], metadata: &Value, headers: bool) -> Value {
        let definitions: Vec<Value> = self
            .resource
            .columns
            .iter()
            .map(|column| column.definition())
            .collect();
        let rows: Vec<Value> = items.iter().map(|item| self.row(item)).collect();
        json!({
            "kind": "Table",
            "apiVersion": "meta.k8s.io/v1",
            "metadata": metadata,
            "columnDefinitions": if headers { definitions.into() } else { Value::Null },
            "rows": rows,
        })
    }

    fn row(self, object: &Value) -> Value {
        let cells: Vec<Value> = self
            .resource
            .columns
            .iter()
            .map(|column| column.cell(object, self.now))
            .collect();
        let included = match self.include {
            IncludeObject::None => Value::Null,
            IncludeObject::Metadata => metadata_of(object),
            IncludeObject::Object => object.clone(),
        };
        json!({"cells": cells, "object": included})
    }
}

fn metadata_of(object: &Value) -> Value {
    let metadata = object
        .get("metadata")
        .cloned()
        .unwrap_or(Value::Object(Map::new()));
    json!({
        "kind": "PartialObjectMetadata",
        "apiVersion": "meta.k8s.io/v1",
        "metadata": metadata,
    })
}
