//! Validation of `metadata`.

use serde_json::{Map, Value};

use super::{
    ANNOTATIONS_LIMIT, dns_1035_label, dns_label, dns_subdomain, label_key, label_value,
    path_segment,
};
use crate::schema::FieldError;

/// The rule that a kind's names follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NameRule {
    /// A DNS subdomain, as for most kinds.
    Subdomain,
    /// A DNS label, as for namespaces.
    Label,
    /// A DNS label that starts with a letter, as for services.
    Label1035,
    /// A segment of a URL, as for roles and their bindings.
    PathSegment,
}

impl NameRule {
    /// Returns the rule for names of a built-in or custom kind.
    pub(crate) fn of(group: &str, kind: &str) -> Self {
        match (group, kind) {
            ("", "Namespace") => Self::Label,
            ("", "Service") => Self::Label1035,
            ("rbac.authorization.k8s.io", _) => Self::PathSegment,
            _ => Self::Subdomain,
        }
    }

    /// Returns what keeps `name` from following the rule.
    pub(crate) fn check(self, name: &str) -> Vec<String> {
        match self {
            Self::Subdomain => dns_subdomain(name),
            Self::Label => dns_label(name),
            Self::Label1035 => dns_1035_label(name),
            Self::PathSegment => path_segment(name),
        }
    }
}

/// Returns everything wrong with an object's `metadata`, once its name has been generated.
///
/// `generateName` need only be able to begin a name, so a dash may end it.
pub(crate) fn validate_metadata(
    metadata: &Value,
    namespaced: bool,
    rule: NameRule,
) -> Vec<FieldError> {
    let mut errors = Vec::new();
    names(metadata, rule, &mut errors);
    namespace(metadata, namespaced, &mut errors);
    labels(metadata, &mut errors);
    annotations(metadata, &mut errors);
    owners(metadata, &mut errors);
    finalizers(metadata, &mut errors);
    errors
}

fn names(metadata: &Value, rule: NameRule, errors: &mut Vec<FieldError>) {
    let prefix = text(metadata, "generateName");
    if !prefix.is_empty() {
        let beginning = match prefix.strip_suffix('-') {
            Some(rest) if !rest.is_empty() => format!("{rest}a"),
            _ => prefix.to_owned(),
        };
        invalid(
            "metadata.generateName",
            prefix,
            &rule.check(&beginning),
            errors,
        );
    }
    match text(metadata, "name") {
        "" => {
            let detail = "name or generateName is required";
            errors.push(FieldError::required("metadata.name", detail));
        }
        name => invalid("metadata.name", name, &rule.check(name), errors),
    }
}

fn namespace(metadata: &Value, namespaced: bool, errors: &mut Vec<FieldError>) {
    let path = "metadata.namespace";
    match (namespaced, text(metadata, "namespace")) {
        (true, "") => errors.push(FieldError::required(path, "")),
        (true, name) => invalid(path, name, &dns_label(name), errors),
        (false, "") => {}
        (false, _) => errors.push(FieldError::forbidden(path, "not allowed on this type")),
    }
}

fn labels(metadata: &Value, errors: &mut Vec<FieldError>) {
    let path = "metadata.labels";
    for (key, value) in map(metadata, "labels") {
        invalid(path, key, &label_key(key), errors);
        let value = value.as_str().unwrap_or_default();
        invalid(path, value, &label_value(value), errors);
    }
}

fn annotations(metadata: &Value, errors: &mut Vec<FieldError>) {
    let path = "metadata.annotations";
    let mut size = 0;
    for (key, value) in map(metadata, "annotations") {
        // Annotation keys may have capitals in their prefix; labels may not.
        invalid(path, key, &label_key(&key.to_lowercase()), errors);
        size += key.len() + value.as_str().map_or(0, str::len);
    }
    if size > ANNOTATIONS_LIMIT {
        errors.push(FieldError::too_long(path, ANNOTATIONS_LIMIT as u64));
    }
}

