//! The fields that an owner can have, and their types.
//!
//! The types are those of the owner's definition. A definition says nothing about metadata, which is
//! the same for every kind: its fields are listed here.

use std::sync::LazyLock;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{
    CustomResourceDefinition, JSONSchemaProps, JSONSchemaPropsOrArray, JSONSchemaPropsOrBool,
};
use pathline_kinds::carto::{self, API_VERSION};
use pathline_kinds::names;
use serde_json::{Map, Value, json};

use crate::owner::OwnerKind;

/// The type of what a field of an owner can hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Type {
    /// An object, with fields of its own.
    Object,
    /// A list.
    List,
    /// A text.
    Text,
    /// A whole number.
    Number,
    /// A flag.
    Flag,
    /// A number or a text.
    NumberOrText,
    /// Whatever one likes.
    Anything,
}

impl Type {
    /// Says whether a text can stand there, which is all that `In` can find.
    pub(super) fn allows_text(self) -> bool {
        matches!(self, Self::Text | Self::NumberOrText | Self::Anything)
    }

    /// Returns the simplest value that is there and is none of the texts anybody asks for.
    pub(super) fn sample(self, text: &str) -> Value {
        match self {
            Self::Object => json!({}),
            Self::List => json!([]),
            Self::Text | Self::Anything => json!(text),
            Self::Number | Self::NumberOrText => json!(1),
            Self::Flag => json!(true),
        }
    }
}

/// The definition of a kind of owners.
#[derive(Debug, Clone, Copy)]
pub(super) struct Schema {
    kind: OwnerKind,
    root: &'static JSONSchemaProps,
}

static ROOTS: LazyLock<[JSONSchemaProps; 2]> = LazyLock::new(|| {
    let definitions = carto::crds();
    OwnerKind::ALL.map(|kind| root(kind, &definitions))
});

impl Schema {
    /// Returns the definition of a kind.
    pub(super) fn of(kind: OwnerKind) -> Self {
        let place = OwnerKind::ALL.iter().position(|other| *other == kind);
        Self {
            kind,
            root: &ROOTS[place.expect("ALL has every kind")],
        }
    }

    /// Returns the type of a field, or `None` if no owner can have it.
    pub(super) fn type_of(self, path: &[String]) -> Option<Type> {
        let schema = self.find(path)?;
        let is_possible = match path {
            [metadata, labels, key] if metadata == "metadata" && labels == "labels" => {
                names::label_key(key).is_empty()
            }
            _ => true,
        };
        is_possible.then(|| type_of(schema))
    }

    /// Says whether every owner has the field.
    pub(super) fn is_always_there(self, path: &[String]) -> bool {
        let path: Vec<&str> = path.iter().map(String::as_str).collect();
        matches!(
            path[..],
            ["apiVersion" | "kind" | "metadata" | "spec"] | ["metadata", "name"]
        )
    }

    /// Says whether the field can hold this text.
    pub(super) fn allows(self, path: &[String], text: &str) -> bool {
        let path: Vec<&str> = path.iter().map(String::as_str).collect();
        match path[..] {
            ["metadata", "name"] => names::dns_subdomain(text).is_empty(),
            ["metadata", "labels", _] => names::label_value(text).is_empty(),
            ["spec", "resources", "limits" | "requests", _] => is_quantity(text),
            _ => true,
        }
    }

    /// Returns the one text that the field holds in every owner, if it is such a field.
    pub(super) fn fixed(self, path: &[String]) -> Option<&'static str> {
        match path {
            [field] if field == "apiVersion" => Some(API_VERSION),
            [field] if field == "kind" => Some(self.kind.name()),
            _ => None,
        }
    }

    /// Returns an item that the list at this path can hold, with what such an item must have.
    pub(super) fn item(self, path: &[String]) -> Value {
        let items = self.find(path).and_then(|schema| schema.items.as_ref());
        match items {
            Some(JSONSchemaPropsOrArray::Schema(items)) => required(items),
            _ => json!({}),
        }
    }

    fn find(self, path: &[String]) -> Option<&'static JSONSchemaProps> {
        path.iter()
            .try_fold(self.root, |schema, name| field(schema, name))
    }
}

fn root(kind: OwnerKind, definitions: &[CustomResourceDefinition]) -> JSONSchemaProps {
    let definitions = definitions.iter();
    let mut schema = definitions
        .filter(|definition| definition.spec.names.kind == kind.name())
        .flat_map(|definition| &definition.spec.versions)
        .find_map(|version| version.schema.as_ref()?.open_api_v3_schema.clone())
        .expect("every owner has a definition with a schema");
    let properties = schema.properties.get_or_insert_default();
    properties.insert("metadata".to_owned(), metadata());
    schema
}

/// Returns the schema of `metadata`, which the definition of a kind leaves out. Who manages which
/// field is never read by a rule.
fn metadata() -> JSONSchemaProps {
    let texts = json!({"type": "object", "additionalProperties": {"type": "string"}});
    let text = json!({"type": "string"});
    let number = json!({"type": "integer"});
    let list = json!({"type": "array"});
    let schema = json!({"type": "object", "properties": {
        "name": text, "generateName": text, "namespace": text, "uid": text, "resourceVersion": text,
        "selfLink": text, "creationTimestamp": text, "deletionTimestamp": text,
        "generation": number, "deletionGracePeriodSeconds": number,
        "labels": texts, "annotations": texts,
        "ownerReferences": list, "finalizers": list,
    }});
    serde_json::from_value(schema).expect("this is a schema")
}

