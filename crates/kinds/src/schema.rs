//! Schemas that Rust types cannot express.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{
    CustomResourceDefinition, JSONSchemaProps, JSONSchemaPropsOrArray, JSONSchemaPropsOrBool,
};
use schemars::{Schema, SchemaGenerator, json_schema};

/// Any JSON value, kept as it is.
pub(crate) fn any_value(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"x-kubernetes-preserve-unknown-fields": true})
}

/// Any JSON object, kept as it is.
pub(crate) fn any_object(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"type": "object", "x-kubernetes-preserve-unknown-fields": true})
}

/// A list of any JSON objects, kept as they are.
pub(crate) fn any_objects(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "array",
        "items": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
    })
}

/// Any JSON values by name, kept as they are.
pub(crate) fn any_values(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "object",
        "additionalProperties": {"x-kubernetes-preserve-unknown-fields": true},
    })
}

/// Takes from a blueprint what only the other kind of blueprints has.
///
/// `input` goes from resources and their options, `template_kind` from the kinds of templates.
pub(crate) fn without(
    mut crd: CustomResourceDefinition,
    input: &str,
    template_kind: &str,
) -> CustomResourceDefinition {
    for version in &mut crd.spec.versions {
        let schema = version.schema.as_mut();
        let Some(root) = schema.and_then(|schema| schema.open_api_v3_schema.as_mut()) else {
            continue;
        };
        let resource = items(property(property(root, "spec"), "resources"));
        resource.properties.get_or_insert_default().remove(input);
        let template = property(resource, "templateRef");
        let kinds = property(template, "kind").enum_.get_or_insert_default();
        kinds.retain(|kind| kind.0 != template_kind);
        let option = items(property(template, "options"));
        option.properties.get_or_insert_default().remove(input);
    }
    crd
}

/// Lets an owner set a parameter to null, which a server would otherwise take for a value left out.
pub(crate) fn allow_null_params(crd: &mut CustomResourceDefinition) {
    for version in &mut crd.spec.versions {
        let schema = version.schema.as_mut();
        if let Some(root) = schema.and_then(|schema| schema.open_api_v3_schema.as_mut()) {
            let param = items(property(property(root, "spec"), "params"));
            property(param, "value").nullable = Some(true);
        }
    }
}

/// Makes the status that owners share that of one kind: takes the reference to a blueprint of the `other`
/// kind from it, and puts the words for owner and blueprint into the descriptions.
pub(crate) fn adapt_owner_status(
    crd: &mut CustomResourceDefinition,
    other: &str,
    owner: &str,
    blueprint: &str,
) {
    let kind = crd.spec.names.kind.clone();
    let put = |description: &mut Option<String>| {
        if let Some(text) = description {
            *text = text
                .replace("{Kind}", &kind)
                .replace("{owner}", owner)
                .replace("{blueprint}", blueprint);
        }
    };
    for version in &mut crd.spec.versions {
        let schema = version.schema.as_mut();
        let Some(root) = schema.and_then(|schema| schema.open_api_v3_schema.as_mut()) else {
            continue;
        };
        let status = property(root, "status");
        put(&mut status.description);
        let properties = status.properties.get_or_insert_default();
        properties.remove(other);
        for property in properties.values_mut() {
            put(&mut property.description);
        }
    }
}

fn property<'s>(schema: &'s mut JSONSchemaProps, name: &str) -> &'s mut JSONSchemaProps {
    let properties = schema.properties.get_or_insert_default();
    properties.entry(name.to_owned()).or_default()
}

fn items(schema: &mut JSONSchemaProps) -> &mut JSONSchemaProps {
    match &mut schema.items {
        Some(JSONSchemaPropsOrArray::Schema(items)) => items,
        _ => unreachable!("resources, options and params are lists of one type"),
    }
}

/// The spelling of quantities.
const QUANTITY: &str = r"^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$";

/// Gives a definition what Cartographer's have and Rust types do not say.
///
/// Metadata is required. Null is no value: Rust options would make every optional field nullable, and
/// a stored null is a third state between absent and present that no rule asks for.
pub(crate) fn as_upstream(mut crd: CustomResourceDefinition) -> CustomResourceDefinition {
    crd.spec.names.list_kind = Some(format!("{}List", crd.spec.names.kind));
    for version in &mut crd.spec.versions {
        let schema = version
            .schema
            .as_mut()
            .and_then(|schema| schema.open_api_v3_schema.as_mut());
        let Some(schema) = schema else { continue };
        adapt(schema);
        schema.required = Some(vec!["metadata".to_owned(), "spec".to_owned()]);
        schema.title = None;
        let properties = schema.properties.get_or_insert_default();
        for (name, type_) in [
            ("apiVersion", "string"),
            ("kind", "string"),
            ("metadata", "object"),
        ] {
            let property = JSONSchemaProps {
                type_: Some(type_.to_owned()),
                ..JSONSchemaProps::default()
            };
            properties.insert(name.to_owned(), property);
        }
    }
    crd
}

fn adapt(schema: &mut JSONSchemaProps) {
    schema.nullable = None;
    if schema.x_kubernetes_int_or_string == Some(true) {
        schema.pattern = Some(QUANTITY.to_owned());
    }
    for (name, property) in schema.properties.iter_mut().flatten() {
        adapt(property);
        // Newer Kubernetes wants a name here, which may be empty; older manifests leave it out.
        if matches!(name.as_str(), "configMapKeyRef" | "secretKeyRef") {
            property.required = Some(vec!["key".to_owned()]);
        }
    }
    if let Some(JSONSchemaPropsOrArray::Schema(items)) = &mut schema.items {
        adapt(items);
    }
    if let Some(JSONSchemaPropsOrBool::Schema(values)) = &mut schema.additional_properties {
        adapt(values);
    }
}
