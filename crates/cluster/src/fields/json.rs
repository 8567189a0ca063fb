//! `FieldsV1`: a trie of paths as JSON.
//!
//! A member is a key (`f:` field, `k:` key, `v:` value, `i:` index) with an empty object; `.` marks
//! a member that also has members below it.

use serde_json::{Map, Value};

use super::element::canonical;
use super::{FieldSet, PathElement};

/// The reason for which a `FieldsV1` value is not one.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub(crate) enum ParseError {
    /// A level of the trie is not an object.
    #[error("expected an object of fields, found {0}")]
    NotAnObject(String),
    /// A key has no known prefix, or what follows the prefix is malformed.
    #[error("invalid path element {0:?}")]
    Element(String),
}

impl FieldSet {
    /// Reads a `FieldsV1` value.
    pub(crate) fn from_fields_v1(value: &Value) -> Result<Self, ParseError> {
        let Value::Object(fields) = value else {
            return Err(ParseError::NotAnObject(value.to_string()));
        };
        let mut set = Self::default();
        for (key, below) in fields.iter().filter(|(key, _)| *key != ".") {
            let element = parse_element(key)?;
            let child = Self::from_fields_v1(below)?;
            if child.is_empty() || below.get(".").is_some() {
                set.insert_member(element.clone());
            }
            set.insert_child(element, child);
        }
        Ok(set)
    }

    /// Prints the set as a `FieldsV1` value.
    pub(crate) fn to_fields_v1(&self) -> Value {
        let mut fields = Map::new();
        for element in self.members() {
            fields.insert(print_element(element), Value::Object(Map::new()));
        }
        for (element, child) in self.children() {
            let mut below = child.to_fields_v1();
            if self.has(element) {
                below["."] = Value::Object(Map::new());
            }
            fields.insert(print_element(element), below);
        }
        Value::Object(fields)
    }
}

fn parse_element(key: &str) -> Result<PathElement, ParseError> {
    let malformed = || ParseError::Element(key.to_owned());
    let (prefix, rest) = key.split_once(':').ok_or_else(malformed)?;
    match prefix {
        "f" => Ok(PathElement::field(rest)),
        "k" => match serde_json::from_str(rest) {
            Ok(Value::Object(fields)) => Ok(PathElement::key(fields)),
            _ => Err(malformed()),
        },
        "v" => {
            let value: Value = serde_json::from_str(rest).map_err(|_| malformed())?;
            Ok(PathElement::Value(canonical(&value)))
        }
        "i" => rest
            .parse()
            .map(PathElement::Index)
            .map_err(|_| malformed()),
        _ => Err(malformed()),
    }
}

fn print_element(element: &PathElement) -> String {
    match element {
        PathElement::Field(name) => format!("f:{name}"),
        PathElement::Key(json) => format!("k:{json}"),
        PathElement::Value(json) => format!("v:{json}"),
        PathElement::Index(index) => format!("i:{index}"),
    }
}

#[cfg(test)]
mod tests {
    use pathline_testkit::cases;
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::fields::Path;

    fn element() -> impl Strategy<Value = PathElement> {
        prop_oneof![
            "[a-c.]{1,2}".prop_map(PathElement::Field),
            "[ab]".prop_map(|name| PathElement::key(Map::from_iter([(
                "name".to_owned(),
                Value::from(name)
            )]))),
            (0..3i64).prop_map(|number| PathElement::value(&json!(number))),
            (0..3i64).prop_map(PathElement::Index),
        ]
    }

    fn set() -> impl Strategy<Value = FieldSet> {
        prop::collection::vec(prop::collection::vec(element(), 1..4), 0..8)
            .prop_map(|paths| paths.into_iter().map(Path).collect())
    }

    proptest! {
        #![proptest_config(cases(256))]

        #[test]
        fn printed_sets_read_back_equal(set in set()) {
            prop_assert_eq!(FieldSet::from_fields_v1(&set.to_fields_v1()).unwrap(), set);
        }

        #[test]
        fn algebra_agrees_with_sets_of_paths(a in set(), b in set()) {
            use std::collections::BTreeSet;
            let paths = |set: &FieldSet| set.paths().into_iter().collect::<BTreeSet<_>>();
            let (pa, pb) = (paths(&a), paths(&b));
            prop_assert_eq!(paths(&a.union(&b)), &pa | &pb);
            prop_assert_eq!(paths(&a.intersection(&b)), &pa & &pb);
            prop_assert_eq!(paths(&a.difference(&b)), &pa - &pb);
            let below = |path: &Path| (1..=path.0.len()).any(|end| b.contains(&path.0[..end]));
            let outside: BTreeSet<_> = pa.iter().filter(|path| !below(path)).cloned().collect();
            prop_assert_eq!(paths(&a.without(&b)), outside);
        }

        #[test]
        fn equal_sets_of_paths_are_equal_tries(a in set(), b in set()) {
            prop_assert_eq!(a.union(&b).difference(&b).union(&b), a.union(&b));
        }
    }

    #[test]
    fn a_member_with_members_below_it_carries_a_dot() {
        let fields = json!({"f:metadata": {"f:labels": {".": {}, "f:app": {}}}});
        let set = FieldSet::from_fields_v1(&fields).unwrap();
        let shown: Vec<String> = set.paths().iter().map(ToString::to_string).collect();
        assert_eq!(shown, [".metadata.labels", ".metadata.labels.app"]);
        assert_eq!(set.to_fields_v1(), fields);
    }

    #[test]
    fn keys_print_as_the_api_server_shows_them() {
        let fields =
            json!({"f:spec": {"k:{\"protocol\":\"TCP\",\"port\":80.0}": {}, "v:\"x\"": {}}});
        let set = FieldSet::from_fields_v1(&fields).unwrap();
        let shown: Vec<String> = set.paths().iter().map(ToString::to_string).collect();
        assert_eq!(
            shown,
            [r#".spec[port=80,protocol="TCP"]"#, r#".spec[="x"]"#]
        );
    }

    #[test]
    fn malformed_elements_are_named() {
        for key in ["", "x:y", "k:[]", "v:", "i:one", "nothing"] {
            let read = FieldSet::from_fields_v1(&json!({key: {}}));
            assert_eq!(
                read,
                Err(ParseError::Element(key.to_owned())),
                "{key:?} is refused"
            );
        }
        assert!(
            FieldSet::from_fields_v1(&json!({"f:a": null})).is_err(),
            "null is no level"
        );
    }
}
