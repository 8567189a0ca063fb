//! Is a stamped object healthy?

mod report;
mod terminal;

use pathline_jsonpath::go;
use pathline_kinds::carto::{
    ConditionRequirement, ConditionStatus, HealthFieldRequirement, HealthMatchRule, HealthRule,
    MultiMatchRule, Operator,
};
use serde_json::Value;

use crate::conditions::Verdict;
use crate::evaluate;
use crate::template::TemplateKind;

pub use report::{condition_observed, reads_status};
pub use terminal::terminal;

/// The type of the condition that shows the health of a resource.
const HEALTHY: &str = "Healthy";

/// Judges an object by the rule of its template, or without one by whether it gives what it should.
pub fn judge(
    rule: Option<&HealthRule>,
    kind: TemplateKind,
    object: Option<&Value>,
    has_output: bool,
) -> Verdict {
    let verdict = |status, reason: &str| Verdict::new(HEALTHY, status, reason, "");
    let Some(object) = object else {
        return verdict(ConditionStatus::Unknown, "NoStampedObject");
    };
    let Some(rule) = rule else {
        return if has_output {
            verdict(ConditionStatus::True, "OutputsAvailable")
        } else if kind == TemplateKind::Plain {
            verdict(ConditionStatus::True, "AlwaysHealthy")
        } else {
            verdict(ConditionStatus::Unknown, "OutputNotAvailable")
        };
    };
    if let Some(condition_type) = &rule.single_condition_type {
        single_condition(condition_type, object)
    } else if let Some(multi_match) = &rule.multi_match {
        multi_match_of(multi_match, object)
    } else {
        verdict(ConditionStatus::True, "AlwaysHealthy")
    }
}

/// Returns the health of a resource of which nothing is known.
pub fn unknown() -> Verdict {
    Verdict::new(HEALTHY, ConditionStatus::Unknown, "NoResource", "")
}

/// Tells whether what an object reports is about its current generation. One that does not say is
/// taken at its word.
pub fn is_observed(object: &Value) -> bool {
    let observed = object.pointer("/status/observedGeneration");
    observed.is_none_or(|observed| Some(observed) == object.pointer("/metadata/generation"))
}

fn single_condition(condition_type: &str, object: &Value) -> Verdict {
    // A reason may hold letters and digits only, a condition type also a domain.
    let word: String = condition_type
        .chars()
        .filter(char::is_ascii_alphanumeric)
        .collect();
    let reason = format!("{word}Condition");
    let Some((status, message)) = condition(condition_type, object) else {
        let message =
            format!("condition with type [{condition_type}] not found on resource status");
        return Verdict::new(HEALTHY, ConditionStatus::Unknown, &reason, &message);
    };
    let status = match status {
        "True" => ConditionStatus::True,
        "False" => ConditionStatus::False,
        _ => ConditionStatus::Unknown,
    };
    Verdict::new(HEALTHY, status, &reason, message)
}

fn multi_match_of(rule: &MultiMatchRule, object: &Value) -> Verdict {
    if let Some(matched) = matches(&rule.unhealthy, object).flatten().next() {
        return matched.verdict(ConditionStatus::False);
    }
    let healthy: Option<Vec<Matched>> = matches(&rule.healthy, object).collect();
    match healthy.unwrap_or_default().into_iter().next() {
        Some(matched) => matched.verdict(ConditionStatus::True),
        None => Verdict::new(HEALTHY, ConditionStatus::Unknown, "NoMatchesFulfilled", ""),
    }
}

/// A requirement that holds, and what to say about it.
struct Matched {
    reason: &'static str,
    message: String,
}

impl Matched {
    fn verdict(self, status: ConditionStatus) -> Verdict {
        Verdict::new(HEALTHY, status, self.reason, &self.message)
    }
}

/// Checks each requirement, conditions before fields; `None` is one that does not hold.
fn matches<'r>(
    rule: &'r HealthMatchRule,
    object: &'r Value,
) -> impl Iterator<Item = Option<Matched>> + 'r {
    let conditions = rule.match_conditions.iter().flatten();
    let fields = rule.match_fields.iter().flatten();
    let conditions = conditions.map(|requirement| match_condition(requirement, object));
    conditions.chain(fields.map(|requirement| match_field(requirement, object)))
}

fn match_condition(requirement: &ConditionRequirement, object: &Value) -> Option<Matched> {
    let (status, message) = condition(&requirement.r#type, object)?;
    (status == requirement.status).then(|| Matched {
        reason: "MatchedCondition",
        message: format!("condition status: {status}, message: {message}"),
    })
}

fn match_field(requirement: &HealthFieldRequirement, object: &Value) -> Option<Matched> {
    let found = match evaluate::value(&requirement.key, object) {
        Ok(value) => Some(value),
        Err(evaluate::Error::Missing(_)) => None,
        Err(_) => return None,
    };
    let is_listed = |value: &Value| {
        let values = requirement.values.iter().flatten();
        value
            .as_str()
            .is_some_and(|text| values.clone().any(|listed| listed == text))
    };
    let holds = match (requirement.operator, &found) {
        (Operator::In, Some(value)) => is_listed(value),
        (Operator::NotIn, Some(value)) => !is_listed(value),
        (Operator::In | Operator::NotIn, None) => false,
        (Operator::Exists, found) => found.as_ref().is_some_and(|value| !value.is_null()),
        (Operator::DoesNotExist, found) => found.as_ref().is_none_or(Value::is_null),
    };
    holds.then(|| Matched {
        reason: "MatchedField",
        message: field_message(requirement, &found.unwrap_or_default(), object),
    })
}

fn field_message(requirement: &HealthFieldRequirement, value: &Value, object: &Value) -> String {
    let value = go::print(value);
    let Some(path) = &requirement.message_path else {
        return format!("field value: {value}");
    };
    let message = evaluate::value(path, object).map_or_else(
        |_| format!("unknown, error retrieving message path [{path}]"),
        |message| go::print(&message),
    );
    format!("field value: {value}, message: {message}")
}

/// Returns status and message of a condition of an object.
fn condition<'o>(condition_type: &str, object: &'o Value) -> Option<(&'o str, &'o str)> {
    let condition = find_condition(condition_type, object)?;
    Some((
        condition["status"].as_str()?,
        condition["message"].as_str().unwrap_or_default(),
    ))
}

