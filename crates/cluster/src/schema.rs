//! Structural schemas: what a kind's objects may look like.
//!
//! A [`Schema`] fills in defaults, drops unknown fields, validates, and tells the other modules how
//! lists and maps merge. Custom resources bring theirs in OpenAPI form; the built-in kinds' come
//! from a real API server (see [`crate::builtin`]).

mod compile;
mod default_check;
mod defaults;
mod error;
mod format;
mod lists;
mod node;
mod pattern;
mod prune;
pub(crate) mod strict;
mod structural;
mod validate;

use std::sync::Arc;

use serde_json::Value;

pub(crate) use compile::definitions as compile_definitions;
pub(crate) use error::{ErrorKind, FieldError};
pub(crate) use node::{ListKind, Shape, Type, View};
use node::{Node, NodeId};

use crate::store::MAX_OBJECT_BYTES;

/// The compiled schema of one kind.
#[derive(Debug, Clone)]
pub(crate) struct Schema {
    nodes: Arc<[Node]>,
    root: NodeId,
    openapi: Arc<Value>,
}

impl Schema {
    /// Compiles a custom resource's `openAPIV3Schema`.
    ///
    /// Returns every rule of structural schemas that it breaks, with paths below `path` (such as
    /// `spec.versions[0].schema.openAPIV3Schema`). `apiVersion`, `kind` and `metadata` are always
    /// those of Kubernetes.
    pub(crate) fn compile(openapi: &Value, path: &str) -> Result<Self, Vec<FieldError>> {
        let errors = structural::check(openapi, path);
        if !errors.is_empty() {
            return Err(errors);
        }
        let schema = compile::custom(openapi);
        let errors = default_check::check(schema.root(), openapi, path);
        if errors.is_empty() {
            Ok(schema)
        } else {
            Err(errors)
        }
    }

    /// Returns the OpenAPI form this was compiled from.
    pub(crate) fn openapi(&self) -> &Value {
        &self.openapi
    }

    /// Returns the schema of the whole object, to walk down from.
    pub(crate) fn root(&self) -> View<'_> {
        View::new(&self.nodes, self.root)
    }
}

/// Checking and completing objects
impl Schema {
    /// Fills in defaults, inside lists and maps too, and settles nulls.
    ///
    /// A null in a field that is not nullable gives way to the field's default, or is dropped.
    /// Filling twice changes nothing more.
    pub(crate) fn fill_defaults(&self, object: &mut Value) {
        let mut budget = defaults::Budget::new(MAX_OBJECT_BYTES);
        defaults::fill(self.root(), object, &mut budget);
    }

    /// Drops the fields that the schema does not know and returns their paths, sorted.
    ///
    /// The paths are those of Kubernetes' strict validation: `spec.containers[0].imge`.
    pub(crate) fn prune(&self, object: &mut Value) -> Vec<String> {
        prune::prune(self.root(), object)
    }

    /// Returns everything about the object that the schema forbids.
    pub(crate) fn validate(&self, object: &Value) -> Vec<FieldError> {
        validate::validate(self.root(), object)
    }
}

#[cfg(test)]
mod tests;
