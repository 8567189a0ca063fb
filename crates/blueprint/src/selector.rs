//! Does a selector match an owner, and how specific is it?
//!
//! An absent or null field or label satisfies `NotIn` and `DoesNotExist`. Only strings can be `In` or
//! not `In` a list of values, since values are strings.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::jsonpath;
use crate::model::{FieldSelectorRequirement, LabelSelectorRequirement, Operator, Selector};
use crate::owner::Owner;

/// Says why a selector cannot be evaluated.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Error {
    /// The operator of a label requirement does not exist.
    #[error("operator [{0}] is invalid")]
    UnknownOperator(String),
    /// `In` or `NotIn` without values.
    #[error("must specify values with operator [{0:?}]")]
    ValuesMissing(Operator),
    /// `Exists` or `DoesNotExist` with values.
    #[error("cannot specify values with operator [{0:?}]")]
    ValuesForbidden(Operator),
    /// The key of a field requirement is no path, or cannot be followed in this owner.
    #[error("invalid jsonpath for key [{key}]: {reason}")]
    Key {
        /// The key.
        key: String,
        /// What is wrong with it.
        reason: jsonpath::Error,
    },
}

/// Returns how many requirements the selector has if the owner meets all of them, else `None`.
///
/// Fields are only looked at if the labels match, so a key that cannot be followed in this owner is
/// no error for an owner the selector was never for.
pub fn score(selector: &Selector, owner: &Owner) -> Result<Option<usize>, Error> {
    let labels = selector.match_labels.iter().flatten();
    let expressions = selector.match_expressions.iter().flatten();
    let fields = selector.match_fields.iter().flatten();
    let count = labels.clone().count() + expressions.clone().count() + fields.clone().count();

    let mut matches = labels
        .clone()
        .all(|(key, value)| owner.labels.get(key) == Some(value));
    for expression in expressions {
        matches &= label_matches(expression, &owner.labels)?;
    }
    for field in fields {
        matches = matches && field_matches(field, &owner.object)?;
    }
    Ok(matches.then_some(count))
}

fn label_matches(
    requirement: &LabelSelectorRequirement,
    labels: &BTreeMap<String, String>,
) -> Result<bool, Error> {
    let operator = match requirement.operator.as_str() {
        "In" => Operator::In,
        "NotIn" => Operator::NotIn,
        "Exists" => Operator::Exists,
        "DoesNotExist" => Operator::DoesNotExist,
        other => return Err(Error::UnknownOperator(other.to_owned())),
    };
    let values = requirement.values.as_deref().unwrap_or_default();
    check_values(operator, values)?;
    let label = labels.get(&requirement.key).cloned().map(Value::String);
    Ok(holds(operator, label.as_ref(), values))
}

fn field_matches(requirement: &FieldSelectorRequirement, object: &Value) -> Result<bool, Error> {
    let values = requirement.values.as_deref().unwrap_or_default();
    check_values(requirement.operator, values)?;
    let found = jsonpath::one(&requirement.key, object).map_err(|reason| Error::Key {
        key: requirement.key.clone(),
        reason,
    })?;
    Ok(holds(
        requirement.operator,
        found.as_deref().filter(|value| !value.is_null()),
        values,
    ))
}

fn check_values(operator: Operator, values: &[String]) -> Result<(), Error> {
    match (operator, values.is_empty()) {
        (Operator::In | Operator::NotIn, true) => Err(Error::ValuesMissing(operator)),
        (Operator::Exists | Operator::DoesNotExist, false) => Err(Error::ValuesForbidden(operator)),
        _ => Ok(()),
    }
}

