//! OpenAPI v3: an index, and one document for each group and version.
//!
//! `kubectl` looks there for two things: whether the server validates fields itself (the
//! `fieldValidation` parameter), and what objects look like.

use std::collections::BTreeMap;

use bytes::Bytes;
use http::{HeaderMap, Response, StatusCode};
use serde_json::{Map, Value, json};

use super::discovery::{fingerprint, tagged};
use super::registry::Kinds;
use super::resource::{Resource, group_version};
use super::respond::{self, ResponseBody};
use crate::builtin;
use crate::status::Status;

const REFERENCE_PREFIX: &str = "#/components/schemas/";

/// The documents of every group and version, by the path below `/openapi/v3`.
#[derive(Debug)]
pub(crate) struct Documents(BTreeMap<String, Document>);

#[derive(Debug)]
struct Document {
    body: Bytes,
    hash: String,
}

impl Documents {
    /// Writes the documents of `kinds`.
    pub(crate) fn write(kinds: &Kinds) -> Self {
        let versions = kinds.groups().into_iter().flat_map(|(group, versions)| {
            versions.into_iter().map(move |version| (group, version))
        });
        let documents = versions.map(|(group, version)| {
            let document = document(kinds, group, version);
            let body = serde_json::to_vec(&document).expect("JSON values have only string keys");
            let hash = fingerprint(&body);
            (
                path(group, version),
                Document {
                    body: body.into(),
                    hash,
                },
            )
        });
        Self(documents.collect())
    }

    /// Answers `/openapi/v3`.
    pub(crate) fn index(&self, headers: &HeaderMap) -> Response<ResponseBody> {
        let paths = self.0.iter().map(|(path, document)| {
            let url = format!("/openapi/v3/{path}?hash={}", document.hash);
            (path.clone(), json!({"serverRelativeURL": url}))
        });
        let body = json!({"paths": Value::Object(paths.collect())});
        tagged(
            headers,
            serde_json::to_vec(&body).expect("JSON values have only string keys"),
        )
    }

    /// Answers `/openapi/v3/PATH`.
    pub(crate) fn one(&self, path: &str) -> Result<Response<ResponseBody>, Status> {
        let document = self.0.get(path).ok_or_else(Status::no_such_resource)?;
        Ok(respond::bytes(
            StatusCode::OK,
            "application/json",
            document.body.clone(),
        ))
    }
}

/// Answers `/openapi/v2`: nothing is described there.
///
/// `kubectl` falls back to it for kinds that it does not find elsewhere, and takes a missing
/// document for a broken server; told that there is nothing, it says that the kind is unknown.
pub(crate) fn version_2(headers: &HeaderMap) -> Response<ResponseBody> {
    const PROTOBUF: &str = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf";
    let accept = headers
        .get(http::header::ACCEPT)
        .and_then(|accept| accept.to_str().ok());
    if accept.is_some_and(|accept| accept.contains("proto-openapi.spec.v2")) {
        // The empty message is a document without paths and definitions.
        return respond::bytes(StatusCode::OK, PROTOBUF, Bytes::new());
    }
    let body = json!({
        "swagger": "2.0",
        "info": {"title": "Pathline", "version": "1.36"},
        "paths": {},
        "definitions": {},
    });
    respond::json(StatusCode::OK, &body)
}

fn path(group: &str, version: &str) -> String {
    let root = if group.is_empty() { "api" } else { "apis" };
    format!("{root}/{}", group_version(group, version))
}

fn document(kinds: &Kinds, group: &str, version: &str) -> Value {
    let mut paths = Map::new();
    let mut schemas = Map::new();
    for resource in kinds.of_version(group, version) {
        let name = add_schema(resource, &mut schemas);
        add_paths(resource, &name, &mut paths);
    }
    json!({
        "openapi": "3.0.0",
        "info": {"title": "Pathline", "version": "1.36"},
        "paths": paths,
        "components": {"schemas": schemas},
    })
}

