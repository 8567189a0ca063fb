//! The JSON Schema of the application file, for editors.

use serde_json::{Value, json};

/// Returns the JSON Schema (2020-12) of `fathomable.yaml`, in the dialect with `version`.
///
/// Keys that it does not name are allowed, since they are kept. What it cannot say (which tags are labels) is said when
/// the file is read.
pub fn schema() -> Value {
    let settings = settings();
    let mut overrides = settings.clone();
    overrides["description"] =
        json!("Settings for one environment, by its type or its name; merged last.");
    let mut group = settings.clone();
    group["description"] = json!("Settings of all applications of the group.");
    let mut application = settings;
    let own = json!({
        "version": {
            "type": "string",
            "minLength": 1,
            "description": "The label: a tag, a range of versions such as `1.x`, or `sha256:` and a digest. Quote it.",
        },
        "imageTag": {"type": "string", "minLength": 1, "deprecated": true, "description": "An older word for `version`. With it `environment` is a flat map of variables, and files are in `config` and `secrets`."},
        "component": {"type": "string", "description": "Follows the name of the image, after a hyphen."},
        "in": {"type": "object", "additionalProperties": {"$ref": "#/$defs/overrides"}},
    });
    merge(&mut application["properties"], &own);
    application["oneOf"] = json!([{"required": ["version"]}, {"required": ["imageTag"]}]);
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "fathomable.yaml",
        "description": "Groups of applications, each with the image that it runs and the settings that it runs with.",
        "type": "object",
        "additionalProperties": {
            "type": "object",
            "properties": {"group": {"$ref": "#/$defs/group"}},
            "additionalProperties": {"$ref": "#/$defs/application"},
        },
        "$defs": {"application": application, "group": group, "overrides": overrides},
    })
}

fn settings() -> Value {
    let file = |value: &Value| {
        json!({"type": "object", "additionalProperties": {"type": "object", "properties": {
            "inheritGroup": {"type": "boolean", "description": "Takes the file of that name from the group."},
            "mountPath": {"type": "string", "pattern": "^/"},
            "data": {"type": "array", "items": {"type": "object", "required": ["name", "value"], "properties": {
                "name": {"type": "string", "minLength": 1},
                "value": value,
            }}},
        }}})
    };
    let scalar = json!({"type": ["string", "number", "boolean", "null"]});
    let amounts = json!({"type": "object", "properties": {
        "cpu": {"type": ["integer", "string"], "minimum": 0, "description": "Thousandths of a core."},
        "memory": {"type": ["integer", "string"], "pattern": "^[0-9]+([kMGTPE]|[KMGTPE]i)?$"},
    }});
    json!({"type": "object", "properties": {
        "repository": {"type": "object", "properties": {"image": {"type": "object", "properties": {
            "domain": {"type": "string", "description": "The registry; Docker Hub unless said."},
            "owner": {"type": "string", "description": "The name of the group unless said."},
            "name": {"type": "string", "description": "The name of the application unless said."},
            "officialImage": {"type": "boolean", "description": "An image without an owner."},
            "auth": {"type": "string", "contentEncoding": "base64", "description": "The login for the registry: `USER:PASSWORD` in base64, as Docker has it."},
        }}}},
        "resource": {"type": "object", "properties": {"min": amounts, "max": amounts}},
        "environment": {"type": "object", "properties": {
            "variable": {"type": "object", "additionalProperties": scalar},
            "file": {"type": "object", "properties": {
                "config": file(&scalar),
                "secret": file(&json!({"type": "string", "contentEncoding": "base64"})),
            }},
        }},
        "vetos": {"type": "object", "properties": {
            "autoDeploy": {"type": "boolean", "default": true, "description": "Whether it is deployed without being promoted."},
            "omitFromDeploy": {"type": "boolean", "default": false},
            "omitFromNamespaces": {"type": "array", "items": {"type": "string"}, "description": "Environments, by name or type."},
        }},
    }})
}

fn merge(into: &mut Value, from: &Value) {
    if let (Value::Object(into), Value::Object(from)) = (into, from) {
        into.extend(from.iter().map(|(key, value)| (key.clone(), value.clone())));
    }
}
