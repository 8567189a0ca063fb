//! Does an object have the fields and types of its kind?
//!
//! An API server asks that before anything else. Here it is asked of files, by the same schemas, so
//! that the answer names a place; a field that the server would drop without a word is found as well.

use std::fmt;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{
    JSON, JSONSchemaProps, JSONSchemaPropsOrArray, JSONSchemaPropsOrBool,
};
use pathline_jsonpath::FieldPath;
use serde_json::Value;

use pathline_kinds::carto;

/// One value that does not fit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Misfit {
    /// The path of the value, or the one at which it is missing.
    pub path: FieldPath,
    /// The way in which it does not fit.
    pub kind: MisfitKind,
}

/// The way in which a value does not fit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MisfitKind {
    /// It is of another type.
    Type {
        /// The type it should have.
        wanted: String,
        /// The type it has.
        found: &'static str,
    },
    /// A field that has to be there is not.
    Missing(String),
    /// It is none of the values it may have.
    Choice {
        /// The values it may have.
        wanted: Vec<String>,
        /// The value it has.
        found: String,
    },
    /// It is shorter than it may be.
    TooShort(i64),
    /// There is no such field; a cluster drops it.
    UnknownField(String),
}

impl Misfit {
    /// Returns whether a cluster would accept the object and drop this part.
    pub fn is_unknown_field(&self) -> bool {
        matches!(self.kind, MisfitKind::UnknownField(_))
    }
}

impl fmt::Display for Misfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = &self.path;
        match &self.kind {
            MisfitKind::Type { wanted, found } => {
                write!(f, "{path} is {found}, it has to be {wanted}")
            }
            MisfitKind::Missing(name) => write!(f, "{} is missing", path.field(name.as_str())),
            MisfitKind::Choice { wanted, found } => {
                write!(
                    f,
                    "{path} is `{found}`, it has to be one of {}",
                    wanted.join(", ")
                )
            }
            MisfitKind::TooShort(0 | 1) => write!(f, "{path} is empty"),
            MisfitKind::TooShort(least) => write!(f, "{path} needs at least {least} items"),
            MisfitKind::UnknownField(name) => {
                write!(f, "there is no field `{name}` here; a cluster drops it")
            }
        }
    }
}

/// Returns every value that does not have the shape of its kind, or nothing if the kind is none of ours.
pub fn misfits(object: &Value) -> Option<Vec<Misfit>> {
    let version = object.get("apiVersion");
    let is_ours = version.is_none_or(|version| version == carto::API_VERSION);
    let kind = object.get("kind")?.as_str().filter(|_| is_ours)?;
    let crds = carto::crds().into_iter();
    let crd = crds.into_iter().find(|crd| crd.spec.names.kind == kind)?;
    let version = crd.spec.versions.into_iter().next()?;
    let schema = version.schema?.open_api_v3_schema?;
    let mut misfits = Vec::new();
    check_value(&schema, object, &FieldPath::default(), &mut misfits);
    check_labels(object, &mut misfits);
    Some(misfits)
}

/// Labels and annotations have the types of all objects, which no schema of a kind repeats.
fn check_labels(object: &Value, misfits: &mut Vec<Misfit>) {
    for name in ["labels", "annotations"] {
        let path = FieldPath::default().field("metadata").field(name);
        let texts = object.pointer(&format!("/metadata/{name}"));
        for (name, text) in texts.and_then(Value::as_object).into_iter().flatten() {
            check_type("string", text, &path.field(name.as_str()), misfits);
        }
    }
    if let Some(name) = object.pointer("/metadata/name") {
        let path = FieldPath::default().field("metadata").field("name");
        check_type("string", name, &path, misfits);
    }
}

