//! The rules that a CustomResourceDefinition must keep.

use pathline_jsonpath::JsonPath;
use serde_json::Value;

use super::{text, versions};
use crate::names;
use crate::schema::{FieldError, Schema};

/// Returns what is wrong with a definition.
pub(crate) fn check(object: &Value) -> Vec<FieldError> {
    let mut errors = Vec::new();
    check_group_and_scope(object, &mut errors);
    check_versions(object, &mut errors);
    check_names(&object["spec"]["names"], &mut errors);
    check_conversion(object, &mut errors);
    if !versions(object).any(|version| version["storage"] == true) {
        let detail = "must have at least one stored version";
        errors.push(FieldError::invalid(
            "status.storedVersions",
            &Value::Null,
            detail,
        ));
    }
    errors
}

/// Returns which changes of a definition are not allowed.
pub(crate) fn check_update(old: &Value, new: &Value) -> Vec<FieldError> {
    let fixed = [
        "/spec/group",
        "/spec/scope",
        "/spec/names/plural",
        "/spec/names/kind",
    ];
    let changed = fixed
        .iter()
        .filter(|path| old.pointer(path) != new.pointer(path));
    let errors = changed.map(|path| {
        let value = new.pointer(path).unwrap_or(&Value::Null);
        let field = path.trim_start_matches('/').replace('/', ".");
        FieldError::invalid(field, value, "field is immutable")
    });
    errors.collect()
}

fn check_group_and_scope(object: &Value, errors: &mut Vec<FieldError>) {
    let spec = &object["spec"];
    let (group, plural) = (text(&spec["group"]), text(&spec["names"]["plural"]));
    let name = &object["metadata"]["name"];
    if text(name) != format!("{plural}.{group}") {
        let detail = "must be spec.names.plural+\".\"+spec.group";
        errors.push(FieldError::invalid("metadata.name", name, detail));
    }
    if group.is_empty() {
        errors.push(FieldError::required("spec.group", ""));
    } else if !group.contains('.') {
        let detail = "should be a domain with at least one dot";
        errors.push(FieldError::invalid("spec.group", &spec["group"], detail));
    } else {
        for problem in names::dns_subdomain(&group) {
            errors.push(FieldError::invalid("spec.group", &spec["group"], &problem));
        }
    }
    match spec["scope"].as_str().unwrap_or_default() {
        "Namespaced" | "Cluster" => {}
        "" => errors.push(FieldError::required("spec.scope", "")),
        _ => {
            let allowed = ["Cluster", "Namespaced"].map(Value::from);
            errors.push(FieldError::not_supported(
                "spec.scope",
                &spec["scope"],
                &allowed,
            ));
        }
    }
}

fn check_names(names: &Value, errors: &mut Vec<FieldError>) {
    for key in ["plural", "singular", "kind", "listKind"] {
        check_name(&names[key], key, errors);
    }
    for (index, short) in names["shortNames"]
        .as_array()
        .into_iter()
        .flatten()
        .enumerate()
    {
        check_label(short, &format!("spec.names.shortNames[{index}]"), errors);
    }
}

fn check_name(value: &Value, key: &str, errors: &mut Vec<FieldError>) {
    let field = format!("spec.names.{key}");
    if text(value).is_empty() {
        errors.push(FieldError::required(field, ""));
        return;
    }
    let is_kind = matches!(key, "kind" | "listKind");
    let checked = if is_kind {
        text(value).to_lowercase().into()
    } else {
        value.clone()
    };
    check_label(&checked, &field, errors);
}

fn check_label(value: &Value, field: &str, errors: &mut Vec<FieldError>) {
    for problem in names::dns_1035_label(&text(value)) {
        errors.push(FieldError::invalid(field, value, &problem));
    }
}

fn check_versions(object: &Value, errors: &mut Vec<FieldError>) {
    let list = &object["spec"]["versions"];
    let count = list.as_array().map_or(0, Vec::len);
    for (index, version) in versions(object).enumerate() {
        let path = format!("spec.versions[{index}]");
        let name = text(&version["name"]);
        if name.is_empty() {
            errors.push(FieldError::required(format!("{path}.name"), ""));
        } else {
            check_label(&version["name"], &format!("{path}.name"), errors);
        }
        let twice = versions(object)
            .take(index)
            .any(|other| text(&other["name"]) == name);
        if twice {
            errors.push(FieldError::duplicate(
                format!("{path}.name"),
                &version["name"],
            ));
        }
        check_schema(version, &path, count, errors);
        check_paths(version, &path, errors);
    }
    if versions(object)
        .filter(|version| version["storage"] == true)
        .count()
        != 1
    {
        let detail = "must have exactly one version marked as storage version";
        errors.push(FieldError::invalid("spec.versions", list, detail));
    }
}

