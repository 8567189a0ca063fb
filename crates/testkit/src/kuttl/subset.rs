//! The comparison of an object with what a test expects it to hold.

use serde_json::Value;

/// Says where an object is not as expected.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{path}: {why}")]
pub(super) struct Mismatch {
    path: String,
    why: String,
}

/// Checks that `actual` has all of `expected`: maps may have more, lists may not, and scalars are
/// equal, also in type.
pub(super) fn check(expected: &Value, actual: &Value) -> Result<(), Mismatch> {
    check_at("", expected, actual)
}

fn check_at(path: &str, expected: &Value, actual: &Value) -> Result<(), Mismatch> {
    let mismatch = |why: String| {
        let path = if path.is_empty() { "." } else { path };
        Err(Mismatch {
            path: path.to_owned(),
            why,
        })
    };
    match (expected, actual) {
        (Value::Object(expected), Value::Object(actual)) => {
            expected.iter().try_for_each(|(key, expected)| {
                let path = format!("{path}.{key}");
                match actual.get(key) {
                    Some(actual) => check_at(&path, expected, actual),
                    None => Err(Mismatch {
                        path,
                        why: format!("is missing, and should be {expected}"),
                    }),
                }
            })
        }
        (Value::Array(expected), Value::Array(actual)) if expected.len() != actual.len() => {
            let (expected, actual) = (expected.len(), actual.len());
            mismatch(format!("has {actual} items, and should have {expected}"))
        }
        (Value::Array(expected), Value::Array(actual)) => {
            let pairs = expected.iter().zip(actual).enumerate();
            pairs
                .into_iter()
                .try_for_each(|(index, (expected, actual))| {
                    check_at(&format!("{path}[{index}]"), expected, actual)
                })
        }
        _ if expected == actual => Ok(()),
        _ => mismatch(format!("is {actual}, and should be {expected}")),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_map_may_have_more() {
        let actual = json!({"a": {"b": 1, "c": [{"d": "x", "e": null}]}, "f": true});
        for expected in [
            json!({}),
            json!({"a": {}}),
            json!({"a": {"c": [{}]}}),
            json!({"a": {"c": [{"e": null}]}, "f": true}),
        ] {
            assert_eq!(check(&expected, &actual), Ok(()), "{expected}");
        }
    }

    #[test]
    fn all_else_must_be_equal() {
        let actual = json!({"a": [1, 2], "b": 1, "c": "1", "d": null, "e": {"f": {}}});
        let cases = [
            (json!({"a": [1]}), ".a: has 2 items, and should have 1"),
            (json!({"a": []}), ".a: has 2 items, and should have 0"),
            (json!({"a": [2, 1]}), ".a[0]: is 1, and should be 2"),
            (json!({"a": {}}), ".a: is [1,2], and should be {}"),
            (json!({"b": 1.0}), ".b: is 1, and should be 1.0"),
            (json!({"b": "1"}), ".b: is 1, and should be \"1\""),
            (json!({"c": 1}), ".c: is \"1\", and should be 1"),
            (json!({"d": {}}), ".d: is null, and should be {}"),
            (json!({"d": "x"}), ".d: is null, and should be \"x\""),
            (json!({"e": null}), ".e: is {\"f\":{}}, and should be null"),
            (
                json!({"e": {"f": {"g": null}}}),
                ".e.f.g: is missing, and should be null",
            ),
            (
                json!([]),
                ".: is {\"a\":[1,2],\"b\":1,\"c\":\"1\",\"d\":null,\"e\":{\"f\":{}}}, and should be []",
            ),
        ];
        for (expected, why) in cases {
            let mismatch = check(&expected, &actual).unwrap_err();
            assert_eq!(mismatch.to_string(), why, "{expected}");
        }
    }
}
