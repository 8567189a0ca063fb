//! The blueprint that an owner would have with the smallest change.

use std::fmt;

use pathline_jsonpath as jsonpath;
use pathline_kinds::carto::Operator;

use crate::blueprint::Blueprint;
use crate::owner::Owner;
use crate::selector::{Requirement, Subject, requirements, text};

/// The most differences that are told.
const MAX_TOLD: usize = 5;
/// The longest value that is told, in characters.
const MAX_VALUE: usize = 64;

/// The blueprint whose selector fails on the fewest requirements.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Nearest {
    /// The name of the blueprint.
    pub blueprint: String,
    /// The differences, requirement by requirement, for people.
    pub unmet: Vec<String>,
}

/// Returns the blueprint that an owner comes nearest to: the one whose selector fails on the fewest
/// requirements; of several the one that asks for most, then the first by name. A selector that asks
/// for nothing, or that holds, is none.
pub fn nearest<'b>(
    owner: &Owner,
    blueprints: impl IntoIterator<Item = &'b Blueprint>,
) -> Option<Nearest> {
    let unmet = |blueprint: &'b Blueprint| {
        let requirements = requirements(&blueprint.selector);
        let unmet: Vec<_> = requirements
            .filter_map(|it| difference(owner, &it))
            .collect();
        (blueprint, unmet)
    };
    let candidates = blueprints.into_iter().map(unmet);
    let candidates = candidates.filter(|(_, unmet)| !unmet.is_empty());
    let (blueprint, unmet) = candidates.min_by_key(|(blueprint, unmet)| {
        let asked = requirements(&blueprint.selector).count();
        (unmet.len(), usize::MAX - asked, &blueprint.name)
    })?;
    Some(Nearest {
        blueprint: blueprint.name.clone(),
        unmet,
    })
}

impl fmt::Display for Nearest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let told = &self.unmet[..self.unmet.len().min(MAX_TOLD)];
        write!(f, "`{}`: {}", self.blueprint, told.join("; "))?;
        match self.unmet.len() - told.len() {
            0 => Ok(()),
            more => write!(f, "; and {more} more"),
        }
    }
}

/// Returns what keeps a requirement from holding, if anything does.
fn difference(owner: &Owner, requirement: &Requirement<'_>) -> Option<String> {
    let subject = match requirement.subject {
        Subject::Label(key) => format!("label `{key}`"),
        Subject::Field(key) => format!("field `{key}`"),
    };
    let operator = match (requirement.operator(), requirement.holds(owner)) {
        (Ok(_), Ok(true)) => return None,
        (Ok(operator), Ok(false)) => operator,
        (Err(error), _) | (_, Err(error)) => {
            return Some(format!("{subject} cannot be looked at: {error}"));
        }
    };
    let values: Vec<_> = requirement.values.iter().map(|it| shown(it)).collect();
    let wanted = match &values[..] {
        [one] => one.clone(),
        several => format!("one of {}", several.join(", ")),
    };
    Some(match (operator, found(owner, requirement.subject)) {
        (Operator::In, None) => format!("{subject} is missing, {wanted} is wanted"),
        (Operator::In, Some(found)) => format!("{subject} is {found}, {wanted} is wanted"),
        (Operator::NotIn, found) => {
            format!("{subject} must not be {}", found.unwrap_or(wanted))
        }
        (Operator::Exists, _) => format!("{subject} is missing"),
        (Operator::DoesNotExist, _) => format!("{subject} must not be there"),
    })
}

/// Returns what an owner has there, as it is shown; nothing if it has nothing.
fn found(owner: &Owner, subject: Subject<'_>) -> Option<String> {
    match subject {
        Subject::Label(key) => owner.labels.get(key).map(|it| shown(it)),
        Subject::Field(key) => {
            let found = jsonpath::one(key, &owner.object).ok()??;
            let text = text(&found)?;
            Some(text.map_or_else(|| "no text".to_owned(), shown))
        }
    }
}

