//! JSON merge patch (RFC 7386).

use serde_json::{Map, Value};

/// Returns `target` with a merge patch applied: null removes, objects merge, the rest replaces.
pub(crate) fn merge(target: Value, patch: &Value) -> Value {
    let Value::Object(changes) = patch else {
        return patch.clone();
    };
    let mut fields = match target {
        Value::Object(fields) => fields,
        _ => Map::new(),
    };
    for (name, change) in changes {
        if change.is_null() {
            fields.remove(name);
        } else {
            let before = fields.remove(name).unwrap_or_default();
            fields.insert(name.clone(), merge(before, change));
        }
    }
    Value::Object(fields)
}

#[cfg(test)]
mod tests {
    use pathline_testkit::cases;
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::testing::any_json;

    #[test]
    fn null_removes_and_lists_replace() {
        let target = json!({"a": {"b": 1, "c": 2}, "l": [1, 2], "x": 1});
        let patch = json!({"a": {"b": null, "d": {"e": null}}, "l": [3], "x": {"y": 1}});
        let expected = json!({"a": {"c": 2, "d": {}}, "l": [3], "x": {"y": 1}});
        assert_eq!(merge(target, &patch), expected);
    }

    proptest! {
        #![proptest_config(cases(256))]

        #[test]
        fn merging_agrees_with_an_independent_implementation(
            target in any_json(), patch in any_json()
        ) {
            let mut expected = target.clone();
            json_patch::merge(&mut expected, &patch);
            prop_assert_eq!(merge(target, &patch), expected);
        }

        #[test]
        fn merging_twice_changes_nothing_more(target in any_json(), patch in any_json()) {
            let once = merge(target, &patch);
            prop_assert_eq!(merge(once.clone(), &patch), once);
        }
    }
}
