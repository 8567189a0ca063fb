//! Spellings of selectors that are accepted though they are not the API's.
//!
//! The first text about multi-path blueprints wrote `matchFields` as one object, `operation` for
//! `operator`, operators in lower case, and `spec.source.url` for `spec.source.git.url`. All of these
//! are read as what they mean, wherever an option or a resource is selected by fields; each is worth a
//! warning. Requirements on labels and the shape of the blueprint's own selector are never loose.

use pathline_jsonpath::FieldPath;
use serde::Deserialize;
use serde::de::Error as _;
use serde_json::{Map, Value};

use crate::carto::{FieldSelectorRequirement, Operator};
use crate::field_path;

/// One place that is written loosely.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Looseness {
    /// The way in which it is loose.
    pub kind: LoosenessKind,
    /// The path to it, in the object as it was written.
    pub path: FieldPath,
}

/// The way in which a spelling is loose.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LoosenessKind {
    /// `matchFields` is one requirement instead of a list.
    SingleField,
    /// The operator stands under `operation`.
    Operation,
    /// The operator is not spelled as the API spells it.
    OperatorCase {
        /// The operator as it is written.
        written: String,
        /// The operator that it is read as.
        meant: Operator,
    },
    /// `spec.source.url` stands for `spec.source.git.url`.
    SourceUrl,
}

impl LoosenessKind {
    /// Returns a short name for findings.
    pub fn code(&self) -> &'static str {
        match self {
            Self::SingleField => "single-match-field",
            Self::Operation => "operation",
            Self::OperatorCase { .. } => "operator-case",
            Self::SourceUrl => "source-url",
        }
    }

    /// Says what to write instead.
    pub fn message(&self) -> String {
        match self {
            Self::SingleField => {
                "`matchFields` is one requirement; write a list with one item".to_owned()
            }
            Self::Operation => "`operation` is read as `operator`; write `operator`".to_owned(),
            Self::OperatorCase { written, meant } => format!(
                "operator `{written}` is read as `{meant}`; write `{meant}`",
                meant = meant.name()
            ),
            Self::SourceUrl => {
                format!("`{LOOSE_URL}` is read as `{SOURCE_URL}`; write `{SOURCE_URL}`")
            }
        }
    }
}

const LOOSE_URL: &str = "spec.source.url";
const SOURCE_URL: &str = "spec.source.git.url";

/// Rewrites a blueprint into the spelling of the API, and returns what was loose, in order.
///
/// Whatever is not shaped like a blueprint is left as it is.
pub fn correct_blueprint(object: &mut Value) -> Vec<Looseness> {
    let mut found = Vec::new();
    let spec = FieldPath::default().field("spec");
    for (index, requirement) in list(object, "/spec/selectorMatchFields") {
        let at = spec.field("selectorMatchFields").index(index);
        correct_field_key(requirement, &at, &mut found);
    }
    for (index, resource) in list(object, "/spec/resources") {
        let at = field_path::resource(index);
        correct_selector(resource, &at, &mut found);
        for (index, option) in list(resource, "/templateRef/options") {
            correct_selector(option, &field_path::option(&at, index), &mut found);
        }
    }
    found
}

/// Reads `spec.source.url` of an owner as `spec.source.git.url`, and returns whether it was there.
///
/// An owner that has both keeps the real one, and null is not there.
pub fn correct_owner(object: &mut Value) -> Option<Looseness> {
    let source = object.pointer_mut("/spec/source")?.as_object_mut()?;
    if source.get("url").is_none_or(Value::is_null) {
        return None;
    }
    let git = source.entry("git").or_insert(Value::Null);
    if git.is_null() {
        *git = Value::Object(Map::new());
    }
    if !git.is_object() {
        return None;
    }
    let url = source.remove("url")?;
    let real = &mut source["git"]["url"];
    if real.is_null() {
        *real = url;
    }
    let source = FieldPath::default().field("spec").field("source");
    Some(Looseness {
        kind: LoosenessKind::SourceUrl,
        path: source.field("url"),
    })
}

/// Reads a key as the one that is meant. Returns whether that is another one.
pub(crate) fn correct_key(key: &mut String) -> bool {
    let is_loose = key == LOOSE_URL;
    if is_loose {
        SOURCE_URL.clone_into(key);
    }
    is_loose
}

/// Reads requirements on fields, however they are written.
pub(crate) fn deserialize_fields<'de, D: serde::Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Vec<FieldSelectorRequirement>>, D::Error> {
    let mut fields = Value::deserialize(deserializer)?;
    correct_fields(&mut fields, &FieldPath::default(), &mut Vec::new());
    Option::deserialize(fields).map_err(D::Error::custom)
}