fn shown(value: &str) -> String {
    match value.char_indices().nth(MAX_VALUE) {
        None => format!("`{value}`"),
        Some((end, _)) => format!("`{}…`", &value[..end]),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::owner::OwnerKind;
    use crate::testing::{owner, supply_chain};

    fn chain(name: &str, selectors: &Value) -> Blueprint {
        let mut spec = json!({"resources": []});
        for (key, value) in selectors.as_object().into_iter().flatten() {
            spec[key] = value.clone();
        }
        supply_chain(json!({"metadata": {"name": name}, "spec": spec}))
    }

    fn app() -> Owner {
        owner(
            OwnerKind::Workload,
            json!({
                "metadata": {"name": "app", "labels": {"type": "web", "tier": "1"}},
                "spec": {"image": "app:1"},
            }),
        )
    }

    fn expression(list: &str, key: &str, operator: &str, values: &[&str]) -> Value {
        let mut requirement = json!({"key": key, "operator": operator});
        if !values.is_empty() {
            requirement["values"] = json!(values);
        }
        json!({ list: [requirement] })
    }

    #[test]
    fn what_differs_is_named_with_what_is_wanted() {
        let labels = |operator, values: &[&str]| {
            expression("selectorMatchExpressions", "tier", operator, values)
        };
        let fields = |key, operator, values: &[&str]| {
            expression("selectorMatchFields", key, operator, values)
        };
        let cases = [
            (
                json!({"selector": {"kind": "a"}}),
                "label `kind` is missing, `a` is wanted",
            ),
            (
                json!({"selector": {"type": "job"}}),
                "label `type` is `web`, `job` is wanted",
            ),
            (
                labels("In", &["2", "3"]),
                "label `tier` is `1`, one of `2`, `3` is wanted",
            ),
            (labels("NotIn", &["1", "3"]), "label `tier` must not be `1`"),
            (
                labels("DoesNotExist", &[]),
                "label `tier` must not be there",
            ),
            (
                fields("spec.source", "Exists", &[]),
                "field `spec.source` is missing",
            ),
            (
                fields("spec.image", "In", &["app:2"]),
                "field `spec.image` is `app:1`, `app:2` is wanted",
            ),
            (
                fields("spec", "In", &["app:2"]),
                "field `spec` is no text, `app:2` is wanted",
            ),
        ];
        for (selectors, told) in cases {
            let near = nearest(&app(), [&chain("near", &selectors)]).unwrap();
            assert_eq!(near.to_string(), format!("`near`: {told}"), "{selectors}");
        }
    }

    #[test]
    fn many_differences_are_counted() {
        let six = json!({"a": "1", "b": "2", "c": "3", "d": "4", "e": "5", "f": "6"});
        let near = chain("near", &json!({ "selector": six }));
        let near = nearest(&app(), [&near]).unwrap();
        assert_eq!(near.unmet.len(), 6);
        let told = near.to_string();
        assert!(
            told.ends_with("label `e` is missing, `5` is wanted; and 1 more"),
            "{told}"
        );
    }

    #[test]
    fn fewest_differences_win_then_the_selector_that_asks_for_most() {
        let far = chain("a", &json!({"selector": {"kind": "a", "colour": "red"}}));
        let near = chain("z", &json!({"selector": {"kind": "a"}}));
        let nearer = chain("y", &json!({"selector": {"type": "web", "kind": "a"}}));
        let twin = chain("x", &json!({"selector": {"type": "web", "kind": "b"}}));
        let name =
            |chains: &[&Blueprint]| nearest(&app(), chains.iter().copied()).map(|it| it.blueprint);
        assert_eq!(name(&[&far, &near]), Some("z".into()));
        assert_eq!(name(&[&far, &near, &nearer]), Some("y".into()));
        assert_eq!(name(&[&nearer, &twin]), Some("x".into()));
        assert_eq!(name(&[]), None);
    }

    #[test]
    fn selector_that_holds_or_asks_for_nothing_is_not_near() {
        let holds = chain("holds", &json!({"selector": {"type": "web"}}));
        let empty = chain("empty", &json!({"selector": {}}));
        assert_eq!(nearest(&app(), [&holds, &empty]), None);
    }

    #[test]
    fn selector_that_cannot_be_evaluated_says_why() {
        let broken = expression("selectorMatchFields", "spec.[", "Exists", &[]);
        let near = nearest(&app(), [&chain("near", &broken)]).unwrap();
        assert!(
            near.unmet[0].starts_with("field `spec.[` cannot be looked at: "),
            "{near}"
        );
        let long = json!({"selector": {"type": "x".repeat(1000)}});
        let near = nearest(&app(), [&chain("near", &long)]).unwrap();
        assert!(near.to_string().len() < 200, "{near}");
    }
}
