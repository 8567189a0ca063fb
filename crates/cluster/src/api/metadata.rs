//! The metadata that an update may not change.

use serde_json::Value;

use crate::deletion::is_deleting;
use crate::schema::FieldError;

/// Returns which changes of metadata are not allowed.
pub(crate) fn check_update(old: &Value, new: &Value) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let uid = &new["metadata"]["uid"];
    if *uid != old["metadata"]["uid"] {
        errors.push(FieldError::invalid(
            "metadata.uid",
            uid,
            "field is immutable",
        ));
    }
    let before: Vec<&str> = texts(&old["metadata"]["finalizers"]).collect();
    let added: Vec<&str> = texts(&new["metadata"]["finalizers"])
        .filter(|it| !before.contains(it))
        .collect();
    if is_deleting(old) && !added.is_empty() {
        let listed: Vec<String> = added.iter().map(|it| format!("{it:?}")).collect();
        let detail = format!(
            "no new finalizers can be added if the object is being deleted, found new finalizers \
             []string{{{}}}",
            listed.join(", ")
        );
        errors.push(FieldError::forbidden("metadata.finalizers", &detail));
    }
    errors
}

fn texts(list: &Value) -> impl Iterator<Item = &str> {
    list.as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_object_that_is_being_deleted_gets_no_new_finalizers() {
        let object = |finalizers: Value| {
            json!({"metadata": {"uid": "u", "deletionTimestamp": "2026-01-01T00:00:00Z",
                                "finalizers": finalizers}})
        };
        let old = object(json!(["a/b"]));
        assert!(check_update(&old, &object(json!([]))).is_empty());
        let errors = check_update(&old, &object(json!(["a/b", "c/d"])));
        assert!(
            errors[0]
                .message
                .ends_with("found new finalizers []string{\"c/d\"}")
        );
    }
}