/// Relates a value, absent or not, to a list of strings.
fn holds(operator: Operator, value: Option<&Value>, values: &[String]) -> bool {
    let is_listed = || {
        value
            .and_then(Value::as_str)
            .is_some_and(|text| values.iter().any(|v| v == text))
    };
    match operator {
        Operator::In => is_listed(),
        Operator::NotIn => !is_listed(),
        Operator::Exists => value.is_some(),
        Operator::DoesNotExist => value.is_none(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::owner::OwnerKind;

    fn owner() -> Owner {
        let object = json!({
            "metadata": {"name": "app", "namespace": "dev", "labels": {"type": "web", "tier": "1"}},
            "spec": {"image": null, "source": {"git": {"url": "https://host/app"}}, "params": []},
        });
        Owner::read(OwnerKind::Workload, object).unwrap()
    }

    fn scored(selector: Value) -> Result<Option<usize>, Error> {
        score(&serde_json::from_value(selector).unwrap(), &owner())
    }

    fn field(key: &str, operator: &str, values: &[&str]) -> bool {
        let requirement = json!({"key": key, "operator": operator, "values": values});
        scored(json!({"matchFields": [requirement]}))
            .unwrap()
            .is_some()
    }

    #[test]
    fn every_requirement_counts_and_must_hold() {
        assert_eq!(scored(json!({})), Ok(Some(0)));
        assert_eq!(scored(json!({"matchLabels": {"type": "web"}})), Ok(Some(1)));
        assert_eq!(
            scored(json!({"matchLabels": {"type": "web", "tier": "2"}})),
            Ok(None)
        );
        let all = json!({
            "matchLabels": {"type": "web", "tier": "1"},
            "matchExpressions": [{"key": "type", "operator": "In", "values": ["web", "job"]}],
            "matchFields": [{"key": "spec.source", "operator": "Exists"}],
        });
        assert_eq!(scored(all), Ok(Some(4)));
    }

    #[test]
    fn absent_and_null_fields_are_alike() {
        for key in ["spec.image", "spec.absent", "spec.absent.deeper"] {
            assert!(field(key, "NotIn", &["x"]), "{key}");
            assert!(field(key, "DoesNotExist", &[]), "{key}");
            assert!(!field(key, "In", &["x"]), "{key}");
            assert!(!field(key, "Exists", &[]), "{key}");
        }
    }

    #[test]
    fn present_fields_are_compared_as_strings() {
        let url = "spec.source.git.url";
        assert!(field(url, "In", &["https://host/app"]));
        assert!(!field(url, "NotIn", &["https://host/app"]));
        assert!(field(url, "Exists", &[]));
        assert!(!field(
            "spec.source",
            "In",
            &["map[git:map[url:https://host/app]]"]
        ));
        assert!(field("spec.source", "NotIn", &["x"]));
        assert!(field("spec.params", "Exists", &[]));
        assert!(field("metadata.labels.type", "In", &["web"]));
    }

    #[test]
    fn absent_labels_satisfy_not_in() {
        let absent = |operator, values: &[&str]| {
            scored(
                json!({"matchExpressions": [{"key": "none", "operator": operator, "values": values}]}),
            )
        };
        assert_eq!(absent("NotIn", &["x"]), Ok(Some(1)));
        assert_eq!(absent("DoesNotExist", &[]), Ok(Some(1)));
        assert_eq!(absent("In", &["x"]), Ok(None));
        assert_eq!(
            absent("Like", &["x"]),
            Err(Error::UnknownOperator("Like".to_owned()))
        );
        assert_eq!(absent("In", &[]), Err(Error::ValuesMissing(Operator::In)));
        assert_eq!(
            absent("Exists", &["x"]),
            Err(Error::ValuesForbidden(Operator::Exists))
        );
    }

    #[test]
    fn a_key_that_cannot_be_followed_is_an_error_once_the_labels_match() {
        let broken = json!([{"key": "spec.params[0]", "operator": "Exists"}]);
        let error = scored(json!({"matchFields": broken})).unwrap_err();
        assert_eq!(
            error.to_string(),
            "invalid jsonpath for key [spec.params[0]]: failed to find results: \
             array index out of bounds: index 0, length 0"
        );
        assert_eq!(
            scored(json!({"matchLabels": {"type": "job"}, "matchFields": broken})),
            Ok(None)
        );
    }
}
