//! One request on a resource, with everything a verb needs to answer it.

use std::sync::Arc;

use http::{HeaderMap, Method, StatusCode};
use jiff::Timestamp;
use serde_json::Value;

use super::accept::Accept;
use super::body::Payload;
use super::query::Query;
use super::request::ResourcePath;
use super::resource::Resource;
use super::view::{IncludeObject, View};
use crate::status::Status;
use crate::store::Key;

/// The action of a request on a resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verb {
    /// Read one object.
    Get,
    /// Read or watch many.
    List,
    /// Make one.
    Create,
    /// Replace one.
    Update,
    /// Change one.
    Patch,
    /// Delete one.
    Delete,
    /// Delete many.
    DeleteCollection,
}

/// A request on a resource.
#[derive(Debug)]
pub(crate) struct Call {
    /// The action.
    pub(crate) verb: Verb,
    /// The resource.
    pub(crate) resource: Arc<Resource>,
    /// The namespace, empty for none or all.
    pub(crate) namespace: String,
    /// The object's name, empty for the whole collection.
    pub(crate) name: String,
    /// The part of the object.
    pub(crate) subresource: Option<String>,
    /// The query parameters.
    pub(crate) query: Query,
    /// The headers.
    pub(crate) headers: HeaderMap,
    /// The form of the answer.
    pub(crate) accept: Accept,
    /// The body.
    pub(crate) payload: Payload,
    /// The time at which it arrived.
    pub(crate) now: Timestamp,
}

/// The answer to a call.
#[derive(Debug)]
pub(crate) struct Reply {
    /// The HTTP status.
    pub(crate) code: StatusCode,
    /// The object, in the form to show.
    pub(crate) body: Value,
    /// The warnings for the client.
    pub(crate) warnings: Vec<String>,
}

impl Reply {
    /// Answers 200.
    pub(crate) fn ok(body: Value) -> Self {
        Self {
            code: StatusCode::OK,
            body,
            warnings: Vec::new(),
        }
    }

    /// Answers 201.
    pub(crate) fn created(body: Value) -> Self {
        Self {
            code: StatusCode::CREATED,
            ..Self::ok(body)
        }
    }

    /// Adds warnings.
    pub(crate) fn warning(mut self, warnings: Vec<String>) -> Self {
        self.warnings.extend(warnings);
        self
    }
}

impl Call {
    /// Returns the key of the object that is named.
    pub(crate) fn key(&self) -> Key {
        self.resource.key(&self.namespace, &self.name)
    }

    /// Returns the namespace to list, or `None` for all of them.
    pub(crate) fn listed_namespace(&self) -> Option<&str> {
        Some(self.namespace.as_str()).filter(|namespace| !namespace.is_empty())
    }

    /// Returns how objects are shown in the answer.
    pub(crate) fn view(&self) -> View<'_> {
        View {
            resource: &self.resource,
            form: self.accept.form,
            include: IncludeObject::parse(self.query.get("includeObject")),
            now: self.now,
        }
    }

    /// Reports that the named object does not exist.
    pub(crate) fn not_found(&self) -> Status {
        Status::not_found(self.resource.subject(), &self.name)
    }
}

/// Finds the verb of a method on a path, and whether the resource's scope allows the path at all.
pub(crate) fn verb(
    method: &Method,
    path: &ResourcePath,
    resource: &Resource,
) -> Result<Verb, Status> {
    let named = path.name.is_some();
    if path.namespace.is_some() && !resource.namespaced {
        return Err(Status::no_such_resource());
    }
    let everywhere = resource.namespaced && path.namespace.is_none();
    if everywhere && named {
        return Err(Status::no_such_resource());
    }
    match (method.as_str(), named) {
        ("GET" | "HEAD", true) => Ok(Verb::Get),
        ("GET" | "HEAD", false) => Ok(Verb::List),
        ("POST", false) if !everywhere => Ok(Verb::Create),
        ("POST", true) if path.subresource.is_some() => Ok(Verb::Create),
        ("PUT", true) => Ok(Verb::Update),
        ("PATCH", true) => Ok(Verb::Patch),
        ("DELETE", true) => Ok(Verb::Delete),
        ("DELETE", false) => Ok(Verb::DeleteCollection),
        _ => Err(Status::method_not_allowed()),
    }
}

/// Prints a time as objects hold it.
pub(crate) fn rfc3339(time: Timestamp) -> String {
    time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}
