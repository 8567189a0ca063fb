//! The rules of selectors: of blueprints, of options and of resources.

use pathline_jsonpath::{self as jsonpath, JsonPath, Template};
use pathline_kinds::carto::Operator;
use pathline_kinds::names;
use serde_json::Value;

use super::node::Node;
use super::{Refusal, Rule};
use crate::owner::OwnerKind;

/// The members of a selector, as they are spelled in blueprints and in options.
#[derive(Debug, Clone, Copy)]
pub(super) struct Spelling {
    labels: &'static str,
    expressions: &'static str,
    fields: &'static str,
    labels_broken: &'static str,
    expressions_broken: &'static str,
}

impl Spelling {
    /// The spelling of the selector of a blueprint itself.
    pub(super) const BLUEPRINT: Self = Self {
        labels: "selector",
        expressions: "selectorMatchExpressions",
        fields: "selectorMatchFields",
        labels_broken: "selector is not valid",
        expressions_broken: "selectorMatchExpressions are not valid",
    };
    /// The spelling of the selectors of options and resources.
    pub(super) const OPTION: Self = Self {
        labels: "matchLabels",
        expressions: "matchExpressions",
        fields: "matchFields",
        labels_broken: "matchLabels are not valid",
        expressions_broken: "matchExpressions are not valid",
    };

    /// Says whether the selector asks nothing.
    pub(super) fn is_empty(self, selector: &Node<'_>) -> bool {
        [self.labels, self.expressions, self.fields]
            .into_iter()
            .all(|member| selector.is_empty(member))
    }

    /// Returns what is wrong with the selector.
    pub(super) fn check(self, selector: &Node<'_>, owner: OwnerKind) -> Vec<Refusal> {
        let mut refusals = Vec::new();
        if let Some(labels) = selector.get(self.labels) {
            refusals.extend(labels_wrong(&labels, self.labels_broken));
        }
        for expression in selector.items(self.expressions) {
            refusals.extend(expression_wrong(&expression, self.expressions_broken));
        }
        if let Some(fields) = selector.get(self.fields) {
            refusals.extend(fields_wrong(&fields, owner));
        }
        refusals
    }
}

fn labels_wrong(labels: &Node<'_>, broken: &str) -> Vec<Refusal> {
    let pairs = labels.value.as_object().into_iter().flatten();
    let wrong = pairs.filter_map(|(key, value)| {
        let value = value.as_str().unwrap_or_default();
        let mut problems = key_wrong(key);
        problems.extend(value_wrong(key, 0, value));
        let message = format!("{broken}: {}", aggregate(&problems)?);
        Some(labels.nearest(key).refuse(Rule::BrokenSelector, message))
    });
    wrong.collect()
}

fn expression_wrong(expression: &Node<'_>, broken: &str) -> Option<Refusal> {
    let key = expression.text("key").unwrap_or_default();
    let operator = expression.text("operator").unwrap_or_default();
    let values = expression.items("values");
    let texts: Vec<&str> = values
        .iter()
        .filter_map(|node| node.value.as_str())
        .collect();
    let refuse = |node: Node<'_>, problem: &str| {
        Some(node.refuse(Rule::BrokenSelector, format!("{broken}: {problem}")))
    };
    let Some(known) = Operator::named(operator) else {
        let problem = format!("{operator:?} is not a valid label selector operator");
        return refuse(expression.nearest("operator"), &problem);
    };
    let mut problems = key_wrong(key);
    problems.extend(match (takes_values(known), texts.is_empty()) {
        (true, true) => Some(
            "values: Invalid value: []string(nil): for 'in', 'notin' operators, values set can't \
             be empty"
                .to_owned(),
        ),
        (false, false) => Some(format!(
            "values: Invalid value: []string{{{}}}: values set must be empty for exists and does \
             not exist",
            texts
                .iter()
                .map(|text| format!("{text:?}"))
                .collect::<Vec<_>>()
                .join(", ")
        )),
        (true, false) | (false, true) => None,
    });
    for (index, value) in texts.iter().enumerate() {
        problems.extend(value_wrong(key, index, value));
    }
    refuse(expression.clone(), &aggregate(&problems)?)
}

fn key_wrong(key: &str) -> Vec<String> {
    invalid("key", key, &names::label_key(key))
        .into_iter()
        .collect()
}

fn value_wrong(key: &str, index: usize, value: &str) -> Option<String> {
    invalid(
        &format!("values[{index}][{key}]"),
        value,
        &names::label_value(value),
    )
}

