//! JSON patch (RFC 6902), with the API server's readings of it.

use serde_json::Value;

use super::Error;
use crate::fields::same_value;
use crate::schema::strict;

/// The most operations one patch may have, as in the API server.
const MAX_OPERATIONS: usize = 10_000;

/// The most bytes that `copy` operations of one patch may add up to, as in the API server.
const MAX_COPIED: usize = 3 * 1024 * 1024;

/// Returns `target` with a JSON patch applied.
///
/// A `test` for null passes where there is nothing, as clients rely on.
pub(crate) fn json(target: &Value, patch: &Value) -> Result<Value, Error> {
    let Value::Array(operations) = patch else {
        return Err(Error::Malformed(
            "a JSON patch is a list of operations".to_owned(),
        ));
    };
    if operations.len() > MAX_OPERATIONS {
        let (limit, count) = (MAX_OPERATIONS, operations.len());
        return Err(Error::TooManyOperations { limit, count });
    }
    let mut document = Document {
        root: target.clone(),
        copied: 0,
    };
    for operation in operations {
        document.apply(&Operation::read(operation)?)?;
    }
    Ok(document.root)
}

enum Operation<'a> {
    Add { path: Pointer, value: &'a Value },
    Replace { path: Pointer, value: &'a Value },
    Test { path: Pointer, value: &'a Value },
    Remove { path: Pointer },
    Move { from: Pointer, path: Pointer },
    Copy { from: Pointer, path: Pointer },
}

impl<'a> Operation<'a> {
    fn read(operation: &'a Value) -> Result<Self, Error> {
        let wrong = |what: &str| format!("{what} in JSON patch: {operation}");
        if !operation.is_object() {
            return Err(Error::Malformed(wrong("an operation must be an object")));
        }
        let malformed = |what: &str| Error::Inapplicable(wrong(what));
        let pointer = |name: &str| {
            let text = operation.get(name).and_then(Value::as_str);
            let text = text.ok_or_else(|| malformed(&format!("missing {name:?}")))?;
            Pointer::parse(text).ok_or_else(|| malformed(&format!("malformed {name:?}")))
        };
        let value = || operation.get("value").unwrap_or(&Value::Null);
        let path = pointer("path")?;
        Ok(match operation.get("op").and_then(Value::as_str) {
            Some("add") => Self::Add {
                path,
                value: value(),
            },
            Some("replace") => Self::Replace {
                path,
                value: value(),
            },
            Some("test") => Self::Test {
                path,
                value: value(),
            },
            Some("remove") => Self::Remove { path },
            Some("move") => Self::Move {
                from: pointer("from")?,
                path,
            },
            Some("copy") => Self::Copy {
                from: pointer("from")?,
                path,
            },
            _ => return Err(malformed("unknown \"op\"")),
        })
    }
}

/// A JSON pointer (RFC 6901), unescaped.
struct Pointer {
    text: String,
    steps: Vec<String>,
}

impl Pointer {
    fn parse(text: &str) -> Option<Self> {
        let steps = match text.strip_prefix('/') {
            Some(rest) => rest.split('/').map(unescape).collect(),
            None if text.is_empty() => Vec::new(),
            None => return None,
        };
        Some(Self {
            text: text.to_owned(),
            steps,
        })
    }

    /// Refuses a value that would nest too deep here. Asked of every operation: what copies build out of
    /// copies doubles each time, and a value is recursed into by whoever prints or drops it.
    fn admits(&self, value: &Value) -> Result<(), Error> {
        strict::check_depth_at(self.steps.len(), value)
            .map_err(|error| Error::Inapplicable(error.to_string()))
    }

    fn is_within(&self, other: &Self) -> bool {
        self.steps.len() > other.steps.len() && self.steps.starts_with(&other.steps)
    }
}

fn unescape(step: &str) -> String {
    step.replace("~1", "/").replace("~0", "~")
}

struct Document {
    root: Value,
    copied: usize,
}

impl Document {
    fn apply(&mut self, operation: &Operation<'_>) -> Result<(), Error> {
        match operation {
            Operation::Add { path, value } => self.add(path, (*value).clone()),
            Operation::Replace { path, value } => self.replace(path, (*value).clone()),
            Operation::Test { path, value } => self.test(path, value),
            Operation::Remove { path } => self.remove("remove", path).map(drop),
            Operation::Move { from, path } if path.is_within(from) => {
                Err(failed("move", path, "a value cannot move into itself"))
            }
            Operation::Move { from, path } => {
                let value = self.remove("move", from)?;
                self.add(path, value)
            }
            Operation::Copy { from, path } => self.copy(from, path),
        }
    }

    fn test(&self, path: &Pointer, value: &Value) -> Result<(), Error> {
        let found = find(&self.root, &path.steps).unwrap_or(&Value::Null);
        if same_value(found, value) {
            return Ok(());
        }
        Err(Error::Inapplicable(format!(
            "testing value {} failed: test failed",
            path.text
        )))
    }

    fn copy(&mut self, from: &Pointer, path: &Pointer) -> Result<(), Error> {
        let value = find(&self.root, &from.steps)
            .ok_or_else(|| missing("copy", from))?
            .clone();
        self.copied += value.to_string().len();
        if self.copied > MAX_COPIED {
            let problem = format!("copied values would add up to more than {MAX_COPIED} bytes");
            return Err(failed("copy", path, &problem));
        }
        self.add(path, value)
    }

    fn add(&mut self, path: &Pointer, value: Value) -> Result<(), Error> {
        path.admits(&value)?;
        let Some((parent, last)) = self.parent(path) else {
            self.root = value;
            return Ok(());
        };
        match parent {
            Some(Value::Object(fields)) => {
                fields.insert(last.to_owned(), value);
                Ok(())
            }
            Some(Value::Array(items)) => {
                let index = if last == "-" {
                    Some(items.len())
                } else {
                    index(last)
                };
                match index {
                    Some(index) if index <= items.len() => {
                        items.insert(index, value);
                        Ok(())
                    }
                    _ => Err(failed("add", path, "the index is not in the list")),
                }
            }
            _ => Err(missing("add", path)),
        }
    }

    /// The API server lets `replace` add a field that an object does not have yet.
    fn replace(&mut self, path: &Pointer, value: Value) -> Result<(), Error> {
        path.admits(&value)?;
        if let Some(found) = find_mut(&mut self.root, &path.steps) {
            *found = value;
            return Ok(());
        }
        match self.parent(path) {
            Some((Some(Value::Object(fields)), last)) => {
                fields.insert(last.to_owned(), value);
                Ok(())
            }
            _ => Err(missing("replace", path)),
        }
    }

    fn remove(&mut self, operation: &str, path: &Pointer) -> Result<Value, Error> {
        let Some((parent, last)) = self.parent(path) else {
            return Err(failed(
                operation,
                path,
                "the whole document cannot be removed",
            ));
        };
        let removed = match parent {
            Some(Value::Object(fields)) => fields.remove(last),
            Some(Value::Array(items)) => index(last)
                .filter(|&index| index < items.len())
                .map(|index| items.remove(index)),
            _ => None,
        };
        removed.ok_or_else(|| missing(operation, path))
    }

    /// Returns what holds the last step of a path; `None` if the path is the whole document.
    fn parent<'p>(&mut self, path: &'p Pointer) -> Option<(Option<&mut Value>, &'p str)> {
        let (last, before) = path.steps.split_last()?;
        Some((find_mut(&mut self.root, before), last))
    }
}

fn find<'a>(root: &'a Value, steps: &[String]) -> Option<&'a Value> {
    steps.iter().try_fold(root, |value, step| match value {
        Value::Object(fields) => fields.get(step),
        Value::Array(items) => items.get(index(step)?),
        _ => None,
    })
}