fn field<'s>(schema: &'s JSONSchemaProps, name: &str) -> Option<&'s JSONSchemaProps> {
    let properties = schema.properties.as_ref();
    let known = properties.and_then(|properties| properties.get(name));
    let values = match &schema.additional_properties {
        Some(JSONSchemaPropsOrBool::Schema(values)) => Some(&**values),
        _ => None,
    };
    known.or(values)
}

fn type_of(schema: &JSONSchemaProps) -> Type {
    match schema.type_.as_deref() {
        _ if schema.x_kubernetes_int_or_string == Some(true) => Type::NumberOrText,
        Some("object") => Type::Object,
        Some("array") => Type::List,
        Some("string") => Type::Text,
        Some("integer" | "number") => Type::Number,
        Some("boolean") => Type::Flag,
        _ => Type::Anything,
    }
}

/// Returns the smallest value of a schema. Definitions nest a few levels only.
fn required(schema: &JSONSchemaProps) -> Value {
    let names = schema.required.iter().flatten();
    let fields = names.filter_map(|name| Some((name.clone(), required(field(schema, name)?))));
    match type_of(schema) {
        Type::Object => Value::Object(fields.collect::<Map<_, _>>()),
        other => other.sample("any"),
    }
}

/// Says whether a text is a quantity, such as `500m` or `1.5Gi`.
fn is_quantity(text: &str) -> bool {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    let end = digits
        .find(|c: char| c != '.' && !c.is_ascii_digit())
        .unwrap_or(digits.len());
    let (number, suffix) = digits.split_at(end);
    let fraction = number.split_once('.').map_or("", |(_, fraction)| fraction);
    let is_number = number != "." && !number.is_empty() && !fraction.contains('.');
    let is_exponent = |text: &str| {
        let number = text.strip_prefix(['e', 'E']);
        number.is_some_and(|number| {
            !number.is_empty() && is_quantity(number) && !number.ends_with('.')
        })
    };
    let units = [
        "", "n", "u", "m", "k", "M", "G", "T", "P", "E", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei",
    ];
    is_number && (units.contains(&suffix) || is_exponent(suffix))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(key: &str) -> Vec<String> {
        key.split('.').map(str::to_owned).collect()
    }

    #[test]
    fn fields_have_the_types_of_the_definition() {
        let workload = Schema::of(OwnerKind::Workload);
        for (key, expected) in [
            ("spec", Some(Type::Object)),
            ("spec.source.git.ref.branch", Some(Type::Text)),
            ("spec.source.git.ref.branch.deeper", None),
            ("spec.params", Some(Type::List)),
            ("spec.params.name", None),
            ("spec.resources.limits", Some(Type::Object)),
            ("spec.resources.limits.cpu", Some(Type::NumberOrText)),
            ("spec.nothing", None),
            ("status.observedGeneration", Some(Type::Number)),
            ("status.supplyChainRef.name", Some(Type::Text)),
            ("metadata.labels.any", Some(Type::Text)),
            ("metadata.managedFields", None),
            ("kind", Some(Type::Text)),
            ("", None),
        ] {
            assert_eq!(workload.type_of(&path(key)), expected, "{key}");
        }
        let deliverable = Schema::of(OwnerKind::Deliverable);
        assert_eq!(deliverable.type_of(&path("spec.image")), None);
        assert_eq!(
            deliverable.type_of(&path("spec.source.image")),
            Some(Type::Text)
        );
    }

    #[test]
    fn no_object_outside_of_lists_is_open_or_has_fields_it_must_have() {
        for kind in OwnerKind::ALL {
            let root = Schema::of(kind).root;
            let mut ahead: Vec<&JSONSchemaProps> = root
                .properties
                .iter()
                .flat_map(|all| all.values())
                .collect();
            while let Some(schema) = ahead.pop() {
                assert_eq!(
                    schema.required.as_deref().unwrap_or_default(),
                    [] as [String; 0]
                );
                assert_eq!(schema.x_kubernetes_preserve_unknown_fields, None);
                ahead.extend(schema.properties.iter().flat_map(|all| all.values()));
            }
        }
    }

    #[test]
    fn items_have_what_they_must_have() {
        let workload = Schema::of(OwnerKind::Workload);
        assert_eq!(
            workload.item(&path("spec.params")),
            json!({"name": "any", "value": "any"})
        );
        assert_eq!(workload.item(&path("spec.env")), json!({"name": "any"}));
    }

    #[test]
    fn what_a_server_refuses_is_no_value() {
        let workload = Schema::of(OwnerKind::Workload);
        let allows = |key: &str, text: &str| workload.allows(&path(key), text);
        assert!(allows("metadata.labels.a", "") && allows("metadata.labels.a", "A.b-c_1"));
        assert!(
            !allows("metadata.labels.a", "a b") && !allows("metadata.labels.a", &"a".repeat(64))
        );
        assert!(allows("metadata.name", "a.b-1") && !allows("metadata.name", "A"));
        assert_eq!(workload.fixed(&path("kind")), Some("Workload"));
        for text in ["1", "500m", "1.5Gi", ".5", "5.", "-1", "1e3", "1E-3", "+2k"] {
            assert!(allows("spec.resources.limits.cpu", text), "{text}");
        }
        for text in ["", "m", ".", "1.2.3", "1 Gi", "1e", "1ki", "x1"] {
            assert!(!allows("spec.resources.limits.cpu", text), "{text}");
        }
        let is_label = |key: &str| {
            let path = ["metadata", "labels", key].map(str::to_owned);
            workload.type_of(&path).is_some()
        };
        assert!(is_label("app.kubernetes.io/name") && is_label("a"));
        assert!(!is_label("") && !is_label("a/b/c") && !is_label("-a"));
    }
}
