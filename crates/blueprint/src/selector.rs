//! Does a selector match an owner, and how specific is it?
//!
//! An absent or null field or label satisfies `NotIn` and `DoesNotExist`. Only strings can be `In` or
//! not `In` a list of values, since values are strings.

use pathline_jsonpath as jsonpath;
use pathline_kinds::carto::{Operator, Selector};
use serde_json::Value;

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
        /// The fault in it.
        reason: jsonpath::Error,
    },
}

/// One thing that a selector asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Requirement<'s> {
    /// The label or field that is looked at.
    pub subject: Subject<'s>,
    /// The relation of what is found there to the values, as it is written.
    pub operator: &'s str,
    /// The values.
    pub values: &'s [String],
}

/// The label or field that a requirement is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Subject<'s> {
    /// The label of this name.
    Label(&'s str),
    /// The field at this path.
    Field(&'s str),
}

/// Returns everything a selector asks for: labels with their values, expressions, fields, in this order.
pub fn requirements(selector: &Selector) -> impl Iterator<Item = Requirement<'_>> {
    let labels = selector.match_labels.iter().flatten();
    let labels = labels.map(|(key, value)| Requirement {
        subject: Subject::Label(key),
        operator: Operator::In.name(),
        values: std::slice::from_ref(value),
    });
    let expressions = selector.match_expressions.iter().flatten();
    let expressions = expressions.map(|expression| Requirement {
        subject: Subject::Label(&expression.key),
        operator: &expression.operator,
        values: expression.values.as_deref().unwrap_or_default(),
    });
    let fields = selector.match_fields.iter().flatten();
    let fields = fields.map(|field| Requirement {
        subject: Subject::Field(&field.key),
        operator: &field.operator,
        values: field.values.as_deref().unwrap_or_default(),
    });
    labels.chain(expressions).chain(fields)
}

impl Requirement<'_> {
    /// Returns the operator.
    ///
    /// # Errors
    ///
    /// Fails if it does not exist or does not go with the values.
    pub fn operator(&self) -> Result<Operator, Error> {
        let operator = Operator::named(self.operator)
            .ok_or_else(|| Error::UnknownOperator(self.operator.to_owned()))?;
        match (operator, self.values.is_empty()) {
            (Operator::In | Operator::NotIn, true) => Err(Error::ValuesMissing(operator)),
            (Operator::Exists | Operator::DoesNotExist, false) => {
                Err(Error::ValuesForbidden(operator))
            }
            _ => Ok(operator),
        }
    }

    /// Tells whether it holds for an owner.
    pub(crate) fn holds(&self, owner: &Owner) -> Result<bool, Error> {
        let operator = self.operator()?;
        match self.subject {
            Subject::Label(key) => {
                let label = owner.labels.get(key);
                Ok(holds(
                    operator,
                    label.map(|label| Some(label.as_str())),
                    self.values,
                ))
            }
            Subject::Field(key) => {
                let found = jsonpath::one(key, &owner.object).map_err(|reason| Error::Key {
                    key: key.to_owned(),
                    reason,
                })?;
                Ok(holds(
                    operator,
                    found.as_deref().and_then(text),
                    self.values,
                ))
            }
        }
    }
}

/// Returns how many requirements the selector has if the owner meets all of them, else `None`.
///
/// Fields are only looked at if the labels match, so a key that cannot be followed in this owner is
/// no error for an owner the selector was never for.
///
/// # Errors
///
/// Fails if a requirement has no operator, or a field cannot be looked up in this owner.
pub fn score(selector: &Selector, owner: &Owner) -> Result<Option<usize>, Error> {
    let mut matches = true;
    let mut count = 0;
    for requirement in requirements(selector) {
        let is_label = matches!(requirement.subject, Subject::Label(_));
        if is_label || matches {
            matches &= requirement.holds(owner)?;
        }
        count += 1;
    }
    Ok(matches.then_some(count))
}

/// Returns what there is to compare in a value: nothing if it is null, no text if it is no string.
pub(crate) fn text(value: &Value) -> Option<Option<&str>> {
    (!value.is_null()).then(|| value.as_str())
}

/// Relates a value to a list of strings. The value may be absent, and may be something else than text.
pub(crate) fn holds(operator: Operator, value: Option<Option<&str>>, values: &[String]) -> bool {
    let is_listed = || {
        value
            .flatten()
            .is_some_and(|text| values.iter().any(|listed| listed == text))
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
