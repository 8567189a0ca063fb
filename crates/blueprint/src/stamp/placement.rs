//! The metadata that every stamped object gets besides what its template says.

use pathline_kinds::carto::Lifecycle;
use serde_json::{Map, Value, json};

use super::{APPLIED_ANNOTATION, Error, TEMPLATE_ANNOTATION};
use crate::output;
use crate::runs;
use crate::yaml;

/// The namespace of a rendered object, its owner, and how it gets its name.
pub(crate) struct Placement<'a> {
    pub(crate) namespace: &'a str,
    pub(crate) labels: Map<String, Value>,
    /// The template it is made from, as `KIND/NAME`.
    pub(crate) template: String,
    /// The one owner reference it carries.
    pub(crate) owner: Value,
    pub(crate) lifecycle: Lifecycle,
}

impl Placement<'_> {
    /// Places, labels and owns an object, and writes on it what it was made from.
    ///
    /// A run gets its name here: one rendering has one name, so that a run cannot be created twice.
    pub(crate) fn finish(self, mut object: Value) -> Result<Value, Error> {
        check_text(&object, "/apiVersion", "apiVersion")?;
        check_text(&object, "/kind", "kind")?;
        let is_run = self.lifecycle != Lifecycle::Mutable;
        if !is_run {
            check_text(&object, "/metadata/name", "metadata.name")?;
        }
        let metadata = section(&mut object, "metadata", "metadata")?;
        let prefix = is_run.then(|| run_prefix(metadata)).transpose()?;
        place(metadata, self.namespace)?;
        let labels = metadata.entry("labels").or_insert_with(|| json!({}));
        let labels = labels.as_object_mut().ok_or(Error::Malformed {
            field: "metadata.labels",
            wanted: "a map",
        })?;
        labels.extend(self.labels);
        metadata.insert("ownerReferences".to_owned(), json!([self.owner]));
        annotate(metadata, TEMPLATE_ANNOTATION, self.template)?;
        let digest = output::digest(&yaml::document(&object));
        let metadata = section(&mut object, "metadata", "metadata")?;
        if let Some(prefix) = prefix {
            let name = runs::name(&prefix, &digest);
            metadata.insert("name".to_owned(), Value::String(name));
        }
        annotate(metadata, APPLIED_ANNOTATION, digest)?;
        Ok(object)
    }
}

/// Puts the object into the namespace of its owner.
fn place(metadata: &mut Map<String, Value>, namespace: &str) -> Result<(), Error> {
    let written = metadata.get("namespace").and_then(Value::as_str);
    if written.is_some_and(|written| !written.is_empty() && written != namespace) {
        return Err(Error::Namespace);
    }
    metadata.insert("namespace".to_owned(), json!(namespace));
    Ok(())
}

/// Returns what the name of a run starts with; a template that gives a whole name gives a prefix.
fn run_prefix(metadata: &Map<String, Value>) -> Result<String, Error> {
    let text = |field: &str| {
        let text = metadata.get(field).and_then(Value::as_str);
        text.filter(|text| !text.is_empty())
    };
    let prefix = text("generateName").map(str::to_owned);
    let prefix = prefix.or_else(|| text("name").map(|name| format!("{name}-")));
    prefix.ok_or(Error::Malformed {
        field: "metadata.generateName",
        wanted: "a text",
    })
}

fn check_text(object: &Value, pointer: &str, field: &'static str) -> Result<(), Error> {
    let text = object.pointer(pointer).and_then(Value::as_str);
    match text.filter(|text| !text.is_empty()) {
        Some(_) => Ok(()),
        None => Err(Error::Malformed {
            field,
            wanted: "a text",
        }),
    }
}

fn section<'o>(
    object: &'o mut Value,
    key: &str,
    field: &'static str,
) -> Result<&'o mut Map<String, Value>, Error> {
    let section = object.get_mut(key).and_then(Value::as_object_mut);
    section.ok_or(Error::Malformed {
        field,
        wanted: "a map",
    })
}

fn annotate(metadata: &mut Map<String, Value>, key: &str, value: String) -> Result<(), Error> {
    let annotations = metadata.entry("annotations").or_insert_with(|| json!({}));
    let annotations = annotations.as_object_mut().ok_or(Error::Malformed {
        field: "metadata.annotations",
        wanted: "a map",
    })?;
    annotations.insert(key.to_owned(), Value::String(value));
    Ok(())
}
