//! Selectors as lists of requirements, each on one thing.

use std::fmt;

use pathline_jsonpath::JsonPath;
use pathline_kinds::carto::{Operator, Selector};

use crate::selector;

/// One requirement of a selector, whichever of its three parts it stands in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Requirement {
    /// The label or field that it is on.
    pub(super) subject: Subject,
    /// The relation of that to the values.
    pub(super) operator: Operator,
    /// The values, for `In` and `NotIn`.
    pub(super) values: Vec<String>,
    /// The key as it was written.
    pub(super) key: String,
}

/// The label or field that a requirement is on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Subject {
    /// A field, by the names that lead to it. A label is the field below `metadata.labels`.
    Field(Vec<String>),
    /// Whatever this key finds.
    Free(String),
    /// Nothing: the requirement is an error for every owner.
    Broken,
}

/// Reads a selector, in the order in which its requirements are evaluated.
pub(super) fn requirements(selector: &Selector) -> Vec<Requirement> {
    let mut all: Vec<Requirement> = selector::requirements(selector)
        .map(Requirement::read)
        .collect();
    // A requirement on labels that cannot be evaluated is an error before anything is looked at.
    let labels = selector::requirements(selector)
        .map(|one| matches!(one.subject, selector::Subject::Label(_)));
    let is_broken =
        |(one, is_label): (&Requirement, bool)| is_label && one.subject == Subject::Broken;
    if let Some(place) = all.iter().zip(labels).position(is_broken) {
        all.swap(0, place);
    }
    all
}

impl Requirement {
    fn read(requirement: selector::Requirement<'_>) -> Self {
        let (subject, key) = match requirement.subject {
            selector::Subject::Label(key) => (label(key), key),
            selector::Subject::Field(key) => (field(key), key),
        };
        let operator = requirement.operator().ok();
        Self {
            subject: operator.map_or(Subject::Broken, |_| subject),
            operator: operator.unwrap_or(Operator::Exists),
            values: requirement.values.to_vec(),
            key: key.to_owned(),
        }
    }

    /// Returns its key if it is free.
    pub(super) fn free_key(&self) -> Option<&str> {
        match &self.subject {
            Subject::Free(key) => Some(key),
            Subject::Field(_) | Subject::Broken => None,
        }
    }
}

fn label(key: &str) -> Subject {
    Subject::Field(["metadata", "labels", key].map(str::to_owned).to_vec())
}

fn field(key: &str) -> Subject {
    let Ok(path) = JsonPath::parse(key) else {
        return Subject::Broken;
    };
    path.names().map_or_else(
        || Subject::Free(key.to_owned()),
        |names| Subject::Field(names.into_iter().map(str::to_owned).collect()),
    )
}

/// As messages name it: `a`, not `a`, `a=1`, `a in (1, 2)`, `a not in (1, 2)`.
impl fmt::Display for Requirement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (key, values) = (&self.key, self.values.join(", "));
        match self.operator {
            Operator::Exists => write!(f, "`{key}`"),
            Operator::DoesNotExist => write!(f, "not `{key}`"),
            Operator::In if self.values.len() == 1 => write!(f, "`{key}={values}`"),
            Operator::In => write!(f, "`{key} in ({values})`"),
            Operator::NotIn if self.values.len() == 1 => write!(f, "not `{key}={values}`"),
            Operator::NotIn => write!(f, "`{key} not in ({values})`"),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(selector: &serde_json::Value) -> Vec<Requirement> {
        requirements(&serde_json::from_value(selector.clone()).unwrap())
    }

    #[test]
    fn a_label_and_its_field_are_one_subject() {
        let all = read(&json!({
            "matchLabels": {"a": "1"},
            "matchExpressions": [{"key": "a", "operator": "Exists"}],
            "matchFields": [
                {"key": "metadata.labels.a", "operator": "DoesNotExist"},
                {"key": "{.metadata['labels'].a}", "operator": "NotIn", "values": ["1", "2"]},
            ],
        }));
        assert!(all.iter().all(|one| one.subject == label("a")));
        let told: Vec<String> = all.iter().map(ToString::to_string).collect();
        assert_eq!(
            told,
            [
                "`a=1`",
                "`a`",
                "not `metadata.labels.a`",
                "`{.metadata['labels'].a} not in (1, 2)`"
            ]
        );
    }

    #[test]
    fn filters_are_free_and_what_is_no_requirement_is_broken() {
        let subject = |key: &str, operator: &str| {
            let all = read(&json!({"matchFields": [{"key": key, "operator": operator}]}));
            all[0].subject.clone()
        };
        let key = "spec.params[0].name";
        assert_eq!(subject(key, "Exists"), Subject::Free(key.to_owned()));
        assert_eq!(subject("spec[", "Exists"), Subject::Broken);
        assert_eq!(subject("spec", "Like"), Subject::Broken);
        assert_eq!(subject("spec", "In"), Subject::Broken);
    }

    #[test]
    fn a_broken_label_comes_before_everything() {
        let all = read(&json!({
            "matchLabels": {"a": "1"},
            "matchExpressions": [{"key": "b", "operator": "Like"}],
        }));
        assert_eq!([&all[0].key, &all[1].key], ["b", "a"]);
    }
}