fn check_value(
    schema: &JSONSchemaProps,
    value: &Value,
    path: &FieldPath,
    misfits: &mut Vec<Misfit>,
) {
    // A null is no value; who wrote it meant that there is none.
    if value.is_null() {
        return;
    }
    if let Some(wanted) = &schema.type_
        && !check_type(wanted, value, path, misfits)
    {
        return;
    }
    check_choice(schema, value, path, misfits);
    check_length(schema, value, path, misfits);
    match value {
        Value::Object(fields) => {
            check_required(schema, value, path, misfits);
            for (name, value) in fields {
                check_field(schema, name, value, path, misfits);
            }
        }
        Value::Array(items) => {
            if let Some(JSONSchemaPropsOrArray::Schema(schema)) = &schema.items {
                for (index, item) in items.iter().enumerate() {
                    check_value(schema, item, &path.index(index), misfits);
                }
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn check_type(wanted: &str, value: &Value, path: &FieldPath, misfits: &mut Vec<Misfit>) -> bool {
    let (fits, found) = match value {
        Value::Null => (true, "null"),
        Value::Bool(_) => (wanted == "boolean", "a boolean"),
        Value::Number(number) => {
            let is_whole = number.is_i64() || number.is_u64();
            (
                wanted == "number" || (wanted == "integer" && is_whole),
                "a number",
            )
        }
        Value::String(_) => (wanted == "string", "text"),
        Value::Array(_) => (wanted == "array", "a list"),
        Value::Object(_) => (wanted == "object", "an object"),
    };
    if !fits {
        let wanted = match wanted {
            "string" => "text (put it in quotes)",
            "integer" => "a whole number",
            "number" => "a number",
            "boolean" => "true or false",
            "array" => "a list",
            _ => "an object",
        };
        misfits.push(Misfit {
            path: path.clone(),
            kind: MisfitKind::Type {
                wanted: wanted.to_owned(),
                found,
            },
        });
    }
    fits
}

fn check_choice(
    schema: &JSONSchemaProps,
    value: &Value,
    path: &FieldPath,
    misfits: &mut Vec<Misfit>,
) {
    let Some(choices) = &schema.enum_ else {
        return;
    };
    if choices.iter().any(|JSON(choice)| choice == value) {
        return;
    }
    let text = |value: &Value| {
        value
            .as_str()
            .map_or_else(|| value.to_string(), str::to_owned)
    };
    let choices = choices.iter().filter(|JSON(choice)| !choice.is_null());
    misfits.push(Misfit {
        path: path.clone(),
        kind: MisfitKind::Choice {
            wanted: choices.map(|JSON(choice)| text(choice)).collect(),
            found: text(value),
        },
    });
}

fn check_length(
    schema: &JSONSchemaProps,
    value: &Value,
    path: &FieldPath,
    misfits: &mut Vec<Misfit>,
) {
    let (length, least) = match value {
        Value::String(text) => (text.chars().count(), schema.min_length),
        Value::Array(items) => (items.len(), schema.min_items),
        _ => return,
    };
    if let Some(least) = least
        && i64::try_from(length).is_ok_and(|length| length < least)
    {
        misfits.push(Misfit {
            path: path.clone(),
            kind: MisfitKind::TooShort(least),
        });
    }
}

fn check_required(
    schema: &JSONSchemaProps,
    value: &Value,
    path: &FieldPath,
    misfits: &mut Vec<Misfit>,
) {
    let is_missing = |name: &&String| value.get(*name).is_none_or(Value::is_null);
    for name in schema.required.iter().flatten().filter(is_missing) {
        misfits.push(Misfit {
            path: path.clone(),
            kind: MisfitKind::Missing(name.clone()),
        });
    }
}

fn check_field(
    schema: &JSONSchemaProps,
    name: &str,
    value: &Value,
    path: &FieldPath,
    misfits: &mut Vec<Misfit>,
) {
    let path = path.field(name);
    let known = schema.properties.as_ref();
    if let Some(schema) = known.and_then(|properties| properties.get(name)) {
        return check_value(schema, value, &path, misfits);
    }
    match &schema.additional_properties {
        Some(JSONSchemaPropsOrBool::Schema(schema)) => check_value(schema, value, &path, misfits),
        Some(JSONSchemaPropsOrBool::Bool(true)) => {}
        _ if known.is_none() || schema.x_kubernetes_preserve_unknown_fields == Some(true) => {}
        _ => misfits.push(Misfit {
            path,
            kind: MisfitKind::UnknownField(name.to_owned()),
        }),
    }
}

#[cfg(test)]
#[expect(
    clippy::needless_pass_by_value,
    reason = "a literal is given away at the call"
)]
mod tests {
    use serde_json::json;

    use super::*;

    fn misfits(kind: &str, metadata: Value, spec: Value) -> Vec<String> {
        let object = json!({"apiVersion": carto::API_VERSION, "kind": kind, "metadata": metadata, "spec": spec});
        let misfits = super::misfits(&object).expect("a kind of ours");
        misfits.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn what_a_cluster_would_refuse_is_found_with_its_place() {
        let spec = json!({"resources": [
            {"name": 1, "templateRef": {"kind": "Template", "options": []}, "sources": {}},
            {"templateRef": {"kind": "ClusterSourceTemplate", "name": ""}},
        ]});
        assert_eq!(
            misfits("ClusterSupplyChain", json!({"name": "c"}), spec),
            [
                "spec.resources[0].name is a number, it has to be text (put it in quotes)",
                "spec.resources[0].sources is an object, it has to be a list",
                "spec.resources[0].templateRef.kind is `Template`, it has to be one of ClusterSourceTemplate, \
                 ClusterImageTemplate, ClusterTemplate, ClusterConfigTemplate",
                "spec.resources[0].templateRef.options needs at least 2 items",
                "spec.resources[1].name is missing",
                "spec.resources[1].templateRef.name is empty",
            ]
        );
    }

    #[test]
    fn labels_are_text_and_null_is_nothing() {
        let metadata = json!({"name": "w", "labels": {"has-tests": true, "a": "b"}});
        assert_eq!(
            misfits(
                "Workload",
                metadata,
                json!({"image": null, "source": {"image": "x"}})
            ),
            ["metadata.labels.has-tests is a boolean, it has to be text (put it in quotes)"]
        );
    }

    #[test]
    fn a_field_that_would_be_dropped_is_found() {
        let spec = json!({"resources": [], "selectors": {}});
        assert_eq!(
            misfits("ClusterSupplyChain", json!({}), spec),
            ["there is no field `selectors` here; a cluster drops it"]
        );
    }

    #[test]
    fn other_kinds_are_not_ours() {
        assert_eq!(
            super::misfits(&json!({"apiVersion": "v1", "kind": "ConfigMap"})),
            None
        );
        assert_eq!(super::misfits(&json!({"spec": {}})), None);
    }
}