fn list<'v>(value: &'v mut Value, pointer: &str) -> impl Iterator<Item = (usize, &'v mut Value)> {
    let items = value.pointer_mut(pointer).and_then(Value::as_array_mut);
    items.into_iter().flatten().enumerate()
}

fn correct_selector(holder: &mut Value, at: &FieldPath, found: &mut Vec<Looseness>) {
    if let Some(fields) = holder.pointer_mut("/selector/matchFields") {
        let at = at.field("selector").field("matchFields");
        correct_fields(fields, &at, found);
    }
}

fn correct_fields(fields: &mut Value, at: &FieldPath, found: &mut Vec<Looseness>) {
    match fields {
        Value::Object(_) => {
            found.push(Looseness {
                kind: LoosenessKind::SingleField,
                path: at.clone(),
            });
            correct_field(fields, at, found);
            *fields = Value::Array(vec![fields.take()]);
        }
        Value::Array(requirements) => {
            for (index, requirement) in requirements.iter_mut().enumerate() {
                correct_field(requirement, &at.index(index), found);
            }
        }
        _ => {}
    }
}

fn correct_field(requirement: &mut Value, at: &FieldPath, found: &mut Vec<Looseness>) {
    correct_field_key(requirement, at, found);
    let Some(requirement) = requirement.as_object_mut() else {
        return;
    };
    let mut field = "operator";
    if !requirement.contains_key("operator")
        && let Some(operator) = requirement.remove("operation")
    {
        field = "operation";
        requirement.insert("operator".to_owned(), operator);
        found.push(Looseness {
            kind: LoosenessKind::Operation,
            path: at.field(field),
        });
    }
    if let Some(Value::String(operator)) = requirement.get_mut("operator")
        && let Some(meant) = operator_meant(operator)
    {
        let written = std::mem::replace(operator, meant.name().to_owned());
        found.push(Looseness {
            kind: LoosenessKind::OperatorCase { written, meant },
            path: at.field(field),
        });
    }
}

fn correct_field_key(requirement: &mut Value, at: &FieldPath, found: &mut Vec<Looseness>) {
    if let Some(Value::String(key)) = requirement.get_mut("key")
        && correct_key(key)
    {
        found.push(Looseness {
            kind: LoosenessKind::SourceUrl,
            path: at.field("key"),
        });
    }
}

/// Returns the operator that is meant, if it is written in another case.
fn operator_meant(written: &str) -> Option<Operator> {
    Operator::ALL
        .into_iter()
        .find(|known| known.name().eq_ignore_ascii_case(written) && known.name() != written)
}

#[cfg(test)]
#[expect(
    clippy::needless_pass_by_value,
    reason = "a literal is given away at the call"
)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::carto::Selector;

    fn fields(written: Value) -> Result<Value, serde_json::Error> {
        let selector: Selector = serde_json::from_value(json!({"matchFields": written}))?;
        serde_json::to_value(selector.match_fields)
    }

    #[test]
    fn operators_are_read_in_any_case_and_under_either_name() {
        let written = json!([
            {"key": "a", "operator": "exists"},
            {"key": "b", "operation": "DOESNOTEXIST"},
            {"key": "c", "operator": "notIn", "operation": "In", "values": ["x"]},
            {"key": "d", "operator": "Like"},
        ]);
        let meant = json!([
            {"key": "a", "operator": "Exists"},
            {"key": "b", "operator": "DoesNotExist"},
            {"key": "c", "operator": "NotIn", "values": ["x"]},
            {"key": "d", "operator": "Like"},
        ]);
        assert_eq!(fields(written).unwrap(), meant);
    }

    #[test]
    fn null_fields_are_none_and_other_shapes_are_refused() {
        assert_eq!(fields(Value::Null).unwrap(), Value::Null);
        assert_eq!(fields(json!([])).unwrap(), json!([]));
        for written in [json!("text"), json!({}), json!([["key"]])] {
            assert!(fields(written.clone()).is_err(), "{written}");
        }
    }

    #[test]
    fn the_key_of_a_blueprints_own_selector_is_corrected_but_not_its_shape() {
        let mut blueprint = json!({"spec": {"selectorMatchFields": [
            {"key": "spec.source.url", "operator": "exists"},
        ]}});
        let found = correct_blueprint(&mut blueprint);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].path.to_string(), "spec.selectorMatchFields[0].key");
        assert_eq!(
            blueprint["spec"]["selectorMatchFields"][0],
            json!({"key": "spec.source.git.url", "operator": "exists"})
        );
    }
}
