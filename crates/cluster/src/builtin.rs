//! The kinds that the cluster knows without being told: names, schemas and columns.
//!
//! The schemas are those of a real API server, reduced to their structure by
//! `scripts/builtin-schemas`.

mod cells;
mod columns;
mod event;
mod since;
mod table;

use std::collections::HashMap;
use std::sync::LazyLock;

use serde_json::{Map, Value};

pub(crate) use columns::Column;
pub(crate) use event::{core_event, new_event};
pub(crate) use since::human_duration;
pub(crate) use table::kinds;

use crate::schema::{self, Schema};

/// One built-in kind, as discovery shows it.
#[derive(Debug)]
pub(crate) struct BuiltinKind {
    /// The API group, empty for the core one.
    pub(crate) group: &'static str,
    /// The one version served and stored.
    pub(crate) version: &'static str,
    /// The kind's name, such as `Deployment`.
    pub(crate) kind: &'static str,
    /// The name in URLs, such as `deployments`.
    pub(crate) plural: &'static str,
    /// The name of one, such as `deployment`.
    pub(crate) singular: &'static str,
    /// The other names that kubectl accepts, such as `deploy`.
    pub(crate) short_names: &'static [&'static str],
    /// Groups of kinds such as `all`.
    pub(crate) categories: &'static [&'static str],
    /// Whether objects live in namespaces.
    pub(crate) namespaced: bool,
    /// Whether there is a `status` subresource.
    pub(crate) has_status: bool,
    /// Whether there is a `scale` subresource (over `spec.replicas` and `status.replicas`).
    pub(crate) has_scale: bool,
    /// Whether a change of `spec` counts up `metadata.generation`.
    pub(crate) has_generation: bool,
    /// The columns that `kubectl get` shows, the name first.
    pub(crate) columns: &'static [Column],
    /// The name of the definition in [`definitions`].
    pub(crate) definition: &'static str,
}

impl BuiltinKind {
    /// Returns the kind's schema; compiled once, on first use of any built-in kind.
    pub(crate) fn schema(&self) -> &'static Schema {
        static SCHEMAS: LazyLock<HashMap<&'static str, Schema>> = LazyLock::new(|| {
            let names: Vec<&'static str> = kinds().iter().map(|kind| kind.definition).collect();
            let compiled = schema::compile_definitions(definitions(), &names);
            names.into_iter().zip(compiled).collect()
        });
        &SCHEMAS[self.definition]
    }
}

/// Finds a kind by its group and its name in URLs.
pub(crate) fn find(group: &str, plural: &str) -> Option<&'static BuiltinKind> {
    kinds()
        .iter()
        .find(|kind| kind.group == group && kind.plural == plural)
}

/// Returns the OpenAPI definitions of the built-in kinds, by name.
///
/// A `$ref` holds the bare name of another definition, without a path before it.
pub(crate) fn definitions() -> &'static Map<String, Value> {
    static DEFINITIONS: LazyLock<Map<String, Value>> = LazyLock::new(|| {
        serde_json::from_str(include_str!("builtin/schemas.json"))
            .expect("scripts/builtin-schemas writes an object")
    });
    &DEFINITIONS
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_kind_has_a_definition_and_a_name_column() {
        for kind in kinds() {
            let gvk = json!([{"group": kind.group, "kind": kind.kind, "version": kind.version}]);
            let definition = &definitions()[kind.definition];
            assert_eq!(
                definition["x-kubernetes-group-version-kind"], gvk,
                "{}",
                kind.kind
            );
            assert!(
                kind.columns.iter().any(|column| column.name == "Name"),
                "{}",
                kind.kind
            );
            assert!(
                kind.schema().root().property("metadata").is_some(),
                "{}",
                kind.kind
            );
        }
    }

    #[test]
    fn every_reference_leads_to_a_definition() {
        fn check(schema: &Value) {
            if let Some(target) = schema.get("$ref").and_then(Value::as_str) {
                assert!(definitions().contains_key(target), "{target} is missing");
            }
            schema
                .as_object()
                .into_iter()
                .flatten()
                .for_each(|(_, child)| check(child));
        }
        definitions().values().for_each(check);
    }
}
