//! The fields that a health rule looks at, and the generation that they speak of.

use pathline_jsonpath::FieldPath;
use pathline_jsonpath::JsonPath;
use pathline_kinds::carto::{HealthMatchRule, HealthRule};
use serde_json::Value;

use super::find_condition;

/// Tells whether a healthy object is so because of its status: not without a rule, not with
/// `alwaysHealthy`, and not by fields that somebody else than its controller sets.
pub fn reads_status(rule: Option<&HealthRule>) -> bool {
    let Some(rule) = rule else { return false };
    match (&rule.single_condition_type, &rule.multi_match) {
        (Some(_), _) => true,
        (None, Some(multi_match)) => looks_at_status(&multi_match.healthy),
        (None, None) => false,
    }
}

/// Returns the generation that the conditions read by a health rule carry themselves: the oldest, if
/// there are several; none, if one of them carries none.
pub fn condition_observed(rule: Option<&HealthRule>, object: &Value) -> Option<i64> {
    let rule = rule?;
    let observed = |condition_type: &str| {
        let condition = find_condition(condition_type, object)?;
        condition["observedGeneration"].as_i64()
    };
    if let Some(condition_type) = &rule.single_condition_type {
        return observed(condition_type);
    }
    let read = rule
        .multi_match
        .as_ref()?
        .healthy
        .match_conditions
        .as_ref()?;
    let observed: Option<Vec<i64>> = read.iter().map(|one| observed(&one.r#type)).collect();
    observed?.into_iter().min()
}

fn looks_at_status(rule: &HealthMatchRule) -> bool {
    let status = FieldPath::default().field("status");
    let is_below = |key: &str| {
        let places = JsonPath::parse(key).map(|path| path.places());
        let places = places.unwrap_or_default();
        !places.is_empty() && places.iter().all(|place| place.starts_with(&status))
    };
    let mut fields = rule.match_fields.iter().flatten();
    rule.match_conditions.iter().flatten().next().is_some()
        || fields.any(|field| is_below(&field.key))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn rule(rule: &Value) -> HealthRule {
        serde_json::from_value(rule.clone()).unwrap()
    }

    fn healthy(rule: &Value) -> Value {
        json!({"multiMatch": {"healthy": rule, "unhealthy": {"matchFields": [
            {"key": "status.error", "operator": "Exists"},
        ]}}})
    }

    #[test]
    fn a_rule_reads_the_status_or_does_not() {
        let field =
            |key: &str| healthy(&json!({"matchFields": [{"key": key, "operator": "Exists"}]}));
        let rows = [
            (json!({"alwaysHealthy": {}}), false),
            (json!({"singleConditionType": "Ready"}), true),
            (
                healthy(&json!({"matchConditions": [{"type": "Ready", "status": "True"}]})),
                true,
            ),
            (field("status.phase"), true),
            (field(".status.conditions[?(@.type=='Ready')].status"), true),
            (field("spec.replicas"), false),
            (field("..phase"), false),
            (healthy(&json!({})), false),
        ];
        for (written, expected) in rows {
            assert_eq!(reads_status(Some(&rule(&written))), expected, "{written}");
        }
        assert!(!reads_status(None));
    }

    #[test]
    fn a_condition_may_say_which_generation_it_is_about() {
        let conditions = |ready: &Value, synced: &Value| {
            json!({"status": {"conditions": [
                {"type": "Ready", "status": "True", "observedGeneration": ready},
                {"type": "Synced", "status": "True", "observedGeneration": synced},
            ]}})
        };
        let single = rule(&json!({"singleConditionType": "Ready"}));
        let both = rule(&healthy(&json!({"matchConditions": [
            {"type": "Ready", "status": "True"},
            {"type": "Synced", "status": "True"},
        ]})));
        let [one, two, none] = [json!(1), json!(2), Value::Null];
        let observed = |rule: &HealthRule, object: &Value| condition_observed(Some(rule), object);
        assert_eq!(observed(&single, &conditions(&two, &none)), Some(2));
        assert_eq!(observed(&single, &conditions(&none, &two)), None);
        assert_eq!(observed(&single, &json!({})), None);
        assert_eq!(observed(&both, &conditions(&two, &one)), Some(1));
        assert_eq!(observed(&both, &conditions(&two, &none)), None);
        let always = rule(&json!({"alwaysHealthy": {}}));
        assert_eq!(observed(&always, &conditions(&two, &two)), None);
    }
}