fn add_paths(resource: &Resource, schema: &str, paths: &mut Map<String, Value>) {
    let root = path(&resource.group, &resource.version);
    let space = if resource.namespaced {
        "namespaces/{namespace}/"
    } else {
        ""
    };
    let collection = format!("/{root}/{space}{}", resource.plural);
    let content = json!({"application/json": {"schema": reference(schema)}});
    let answer = json!({"200": {"description": "OK", "content": content}});
    let operation = |action: &str, with_body: bool| {
        let mut operation = json!({
            "x-kubernetes-action": action,
            "x-kubernetes-group-version-kind": kind(resource),
            "parameters": parameters(action),
            "responses": answer,
        });
        if with_body {
            operation["requestBody"] = json!({"content": content, "required": true});
        }
        operation
    };
    let one = json!({
        "get": operation("get", false),
        "put": operation("put", true),
        "patch": operation("patch", true),
        "delete": operation("delete", false),
    });
    let many = json!({"get": operation("list", false), "post": operation("post", true)});
    paths.insert(format!("{collection}/{{name}}"), one);
    paths.insert(collection, many);
}

fn parameters(action: &str) -> Value {
    let query = |name: &str, kind: &str| json!({"name": name, "in": "query", "schema": {"type": kind, "uniqueItems": true}});
    match action {
        "put" | "post" => json!([
            query("dryRun", "string"),
            query("fieldManager", "string"),
            query("fieldValidation", "string"),
        ]),
        "patch" => json!([
            query("dryRun", "string"),
            query("fieldManager", "string"),
            query("fieldValidation", "string"),
            query("force", "boolean"),
        ]),
        "delete" => json!([
            query("dryRun", "string"),
            query("gracePeriodSeconds", "integer"),
            query("propagationPolicy", "string"),
        ]),
        "list" => json!([
            query("labelSelector", "string"),
            query("fieldSelector", "string"),
            query("limit", "integer"),
            query("continue", "string"),
            query("watch", "boolean"),
        ]),
        _ => json!([]),
    }
}

fn kind(resource: &Resource) -> Value {
    json!({"group": resource.group, "version": resource.version, "kind": resource.kind})
}

fn reference(name: &str) -> Value {
    json!({"$ref": format!("{REFERENCE_PREFIX}{name}")})
}

/// Adds the schema of a resource, and those it refers to; returns its name.
fn add_schema(resource: &Resource, schemas: &mut Map<String, Value>) -> String {
    if let (false, Some(kind)) = (
        resource.is_custom(),
        builtin::find(&resource.group, &resource.plural),
    ) {
        add_definition(kind.definition, schemas);
        return kind.definition.to_owned();
    }
    let mut reversed: Vec<&str> = resource.group.split('.').rev().collect();
    reversed.extend([resource.version.as_str(), resource.kind.as_str()]);
    let name = reversed.join(".");
    let mut schema = resource.schema.openapi().clone();
    schema["x-kubernetes-group-version-kind"] = json!([kind(resource)]);
    let text = json!({"type": "string"});
    for field in ["apiVersion", "kind"] {
        schema["properties"][field] = text.clone();
    }
    const METADATA: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";
    schema["properties"]["metadata"] = reference(METADATA);
    add_definition(METADATA, schemas);
    schemas.insert(name.clone(), schema);
    name
}

/// Adds a built-in definition and everything it refers to.
fn add_definition(name: &str, schemas: &mut Map<String, Value>) {
    let Some(definition) = builtin::definitions().get(name) else {
        return;
    };
    if schemas.contains_key(name) {
        return;
    }
    let mut shown = definition.clone();
    let mut referred = Vec::new();
    lengthen_references(&mut shown, &mut referred);
    schemas.insert(name.to_owned(), shown);
    for name in referred {
        add_definition(&name, schemas);
    }
}

/// Turns the bare names in `$ref` into the paths that OpenAPI wants, and notes them.
fn lengthen_references(schema: &mut Value, referred: &mut Vec<String>) {
    match schema {
        Value::Object(fields) => {
            if let Some(Value::String(target)) = fields.get_mut("$ref") {
                referred.push(target.clone());
                *target = format!("{REFERENCE_PREFIX}{target}");
            }
            fields
                .values_mut()
                .for_each(|child| lengthen_references(child, referred));
        }
        Value::Array(items) => {
            items
                .iter_mut()
                .for_each(|child| lengthen_references(child, referred));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}