fn invalid(field: &str, value: &str, problems: &[String]) -> Option<String> {
    (!problems.is_empty())
        .then(|| format!("{field}: Invalid value: {value:?}: {}", problems.join("; ")))
}

/// Joins problems as Kubernetes does: one stands alone, several stand in brackets.
fn aggregate(problems: &[String]) -> Option<String> {
    match problems {
        [] => None,
        [one] => Some(one.clone()),
        several => Some(format!("[{}]", several.join(", "))),
    }
}

fn fields_wrong(fields: &Node<'_>, owner: OwnerKind) -> Vec<Refusal> {
    let Value::Array(list) = fields.value else {
        let message = "matchFields must be a list of requirements, each with a key, an operator \
                       and, for In and NotIn, values";
        return vec![fields.refuse(Rule::BrokenSelector, message)];
    };
    let items = list.iter().enumerate().map(|(index, value)| Node {
        value,
        path: fields.path.index(index),
    });
    items
        .flat_map(|item| requirement_wrong(&item, owner))
        .collect()
}

fn requirement_wrong(requirement: &Node<'_>, owner: OwnerKind) -> Vec<Refusal> {
    let operator = requirement.text("operator").unwrap_or_default();
    let (at, relation) = match Operator::named(operator) {
        None => (
            "operator",
            Some(format!("operator [{operator}] is invalid")),
        ),
        Some(known) => ("values", values_wrong(requirement, known)),
    };
    let key = key_refused(requirement.text("key").unwrap_or_default(), owner);
    [(at, relation), ("key", key)]
        .into_iter()
        .filter_map(|(at, problem)| {
            Some(
                requirement
                    .nearest(at)
                    .refuse(Rule::BrokenSelector, problem?),
            )
        })
        .collect()
}

fn values_wrong(requirement: &Node<'_>, operator: Operator) -> Option<String> {
    let name = operator.name();
    match requirement.value.get("values") {
        None | Some(Value::Null) if takes_values(operator) => {
            Some(format!("must specify values with operator [{name}]"))
        }
        None | Some(Value::Null) => None,
        Some(Value::Array(list)) if list.iter().any(|value| !value.is_string()) => {
            Some(format!("values with operator [{name}] must be strings"))
        }
        Some(Value::Array(list)) => match (takes_values(operator), list.is_empty()) {
            (true, true) => Some(format!("must specify values with operator [{name}]")),
            (false, false) => Some(format!("cannot specify values with operator [{name}]")),
            (true, false) | (false, true) => None,
        },
        Some(_) => Some(format!(
            "values with operator [{name}] must be a list of strings"
        )),
    }
}

/// Checks the key of a requirement on a field.
///
/// Cartographer parses it as plain text, which hardly ever fails; here it is parsed as it is evaluated.
fn key_refused(key: &str, owner: OwnerKind) -> Option<String> {
    if !is_field(key, owner) {
        return Some(format!("requirement key [{key}] is not a valid path"));
    }
    let as_text = Template::parse(key).err();
    let reason = as_text.or_else(|| match JsonPath::parse(key) {
        Err(jsonpath::Error::Parse { reason, .. }) => Some(reason),
        _ => None,
    })?;
    Some(format!("invalid jsonpath for key [{key}]: {reason}"))
}

/// Says whether selectors may ask for a field of an owner.
fn is_field(key: &str, owner: OwnerKind) -> bool {
    const SHARED: [&str; 10] = [
        "spec.source",
        "spec.source.git",
        "spec.source.git.url",
        "spec.source.git.ref",
        "spec.source.git.ref.branch",
        "spec.source.git.ref.tag",
        "spec.source.git.ref.commit",
        "spec.source.image",
        "spec.source.subPath",
        "spec.serviceAccountName",
    ];
    const SHARED_BELOW: [&str; 2] = ["spec.params", "metadata"];
    let (own, own_below): (&[&str], &[&str]) = match owner {
        OwnerKind::Workload => (
            &["spec.build", "spec.image"],
            &[
                "spec.build.env",
                "spec.env",
                "spec.resources",
                "spec.serviceClaims",
            ],
        ),
        OwnerKind::Deliverable => (&[], &[]),
    };
    SHARED.iter().chain(own).any(|field| key == *field)
        || SHARED_BELOW
            .iter()
            .chain(own_below)
            .any(|prefix| key.starts_with(prefix))
}

fn takes_values(operator: Operator) -> bool {
    matches!(operator, Operator::In | Operator::NotIn)
}