fn find_condition<'o>(condition_type: &str, object: &'o Value) -> Option<&'o Value> {
    let conditions = object.pointer("/status/conditions")?.as_array()?;
    conditions
        .iter()
        .find(|condition| condition["type"] == condition_type)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn judged(rule: Value, object: &Value) -> (ConditionStatus, String, String) {
        let rule: HealthRule = serde_json::from_value(rule).unwrap();
        let verdict = judge(Some(&rule), TemplateKind::Plain, Some(object), false);
        (verdict.status, verdict.reason, verdict.message)
    }

    #[test]
    fn without_a_rule_outputs_decide() {
        let object = json!({});
        let reason = |kind, object, has_output| judge(None, kind, object, has_output).reason;
        assert_eq!(
            reason(TemplateKind::Image, Some(&object), true),
            "OutputsAvailable"
        );
        assert_eq!(
            reason(TemplateKind::Image, Some(&object), false),
            "OutputNotAvailable"
        );
        assert_eq!(
            reason(TemplateKind::Plain, Some(&object), false),
            "AlwaysHealthy"
        );
        assert_eq!(reason(TemplateKind::Plain, None, false), "NoStampedObject");
    }

    #[test]
    fn a_report_is_about_the_generation_it_names() {
        let object = |observed: Value| json!({"metadata": {"generation": 2}, "status": {"observedGeneration": observed}});
        assert!(is_observed(&object(json!(2))) && !is_observed(&object(json!(1))));
        assert!(is_observed(
            &json!({"metadata": {"generation": 2}, "status": {}})
        ));
    }

    #[test]
    fn a_single_condition_is_mirrored() {
        let object = |status: &str| json!({"status": {"conditions": [{"type": "Ready", "status": status, "message": "m"}]}});
        let rule = json!({"singleConditionType": "Ready"});
        let ready = |status, expected| {
            let judged = judged(rule.clone(), &object(status));
            assert_eq!(
                judged,
                (expected, "ReadyCondition".to_owned(), "m".to_owned())
            );
        };
        ready("True", ConditionStatus::True);
        ready("False", ConditionStatus::False);
        ready("Sideways", ConditionStatus::Unknown);
        let missing = judged(
            json!({"singleConditionType": "example.com/Up"}),
            &object("True"),
        );
        assert_eq!(missing.1, "examplecomUpCondition");
        assert_eq!(
            missing.2,
            "condition with type [example.com/Up] not found on resource status"
        );
    }

    #[test]
    fn any_unhealthy_match_decides_before_all_healthy_ones() {
        let rule = json!({"multiMatch": {
            "healthy": {
                "matchConditions": [{"type": "Ready", "status": "True"}],
                "matchFields": [{"key": "status.phase", "operator": "NotIn", "values": ["Stuck"], "messagePath": "status.note"}],
            },
            "unhealthy": {
                "matchFields": [{"key": "status.error", "operator": "Exists", "messagePath": ".status.absent"}],
            },
        }});
        let object = |status: Value| json!({"status": status});
        let ready = json!([{"type": "Ready", "status": "True", "message": "fine"}]);
        assert_eq!(
            judged(
                rule.clone(),
                &object(json!({"conditions": ready, "phase": "Up"}))
            ),
            (
                ConditionStatus::True,
                "MatchedCondition".into(),
                "condition status: True, message: fine".into()
            )
        );
        assert_eq!(
            judged(
                rule.clone(),
                &object(json!({"conditions": ready, "phase": "Up", "error": 5}))
            ),
            (
                ConditionStatus::False,
                "MatchedField".into(),
                "field value: 5, message: unknown, error retrieving message path [.status.absent]"
                    .into()
            )
        );
        // Health rules are no selectors: what is missing is not "not in".
        let missing = judged(rule, &object(json!({"conditions": ready})));
        assert_eq!(missing.1, "NoMatchesFulfilled");
    }

    #[test]
    fn field_operators_tell_missing_from_null() {
        let object = json!({"status": {"null": null, "text": "x"}});
        let holds = |key: &str, operator: &str, values: &[&str]| {
            let field = json!({"key": key, "operator": operator, "values": values});
            let requirement = serde_json::from_value(field).unwrap();
            match_field(&requirement, &object).is_some()
        };
        assert!(holds("status.text", "In", &["x"]) && !holds("status.text", "NotIn", &["x"]));
        assert!(holds("status.null", "NotIn", &["x"]) && !holds("status.absent", "NotIn", &["x"]));
        assert!(!holds("status.null", "Exists", &[]) && holds("status.null", "DoesNotExist", &[]));
        assert!(
            holds("status.absent", "DoesNotExist", &[]) && !holds("status[0]", "DoesNotExist", &[])
        );
    }
}
