//! Is what came out what was expected?

use serde_json::Value;

use super::info::CompareOptions;

/// Returns what is different, one line for each place; nothing, if all is as expected.
///
/// Status is never compared, nor what Pathline remembers in annotations of its own. Numbers are equal if
/// their values are.
pub(super) fn differences(
    mut expected: Value,
    mut found: Value,
    options: &CompareOptions,
) -> Vec<String> {
    forget_our_annotations(&mut found);
    for object in [&mut expected, &mut found] {
        strip(object, options);
    }
    let mut differences = Vec::new();
    compare("", &expected, &found, &mut differences);
    differences
}

fn forget_our_annotations(object: &mut Value) {
    let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) else {
        return;
    };
    if let Some(annotations) = metadata
        .get_mut("annotations")
        .and_then(Value::as_object_mut)
    {
        annotations.retain(|name, _| !name.starts_with("pathline.dev/"));
        if annotations.is_empty() {
            metadata.remove("annotations");
        }
    }
}

fn strip(object: &mut Value, options: &CompareOptions) {
    let Some(fields) = object.as_object_mut() else {
        return;
    };
    fields.remove("status");
    if options.ignore_metadata == Some(true) {
        fields.remove("metadata");
    }
    let Some(metadata) = fields.get_mut("metadata").and_then(Value::as_object_mut) else {
        return;
    };
    if options.ignore_labels == Some(true) {
        metadata.remove("labels");
    }
    if options.ignore_owner_refs == Some(true) {
        metadata.remove("ownerReferences");
    }
    for field in options.ignore_metadata_fields.iter().flatten() {
        metadata.remove(field);
    }
}

fn compare(place: &str, expected: &Value, found: &Value, differences: &mut Vec<String>) {
    match (expected, found) {
        (Value::Object(wanted), Value::Object(have)) => {
            for (name, value) in wanted {
                let place = format!("{place}.{name}");
                match have.get(name) {
                    Some(found) => compare(&place, value, found, differences),
                    None => differences.push(format!("{place}: expected {value}, found nothing")),
                }
            }
            for (name, value) in have.iter().filter(|(name, _)| !wanted.contains_key(*name)) {
                differences.push(format!("{place}.{name}: expected nothing, found {value}"));
            }
        }
        (Value::Array(wanted), Value::Array(have)) if wanted.len() == have.len() => {
            for (index, (value, found)) in wanted.iter().zip(have).enumerate() {
                compare(&format!("{place}[{index}]"), value, found, differences);
            }
        }
        (Value::Number(wanted), Value::Number(have)) if wanted.as_f64() == have.as_f64() => {}
        (wanted, have) if wanted == have => {}
        (wanted, have) => differences.push(format!("{place}: expected {wanted}, found {have}")),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_place_that_differs_is_named() {
        let expected = json!({"spec": {"a": 1, "b": [1, 2], "c": {"d": "x"}}});
        let found = json!({"spec": {"a": 1.0, "b": [1, 3], "e": true}, "status": {}});
        assert_eq!(
            differences(expected, found, &CompareOptions::default()),
            [
                ".spec.b[1]: expected 2, found 3",
                ".spec.c: expected {\"d\":\"x\"}, found nothing",
                ".spec.e: expected nothing, found true",
            ]
        );
    }

    #[test]
    fn what_is_ignored_makes_no_difference() {
        let found = json!({"metadata": {
            "name": "a",
            "labels": {"x": "y"},
            "ownerReferences": [{}],
            "annotations": {"pathline.dev/applied": "z"},
        }});
        let expected = json!({"metadata": {"name": "a", "namespace": "n"}});
        let options = CompareOptions {
            ignore_labels: Some(true),
            ignore_owner_refs: Some(true),
            ignore_metadata_fields: Some(vec!["namespace".to_owned()]),
            ..CompareOptions::default()
        };
        assert_eq!(differences(expected, found, &options), [""; 0]);
    }
}