fn check_schema(version: &Value, path: &str, count: usize, errors: &mut Vec<FieldError>) {
    let schema = &version["schema"]["openAPIV3Schema"];
    if schema.is_null() {
        errors.push(FieldError::required(
            format!("{path}.schema.openAPIV3Schema"),
            "",
        ));
        return;
    }
    // A real server moves the schema of a single version to where all versions share one, and
    // names that place in its messages.
    let place = if count == 1 {
        "spec.validation.openAPIV3Schema".to_owned()
    } else {
        format!("{path}.schema.openAPIV3Schema")
    };
    if let Err(found) = Schema::compile(schema, &place) {
        errors.extend(found);
    }
}

fn check_paths(version: &Value, path: &str, errors: &mut Vec<FieldError>) {
    let lists = [
        ("additionalPrinterColumns", true),
        ("selectableFields", false),
    ];
    for (list, has_type) in lists {
        for (index, entry) in version[list].as_array().into_iter().flatten().enumerate() {
            let field = format!("{path}.{list}[{index}]");
            check_path(&entry["jsonPath"], &format!("{field}.jsonPath"), errors);
            if has_type {
                check_column_type(&entry["type"], &format!("{field}.type"), errors);
            }
        }
    }
    let scale = &version["subresources"]["scale"];
    if scale.is_object() {
        for key in ["specReplicasPath", "statusReplicasPath"] {
            let prefix = if key.starts_with("spec") {
                ".spec."
            } else {
                ".status."
            };
            let value = &scale[key];
            if !text(value).starts_with(prefix) {
                let detail = format!(
                    "should be a json path under {}",
                    prefix.trim_end_matches('.')
                );
                let field = format!("{path}.subresources.scale.{key}");
                errors.push(FieldError::invalid(field, value, &detail));
            }
        }
    }
}

fn check_path(value: &Value, field: &str, errors: &mut Vec<FieldError>) {
    match value.as_str() {
        None | Some("") => errors.push(FieldError::required(field, "")),
        Some(path) => {
            if let Err(error) = JsonPath::parse(path) {
                let detail = format!("is an invalid path: {error}");
                errors.push(FieldError::invalid(field, value, &detail));
            }
        }
    }
}

fn check_column_type(value: &Value, field: &str, errors: &mut Vec<FieldError>) {
    let types = ["boolean", "date", "integer", "number", "string"];
    match value.as_str() {
        None | Some("") => errors.push(FieldError::required(field, "")),
        Some(kind) if types.contains(&kind) => {}
        Some(_) => {
            errors.push(FieldError::not_supported(
                field,
                value,
                &types.map(Value::from),
            ));
        }
    }
}

fn check_conversion(object: &Value, errors: &mut Vec<FieldError>) {
    let strategy = &object["spec"]["conversion"]["strategy"];
    if !matches!(strategy.as_str(), None | Some("None")) {
        let field = "spec.conversion.strategy";
        let detail = "this server converts between versions by their name alone; use the strategy \
                      None, or leave spec.conversion out";
        errors.push(FieldError::invalid(field, strategy, detail));
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn mk_definition() -> Value {
        json!({
            "metadata": {"name": "widgets.probe.dev"},
            "spec": {
                "group": "probe.dev",
                "scope": "Namespaced",
                "names": {
                    "plural": "widgets", "singular": "widget", "kind": "Widget",
                    "listKind": "WidgetList"
                },
                "versions": [{
                    "name": "v1", "served": true, "storage": true,
                    "schema": {"openAPIV3Schema": {"type": "object"}}
                }],
            },
        })
    }

    fn errors_after(change: impl FnOnce(&mut Value)) -> Vec<String> {
        let mut object = mk_definition();
        change(&mut object);
        check(&object).iter().map(FieldError::to_string).collect()
    }

    #[test]
    fn a_plain_definition_has_no_errors() {
        assert_eq!(errors_after(|_| {}), Vec::<String>::new());
    }

    #[test]
    fn each_broken_rule_is_named() {
        let name = errors_after(|it| it["metadata"]["name"] = "x".into());
        assert_eq!(
            name,
            ["metadata.name: Invalid value: \"x\": must be spec.names.plural+\".\"+spec.group"]
        );
        let scope = errors_after(|it| it["spec"]["scope"] = "Foo".into());
        assert_eq!(
            scope,
            [
                "spec.scope: Unsupported value: \"Foo\": supported values: \"Cluster\", \"Namespaced\""
            ]
        );
        let schema = errors_after(|it| it["spec"]["versions"][0]["schema"] = Value::Null);
        assert_eq!(
            schema,
            ["spec.versions[0].schema.openAPIV3Schema: Required value"]
        );
        let storage = errors_after(|it| it["spec"]["versions"][0]["storage"] = false.into());
        assert!(storage[0].ends_with("must have exactly one version marked as storage version"));
    }

    #[test]
    fn a_definition_may_not_move_or_change_its_kind() {
        let old = mk_definition();
        let mut new = old.clone();
        new["spec"]["names"]["kind"] = "Other".into();
        let errors = check_update(&old, &new);
        assert_eq!(errors[0].path, "spec.names.kind");
        assert!(check_update(&old, &old).is_empty());
    }
}