fn find_mut<'a>(root: &'a mut Value, steps: &[String]) -> Option<&'a mut Value> {
    steps.iter().try_fold(root, |value, step| match value {
        Value::Object(fields) => fields.get_mut(step),
        Value::Array(items) => items.get_mut(index(step)?),
        _ => None,
    })
}

fn index(step: &str) -> Option<usize> {
    let canonical = step == "0" || !step.starts_with(['0', '+']);
    if canonical { step.parse().ok() } else { None }
}

fn missing(operation: &str, path: &Pointer) -> Error {
    failed(operation, path, "missing value")
}

fn failed(operation: &str, path: &Pointer, problem: &str) -> Error {
    let text = &path.text;
    Error::Inapplicable(format!(
        "{operation} operation does not apply: doc is missing path: {text:?}: {problem}"
    ))
}

#[cfg(test)]
mod tests {
    use pathline_testkit::cases;
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::testing::any_json;

    #[test]
    fn operations_do_what_the_rfc_says() {
        let target = json!({"a": {"b": [1, 2]}, "x/y": {"m~n": 1}});
        let cases = [
            (
                json!([{"op": "add", "path": "/a/b/1", "value": 9}]),
                json!([1, 9, 2]),
            ),
            (
                json!([{"op": "add", "path": "/a/b/-", "value": 9}]),
                json!([1, 2, 9]),
            ),
            (json!([{"op": "remove", "path": "/a/b/0"}]), json!([2])),
            (
                json!([{"op": "replace", "path": "/a/b/0", "value": null}]),
                json!([null, 2]),
            ),
            (
                json!([{"op": "move", "from": "/a/b/0", "path": "/a/b/1"}]),
                json!([2, 1]),
            ),
            (
                json!([{"op": "copy", "from": "/x~1y/m~0n", "path": "/a/b/0"}]),
                json!([1, 1, 2]),
            ),
        ];
        for (patch, expected) in cases {
            let result = json(&target, &patch).unwrap();
            assert_eq!(result["a"]["b"], expected, "{patch}");
        }
        assert_eq!(
            json(&target, &json!([{"op": "add", "path": "", "value": 1}])),
            Ok(json!(1))
        );
    }

