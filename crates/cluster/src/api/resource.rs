//! One served kind of object: its names, its schema, and how it differs from the others.

use std::borrow::Cow;

use pathline_jsonpath::JsonPath;
use serde_json::Value;

use super::columns::Column;
use super::rules::Rules;
use crate::builtin;
use crate::schema::Schema;
use crate::status::Subject;
use crate::store::{Collection, Key, Stored};

/// A resource in one version of its group, as `widgets` of `example.com/v1`.
#[derive(Debug)]
pub(crate) struct Resource {
    /// The API group, empty for the core group.
    pub(crate) group: String,
    /// The version.
    pub(crate) version: String,
    /// The kind of its objects.
    pub(crate) kind: String,
    /// The kind of its lists.
    pub(crate) list_kind: String,
    /// The plural name, which paths use.
    pub(crate) plural: String,
    /// The singular name.
    pub(crate) singular: String,
    /// The short names, for people.
    pub(crate) short_names: Vec<String>,
    /// The categories, such as `all`.
    pub(crate) categories: Vec<String>,
    /// Whether its objects live in namespaces.
    pub(crate) namespaced: bool,
    /// The collection in which its objects are stored.
    pub(crate) collection: Collection,
    /// The schema of its objects.
    pub(crate) schema: Schema,
    /// Whether `status` is written through a subresource of its own.
    pub(crate) has_status: bool,
    /// Whether `metadata.generation` counts the changes of what is wanted.
    pub(crate) has_generation: bool,
    /// The paths of the number of replicas, if it can be scaled.
    pub(crate) scale: Option<Scale>,
    /// The columns of its table.
    pub(crate) columns: Vec<Column>,
    /// The fields that field selectors may use, beside the name and namespace.
    pub(crate) selectable: Vec<Selectable>,
    /// The differences from the plainest kind.
    pub(crate) rules: Rules,
    /// The origin of the resource.
    pub(crate) origin: Origin,
}

/// The origin of a resource.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Origin {
    /// It is part of the server.
    BuiltIn,
    /// A CustomResourceDefinition made it.
    Custom {
        /// The revision of that definition; older objects may lack its defaults.
        revision: u64,
        /// Whether the definition is being deleted, so that no object may be created.
        terminating: bool,
    },
}

/// The fields that the `scale` subresource of a kind reads and writes, as dotted paths.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Scale {
    /// The wanted number of replicas.
    pub(crate) spec_replicas: Vec<String>,
    /// The actual number of replicas.
    pub(crate) status_replicas: Vec<String>,
    /// The selector of the replicas, as text or as a label selector.
    pub(crate) selector: Option<Vec<String>>,
}

/// A field that field selectors may use.
#[derive(Debug, Clone)]
pub(crate) struct Selectable {
    /// The field as selectors name it: `spec.nodeName`.
    pub(crate) label: String,
    /// The path of its value in the object.
    pub(crate) path: JsonPath,
}

impl Resource {
    /// Returns `group/version`, or `v1` for the core group.
    pub(crate) fn api_version(&self) -> String {
        group_version(&self.group, &self.version)
    }

    /// Names the resource in messages: `widgets.example.com`.
    pub(crate) fn subject(&self) -> Subject<'_> {
        Subject {
            group: &self.group,
            resource: &self.plural,
        }
    }

    /// Names the kind in messages: `Widget.example.com`.
    pub(crate) fn kind_subject(&self) -> Subject<'_> {
        Subject {
            group: &self.group,
            resource: &self.kind,
        }
    }

    /// Returns the key of an object; `namespace` is ignored if the kind has none.
    pub(crate) fn key(&self, namespace: &str, name: &str) -> Key {
        Key::new(
            &self.collection,
            if self.namespaced { namespace } else { "" },
            name,
        )
    }

    /// Returns whether a CustomResourceDefinition made this resource.
    pub(crate) fn is_custom(&self) -> bool {
        matches!(self.origin, Origin::Custom { .. })
    }

    /// Returns whether this is `kind` of the server's own `group`.
    pub(crate) fn is_built_in(&self, group: &str, kind: &str) -> bool {
        !self.is_custom() && self.group == group && self.kind == kind
    }

    /// Returns the stored object as this version shows it.
    ///
    /// Objects that are older than their definition get the defaults that it has added since, and
    /// lose the fields that it has dropped, as a real server does when it decodes them.
    pub(crate) fn present<'a>(&self, stored: &'a Stored) -> Cow<'a, Value> {
        match self.origin {
            Origin::BuiltIn if self.rules.is_converted_event => {
                Cow::Owned(builtin::new_event(stored.object().clone()))
            }
            Origin::BuiltIn => Cow::Borrowed(stored.object()),
            Origin::Custom { revision, .. } => {
                let api_version = self.api_version();
                let current = stored.object()["apiVersion"] == api_version.as_str();
                if current && stored.revision > revision {
                    return Cow::Borrowed(stored.object());
                }
                let mut object = stored.object().clone();
                object["apiVersion"] = api_version.into();
                self.schema.prune(&mut object);
                self.schema.fill_defaults(&mut object);
                Cow::Owned(object)
            }
        }
    }

    /// Returns an object of this version as it is stored.
    pub(crate) fn to_stored(&self, object: Value) -> Value {
        if self.rules.is_converted_event {
            builtin::core_event(object)
        } else {
            object
        }
    }
}

/// Returns `group/version`, or the version alone for the core group.
pub(crate) fn group_version(group: &str, version: &str) -> String {
    if group.is_empty() {
        version.to_owned()
    } else {
        format!("{group}/{version}")
    }
}
