//! The rules that make a schema structural: every part of an object has one declared type.

use serde_json::{Map, Value, json};

use super::FieldError;
use super::pattern::Pattern;

const PRESERVE: &str = "x-kubernetes-preserve-unknown-fields";
const EMBEDDED: &str = "x-kubernetes-embedded-resource";
const INT_OR_STRING: &str = "x-kubernetes-int-or-string";
const LIST_TYPE: &str = "x-kubernetes-list-type";
const LIST_KEYS: &str = "x-kubernetes-list-map-keys";
const MAP_TYPE: &str = "x-kubernetes-map-type";

/// Returns every rule that a custom resource's schema breaks.
pub(super) fn check(schema: &Value, path: &str) -> Vec<FieldError> {
    let mut check = Check { errors: Vec::new() };
    check.schema(schema, Level::Root, path);
    check.errors
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Level {
    Root,
    Field,
    Item,
}

struct Check {
    errors: Vec<FieldError>,
}

impl Check {
    fn required(&mut self, path: &str, field: &str, detail: &str) {
        self.errors
            .push(FieldError::required(format!("{path}.{field}"), detail));
    }

    fn forbidden(&mut self, path: &str, field: &str, detail: &str) {
        self.errors
            .push(FieldError::forbidden(format!("{path}.{field}"), detail));
    }

    fn invalid(&mut self, path: &str, field: &str, value: &Value, detail: &str) {
        self.errors.push(FieldError::invalid(
            format!("{path}.{field}"),
            value,
            detail,
        ));
    }

    fn schema(&mut self, schema: &Value, level: Level, path: &str) {
        self.own_type(schema, level, path);
        self.unsupported(schema, level, path);
        self.extensions(schema, path);
        self.list(schema, path);
        self.resource_fields(schema, level, path);
        self.junctors(schema, path);
        self.children(schema, level, path);
    }

    fn own_type(&mut self, schema: &Value, level: Level, path: &str) {
        let kind = text(schema, "type");
        let known = ["array", "boolean", "integer", "number", "object", "string"];
        if flag(schema, EMBEDDED) && kind != "object" {
            let detail = "must be object if x-kubernetes-embedded-resource is true";
            if kind.is_empty() {
                self.required(path, "type", detail);
            } else {
                self.invalid(path, "type", &json!(kind), detail);
            }
        } else if kind.is_empty() && !may_lack_type(schema) {
            self.required(
                path,
                "type",
                match level {
                    Level::Root => "must not be empty at the root",
                    Level::Item => "must not be empty for specified array items",
                    Level::Field => "must not be empty for specified object fields",
                },
            );
        } else if !kind.is_empty() && !known.contains(&kind) {
            let field = format!("{path}.type");
            let allowed = known.map(Value::from);
            self.errors
                .push(FieldError::not_supported(field, &json!(kind), &allowed));
        } else if level == Level::Root && kind != "object" {
            self.invalid(path, "type", &json!(kind), "must be object at the root");
        }
        if kind == "array" && schema.get("items").is_none() {
            self.required(path, "items", "must be specified");
        }
    }

    fn unsupported(&mut self, schema: &Value, level: Level, path: &str) {
        if schema.get("$ref").is_some() {
            self.forbidden(path, "$ref", "$ref is not supported");
        }
        if flag(schema, "uniqueItems") {
            let detail = "uniqueItems cannot be set to true since the runtime complexity becomes \
                quadratic";
            self.forbidden(path, "uniqueItems", detail);
        }
        if level == Level::Root && flag(schema, "nullable") {
            self.forbidden(path, "nullable", "nullable cannot be true at the root");
        }
        if schema.get("items").is_some_and(Value::is_array) {
            self.forbidden(
                path,
                "items",
                "items must be a schema object and not an array",
            );
        }
        let pattern = text(schema, "pattern");
        if let Err(problem) = Pattern::compile(pattern) {
            let detail = format!("must be a valid regular expression, but isn't: {problem}");
            self.invalid(path, "pattern", &json!(pattern), &detail);
        }
    }

    fn extensions(&mut self, schema: &Value, path: &str) {
        if schema.get(PRESERVE) == Some(&Value::Bool(false)) {
            self.invalid(path, PRESERVE, &json!(false), "must be true or undefined");
        }
        for extension in [PRESERVE, EMBEDDED] {
            if flag(schema, INT_OR_STRING) && flag(schema, extension) {
                let detail = "must be false if x-kubernetes-int-or-string is true";
                self.invalid(path, extension, &json!(true), detail);
            }
        }
        let map_type = text(schema, MAP_TYPE);
        if !matches!(map_type, "" | "atomic" | "granular") {
            let field = format!("{path}.{MAP_TYPE}");
            let allowed = ["atomic", "granular"].map(Value::from);
            self.errors
                .push(FieldError::not_supported(field, &json!(map_type), &allowed));
        }
    }

    fn list(&mut self, schema: &Value, path: &str) {
        let list_type = text(schema, LIST_TYPE);
        let keys = schema
            .get(LIST_KEYS)
            .and_then(Value::as_array)
            .filter(|keys| !keys.is_empty());
        let kind = text(schema, "type");
        if !list_type.is_empty() && kind != "array" {
            let detail = "must be array if x-kubernetes-list-type is specified";
            return self.invalid(path, "type", &json!(kind), detail);
        }
        match (list_type, keys) {
            ("" | "atomic" | "set", Some(_)) => {
                let detail = "must be map if x-kubernetes-list-map-keys is non-empty";
                self.required(path, LIST_TYPE, detail);
            }
            ("map", None) => {
                let detail = "must not be empty if x-kubernetes-list-type is map";
                self.required(path, LIST_KEYS, detail);
            }
            ("map", Some(keys)) => self.map_keys(schema, keys, path),
            ("set", None) => self.set_items(schema, path),
            ("" | "atomic", None) => {}
            (other, _) => {
                let field = format!("{path}.{LIST_TYPE}");
                let allowed = ["atomic", "set", "map"].map(Value::from);
                self.errors
                    .push(FieldError::not_supported(field, &json!(other), &allowed));
            }
        }
    }

    fn map_keys(&mut self, schema: &Value, keys: &[Value], path: &str) {
        let items = schema.get("items").unwrap_or(&Value::Null);
        let kind = text(items, "type");
        if kind != "object" {
            let detail = "must be object if parent array's x-kubernetes-list-type is map";
            return self.invalid(path, "items.type", &json!(kind), detail);
        }
        let required = items.get("required").and_then(Value::as_array);
        for key in keys.iter().filter_map(Value::as_str) {
            let Some(property) = items
                .get("properties")
                .and_then(|properties| properties.get(key))
            else {
                let detail = "entries must all be names of item properties";
                self.invalid(path, LIST_KEYS, &json!(keys), detail);
                continue;
            };
            let is_required = required.is_some_and(|names| names.iter().any(|name| name == key));
            if property.get("default").is_none() && !is_required {
                let field = format!("items.properties[{key}].default");
                let detail = "this property is in x-kubernetes-list-map-keys, so it must have a \
                    default or be a required property";
                self.required(path, &field, detail);
            }
        }
    }

    fn set_items(&mut self, schema: &Value, path: &str) {
        let items = schema.get("items").unwrap_or(&Value::Null);
        let (extension, value) = match text(items, "type") {
            "object" => (MAP_TYPE, items.get(MAP_TYPE)),
            "array" => (LIST_TYPE, items.get(LIST_TYPE)),
            _ => return,
        };
        if value != Some(&json!("atomic")) && !(extension == LIST_TYPE && value.is_none()) {
            let detail = "must be atomic as item of a list with x-kubernetes-list-type=set";
            let value = value.unwrap_or(&Value::Null);
            self.invalid(path, &format!("items.{extension}"), value, detail);
        }
    }

    /// Checks `apiVersion`, `kind` and `metadata`, which Kubernetes declares itself.
    fn resource_fields(&mut self, schema: &Value, level: Level, path: &str) {
        let embedded = flag(schema, EMBEDDED);
        let properties = schema.get("properties").and_then(Value::as_object);
        if embedded && !flag(schema, PRESERVE) && properties.is_none_or(Map::is_empty) {
            let detail = "must not be empty if x-kubernetes-embedded-resource is true without \
                x-kubernetes-preserve-unknown-fields";
            self.required(path, "properties", detail);
        }
        if level != Level::Root && !embedded {
            return;
        }
        for (name, wanted) in [
            ("kind", "string"),
            ("apiVersion", "string"),
            ("metadata", "object"),
        ] {
            let declared = properties.and_then(|properties| properties.get(name));
            let kind = declared.map(|property| text(property, "type"));
            if kind.is_some_and(|kind| kind != wanted) {
                let field = format!("properties[{name}].type");
                self.invalid(path, &field, &json!(kind), &format!("must be {wanted}"));
            }
        }
        let metadata = properties.and_then(|properties| properties.get("metadata"));
        let declared = metadata.and_then(|metadata| metadata.get("properties")?.as_object());
        let is_name = |name: &String| matches!(name.as_str(), "name" | "generateName");
        if level == Level::Root && declared.is_some_and(|names| !names.keys().all(is_name)) {
            let detail = "must not specify anything other than name and generateName, but metadata \
                is implicitly specified";
            self.forbidden(path, "properties[metadata]", detail);
        }
    }

    fn junctors(&mut self, schema: &Value, path: &str) {
        let types = json!([{"type": "integer"}, {"type": "string"}]);
        let allowed = flag(schema, INT_OR_STRING);
        for name in ["allOf", "anyOf", "oneOf"] {
            let alternatives = schema.get(name).and_then(Value::as_array);
            if allowed && name == "anyOf" && schema.get(name) == Some(&types) {
                continue;
            }
            for (index, nested) in alternatives.into_iter().flatten().enumerate() {
                let is_pattern = allowed && name == "allOf" && nested.get("anyOf") == Some(&types);
                if !is_pattern {
                    self.nested(nested, &format!("{path}.{name}[{index}]"));
                }
            }
        }
        if let Some(nested) = schema.get("not") {
            self.nested(nested, &format!("{path}.not"));
        }
    }

    /// Checks a schema inside a junctor, which may constrain values but declare nothing.
    fn nested(&mut self, schema: &Value, path: &str) {
        const DECLARATIONS: &[(&str, &str)] = &[
            ("additionalProperties", "must be undefined to be structural"),
            ("default", "must be undefined to be structural"),
            ("description", "must be empty to be structural"),
            ("nullable", "must be false to be structural"),
            ("title", "must be empty to be structural"),
            ("type", "must be empty to be structural"),
            (EMBEDDED, "must be false to be structural"),
            (INT_OR_STRING, "must be false to be structural"),
            (LIST_KEYS, "must be empty to be structural"),
            (LIST_TYPE, "must be undefined to be structural"),
            (MAP_TYPE, "must be undefined to be structural"),
            (PRESERVE, "must be false to be structural"),
            ("x-kubernetes-validations", "must be empty to be structural"),
        ];
        for (name, detail) in DECLARATIONS {
            if schema.get(name).is_some() {
                self.forbidden(path, name, detail);
            }
        }
        let pattern = text(schema, "pattern");
        if let Err(problem) = Pattern::compile(pattern) {
            let detail = format!("must be a valid regular expression, but isn't: {problem}");
            self.invalid(path, "pattern", &json!(pattern), &detail);
        }
        self.junctors(schema, path);
        for (name, property) in fields(schema, "properties") {
            if name == "metadata" {
                let detail = "must not be specified in a nested context";
                self.forbidden(path, "properties[metadata]", detail);
            }
            self.nested(property, &format!("{path}.properties[{name}]"));
        }
        if let Some(items) = schema.get("items") {
            self.nested(items, &format!("{path}.items"));
        }
    }

    fn children(&mut self, schema: &Value, level: Level, path: &str) {
        for (name, property) in fields(schema, "properties") {
            // What a schema says about an object's own metadata has been checked already.
            if !(level == Level::Root && name == "metadata") {
                self.schema(
                    property,
                    Level::Field,
                    &format!("{path}.properties[{name}]"),
                );
            }
        }
        if let Some(items) = schema.get("items").filter(|items| items.is_object()) {
            self.schema(items, Level::Item, &format!("{path}.items"));
        }
        let Some(additional) = schema.get("additionalProperties") else {
            return;
        };
        let declares = additional.is_object() || additional == &Value::Bool(true);
        if level == Level::Root {
            self.forbidden(path, "additionalProperties", "must not be used at the root");
        }
        if declares && fields(schema, "properties").next().is_some() {
            let detail = "additionalProperties and properties are mutual exclusive";
            self.forbidden(path, "additionalProperties", detail);
        }
        if additional.is_object() {
            self.schema(
                additional,
                Level::Field,
                &format!("{path}.additionalProperties"),
            );
        }
    }
}

fn may_lack_type(schema: &Value) -> bool {
    flag(schema, INT_OR_STRING) || flag(schema, PRESERVE) || schema.get("$ref").is_some()
}

fn text<'a>(schema: &'a Value, name: &str) -> &'a str {
    schema.get(name).and_then(Value::as_str).unwrap_or_default()
}

fn flag(schema: &Value, name: &str) -> bool {
    schema
        .get(name)
        .and_then(Value::as_bool)
        .unwrap_or_default()
}

fn fields<'a>(schema: &'a Value, name: &str) -> impl Iterator<Item = (&'a String, &'a Value)> {
    schema
        .get(name)
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
}