    #[test]
    fn a_test_for_null_passes_where_there_is_nothing() {
        let target = json!({"metadata": {"name": "x"}});
        let patch = json!([
            {"op": "test", "path": "/metadata/finalizers", "value": null},
            {"op": "test", "path": "/metadata/name", "value": "x"},
            {"op": "add", "path": "/metadata/finalizers", "value": ["f"]}
        ]);
        assert_eq!(
            json(&target, &patch).unwrap()["metadata"]["finalizers"],
            json!(["f"])
        );
        let failing = json!([{"op": "test", "path": "/metadata/name", "value": null}]);
        let error = json(&target, &failing).unwrap_err();
        assert_eq!(
            error.to_string(),
            "testing value /metadata/name failed: test failed"
        );
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let target = json!({"a": [1]});
        let cases = [
            json!([{"op": "remove", "path": "/b"}]),
            json!([{"op": "replace", "path": "/b/c", "value": 1}]),
            json!([{"op": "replace", "path": "/a/1", "value": 1}]),
            json!([{"op": "add", "path": "/b/c", "value": 1}]),
            json!([{"op": "add", "path": "/a/2", "value": 1}]),
            json!([{"op": "remove", "path": "/a/01"}]),
            json!([{"op": "remove", "path": ""}]),
            json!([{"op": "move", "from": "/a", "path": "/a/0"}]),
            json!([{"op": "x", "path": ""}]),
            json!([{"op": "add"}]),
        ];
        for patch in cases {
            let result = json(&target, &patch);
            assert!(
                matches!(result, Err(Error::Inapplicable(_))),
                "{patch}: {result:?}"
            );
        }
        for patch in [json!({}), json!([1])] {
            let result = json(&target, &patch);
            assert!(
                matches!(result, Err(Error::Malformed(_))),
                "{patch}: {result:?}"
            );
        }
    }

    #[test]
    fn a_patch_cannot_nest_deeper_than_a_body() {
        let deeper = json!({"op": "copy", "from": "/a", "path": "/a/0/a"});
        let patch = Value::Array(vec![deeper; 60]);
        let result = json(&json!({"a": [{}]}), &patch);
        assert!(
            matches!(result, Err(Error::Inapplicable(_))),
            "120 levels are refused"
        );
    }

    /// Each copy goes below the innermost level of the one before, so that the depth doubles.
    #[test]
    fn hole_1_copies_into_copies_cannot_exhaust_the_stack() {
        let deeper = |levels: u32| {
            let path = "/a".repeat(2_usize.pow(levels) + 1);
            json!({"op": "copy", "from": "/a", "path": path})
        };
        let patch = Value::Array((0..17).map(deeper).collect());
        let result = json(&json!({"a": {}}), &patch);
        let Err(Error::Inapplicable(why)) = result else {
            panic!("131,072 levels are too many");
        };
        assert!(why.contains("exceeded max depth"), "{why}");
    }

    #[test]
    fn copies_cannot_grow_without_bound() {
        let doubling = json!({"op": "copy", "from": "/a", "path": "/a/-"});
        let patch = Value::Array(vec![doubling; 64]);
        let result = json(&json!({"a": ["x"]}), &patch);
        assert!(
            matches!(result, Err(Error::Inapplicable(_))),
            "doubling 64 times is stopped"
        );
        let many = Value::Array(vec![
            json!({"op": "test", "path": "/b"});
            MAX_OPERATIONS + 1
        ]);
        let count = MAX_OPERATIONS + 1;
        let expected = Error::TooManyOperations {
            limit: MAX_OPERATIONS,
            count,
        };
        assert_eq!(json(&json!({}), &many), Err(expected));
    }

    proptest! {
        #![proptest_config(cases(256))]

        #[test]
        fn applying_a_computed_difference_gives_the_other_value(
            from in any_json(), to in any_json()
        ) {
            let difference = serde_json::to_value(json_patch::diff(&from, &to)).unwrap();
            prop_assert_eq!(json(&from, &difference).unwrap(), to);
        }
    }
}