fn owners(metadata: &Value, errors: &mut Vec<FieldError>) {
    let path = "metadata.ownerReferences";
    let owners: &[Value] = metadata
        .get("ownerReferences")
        .and_then(Value::as_array)
        .map_or(&[], Vec::as_slice);
    for owner in owners {
        for field in ["apiVersion", "kind", "name", "uid"] {
            if text(owner, field).is_empty() {
                let field_path = format!("{path}.{field}");
                let what = if field == "apiVersion" {
                    "version must"
                } else {
                    "must"
                };
                let detail = format!("{what} not be empty");
                errors.push(FieldError::invalid(field_path, &Value::from(""), &detail));
            }
        }
    }
    let controllers: Vec<&str> = owners
        .iter()
        .filter(|owner| owner.get("controller") == Some(&Value::Bool(true)))
        .map(|owner| text(owner, "name"))
        .collect();
    if let [first, second, ..] = controllers[..] {
        let detail = format!(
            "Only one reference can have Controller set to true. Found \"true\" in references \
             for {first} and {second}"
        );
        let value = Value::from(owners);
        errors.push(FieldError::invalid(path, &value, &detail));
    }
}

fn finalizers(metadata: &Value, errors: &mut Vec<FieldError>) {
    let path = "metadata.finalizers";
    let finalizers = metadata.get("finalizers").and_then(Value::as_array);
    for finalizer in finalizers.into_iter().flatten().filter_map(Value::as_str) {
        invalid(path, finalizer, &label_key(finalizer), errors);
    }
}

fn invalid(path: &str, value: &str, problems: &[String], errors: &mut Vec<FieldError>) {
    let value = Value::from(value);
    errors.extend(
        problems
            .iter()
            .map(|problem| FieldError::invalid(path, &value, problem)),
    );
}

fn text<'a>(object: &'a Value, field: &str) -> &'a str {
    object
        .get(field)
        .and_then(Value::as_str)
        .unwrap_or_default()
}

fn map<'a>(object: &'a Value, field: &str) -> impl Iterator<Item = (&'a String, &'a Value)> {
    object
        .get(field)
        .and_then(Value::as_object)
        .map(Map::iter)
        .into_iter()
        .flatten()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn errors(metadata: &Value) -> Vec<String> {
        let errors = validate_metadata(metadata, true, NameRule::Subdomain);
        errors.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn good_metadata_passes() {
        let metadata = json!({
            "name": "web", "namespace": "default", "generateName": "web-",
            "labels": {"app": "web", "empty": ""}, "annotations": {"Example.com/x": "any text\n"},
            "finalizers": ["pathline.dev/keep", "orphan"],
            "ownerReferences": [
                {"apiVersion": "v1", "kind": "ConfigMap", "name": "a", "uid": "1", "controller": true},
                {"apiVersion": "v1", "kind": "ConfigMap", "name": "b", "uid": "2"}
            ]
        });
        assert_eq!(errors(&metadata), [""; 0]);
    }

    #[test]
    fn problems_name_their_field() {
        let metadata = json!({
            "name": "a", "namespace": "A", "labels": {"app": "a b"}, "finalizers": ["/x"],
            "ownerReferences": [{"apiVersion": "v1", "kind": "K", "uid": "1"}]
        });
        let found = errors(&metadata);
        let expected = [
            "metadata.namespace: Invalid value: \"A\": a lowercase RFC 1123 label must",
            "metadata.labels: Invalid value: \"a b\": a valid label must be",
            "metadata.ownerReferences.name: Invalid value: \"\": must not be empty",
            "metadata.finalizers: Invalid value: \"/x\": prefix part must be non-empty",
        ];
        assert_eq!(found.len(), expected.len(), "{found:#?}");
        for (found, expected) in found.iter().zip(expected) {
            assert!(found.starts_with(expected), "{found}");
        }
    }

    #[test]
    fn a_name_is_needed_and_annotations_are_bounded() {
        let big = "x".repeat(ANNOTATIONS_LIMIT);
        let found = errors(&json!({"namespace": "a", "annotations": {"a": big}}));
        assert_eq!(
            found,
            [
                "metadata.name: Required value: name or generateName is required",
                "metadata.annotations: Too long: may not be more than 262144 bytes"
            ]
        );
    }
}
