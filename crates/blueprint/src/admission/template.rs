//! The rules of templates, and of what Runnables make.

use pathline_jsonpath::go;
use serde_json::Value;

use super::node::Node;
use super::{Refusal, Rule, tracing};
use crate::template::TemplateKind;

/// Applies the rules that all kinds of templates share, then those of the kind.
pub(super) fn template(kind: TemplateKind, root: &Node<'_>) -> Vec<Refusal> {
    let spec = root.nearest("spec");
    let mut refusals = body(&spec);
    if let Some(rule) = spec.get("healthRule") {
        refusals.extend(health_rule(&rule));
    }
    refusals.extend(retention(&spec));
    if kind == TemplateKind::Deployment {
        refusals.extend(observed(&spec));
    }
    if let Some(declared) = spec.get("artifactTracing") {
        refusals.extend(tracing::tracing(&declared, spec.value.get("template")));
    }
    refusals
}

/// Applies the rules of a ClusterRunTemplate.
pub(super) fn run_template(root: &Node<'_>) -> Vec<Refusal> {
    let template = root.nearest("spec").nearest("template");
    let mut refusals = object(&template);
    if template.value.get("spec").is_none() {
        let message = format!(
            "invalid template: object must have a spec; templated object: {}",
            go::print(&with_floats(template.value))
        );
        refusals.push(template.refuse(Rule::RunTemplateSpec, message));
    }
    refusals
}

fn body(spec: &Node<'_>) -> Vec<Refusal> {
    let found = match (spec.get("template"), spec.text("ytt")) {
        (Some(template), None) => return object(&template),
        (None, Some(_)) => return Vec::new(),
        (None, None) => "neither",
        (Some(_), Some(_)) => "both",
    };
    let message = format!("invalid template: must specify one of template or ytt, found {found}");
    vec![spec.nearest("ytt").refuse(Rule::TemplateBody, message)]
}

/// Checks what is stamped.
fn object(template: &Node<'_>) -> Vec<Refusal> {
    let mut refusals = Vec::new();
    if template.text("kind").is_none() {
        let message = format!(
            "invalid template: failed to parse object: Object 'Kind' is missing in '{}'",
            template.value
        );
        refusals.push(
            template
                .nearest("kind")
                .refuse(Rule::TemplateObject, message),
        );
    }
    let metadata = template.get("metadata");
    if let Some(metadata) = metadata.filter(|metadata| metadata.text("namespace").is_some()) {
        let message =
            "invalid template: template should not set metadata.namespace on the child object";
        let namespace = metadata.nearest("namespace");
        refusals.push(namespace.refuse(Rule::TemplateNamespace, message));
    }
    refusals
}

fn health_rule(rule: &Node<'_>) -> Vec<Refusal> {
    let multi_match = rule.get("multiMatch");
    let ways = [
        rule.get("alwaysHealthy").is_some(),
        rule.text("singleConditionType").is_some(),
        multi_match.is_some(),
    ];
    let found = match ways.into_iter().filter(|is_set| *is_set).count() {
        0 => "neither",
        1 => return multi_match.iter().flat_map(multi_match_rule).collect(),
        _ => "multiple",
    };
    let message = format!(
        "invalid health rule: must specify one of alwaysHealthy, singleConditionType or multiMatch, \
         found {found}"
    );
    vec![rule.refuse(Rule::HealthRule, message)]
}

fn multi_match_rule(rule: &Node<'_>) -> Vec<Refusal> {
    let sides = ["unhealthy", "healthy"].into_iter();
    let empty = sides.filter_map(|side| {
        let node = rule.nearest(side);
        let asks = !node.is_empty("matchConditions") || !node.is_empty("matchFields");
        let message = format!(
            "invalid multi match health rule: {side} rule has no matchFields or matchConditions"
        );
        (!asks).then(|| node.refuse(Rule::HealthRule, message))
    });
    empty.collect()
}

/// Cartographer forgets this rule if the template has a health rule.
fn retention(spec: &Node<'_>) -> Option<Refusal> {
    let policy = spec.get("retentionPolicy")?;
    let is_mutable = spec.text("lifecycle").unwrap_or("mutable") == "mutable";
    let message = "invalid template: if lifecycle is mutable, no retention policy may be set";
    is_mutable.then(|| policy.refuse(Rule::Retention, message))
}

fn observed(spec: &Node<'_>) -> Option<Refusal> {
    let (matches, completion) = (spec.get("observedMatches"), spec.get("observedCompletion"));
    let message = "invalid spec: must set exactly one of spec.ObservedMatches and \
                   spec.ObservedCompletion";
    (matches.is_some() == completion.is_some()).then(|| {
        completion
            .as_ref()
            .unwrap_or(spec)
            .refuse(Rule::Observed, message)
    })
}

/// Cartographer prints the object after reading all its numbers as floats.
fn with_floats(value: &Value) -> Value {
    match value {
        Value::Number(number) => number.as_f64().map_or(Value::Null, Value::from),
        Value::Array(list) => list.iter().map(with_floats).collect(),
        Value::Object(map) => {
            let members = map.iter();
            members
                .map(|(key, value)| (key.clone(), with_floats(value)))
                .collect()
        }
        Value::Null | Value::Bool(_) | Value::String(_) => value.clone(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::admit;
    use super::*;

    /// The rules, messages and places of all refusals of an object.
    fn refused(kind: &str, spec: Value) -> Vec<(Rule, String, String)> {
        let mut object = json!({"kind": kind, "metadata": {"name": "t"}});
        object["spec"] = spec;
        let refusals = admit(&object).into_iter();
        refusals
            .map(|refusal| (refusal.rule, refusal.message, refusal.path.to_string()))
            .collect()
    }

    fn stamped() -> Value {
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}})
    }

    #[test]
    fn templates_that_keep_the_rules_are_admitted() {
        let specs = [
            json!({"template": stamped()}),
            json!({"ytt": "a: 1"}),
            json!({"template": null, "ytt": "a: 1", "healthRule": null}),
            json!({"template": stamped(), "lifecycle": "immutable",
                   "retentionPolicy": {"maxFailedRuns": 1, "maxSuccessfulRuns": 1}}),
            json!({"template": stamped(), "healthRule": {"alwaysHealthy": {}}}),
            json!({"template": stamped(), "healthRule": {"singleConditionType": "Ready"}}),
            json!({"template": stamped(), "healthRule": {"multiMatch": {
                "healthy": {"matchConditions": [{"type": "Ready", "status": "True"}]},
                "unhealthy": {"matchFields": [{"key": "status.error", "operator": "Exists"}]},
            }}}),
        ];
        for spec in specs {
            for kind in [
                TemplateKind::Source,
                TemplateKind::Image,
                TemplateKind::Config,
                TemplateKind::Plain,
            ] {
                assert_eq!(refused(kind.name(), spec.clone()), [], "{spec}");
            }
        }
    }

    #[test]
    fn every_rule_of_templates_has_its_message() {
        let mut elsewhere = stamped();
        elsewhere["metadata"]["namespace"] = json!("there");
        let keep = json!({"maxFailedRuns": 1, "maxSuccessfulRuns": 1});
        let health = |rule: Value| json!({"template": stamped(), "healthRule": rule});
        let side = json!({"matchConditions": [{"type": "Ready", "status": "True"}]});
        let cases = [
            (
                json!({}),
                Rule::TemplateBody,
                "spec",
                "invalid template: must specify one of template or ytt, found neither",
            ),
            (
                json!({"template": stamped(), "ytt": "a: 1"}),
                Rule::TemplateBody,
                "spec.ytt",
                "invalid template: must specify one of template or ytt, found both",
            ),
            (
                json!({"template": {"apiVersion": "v1", "spec": {}}}),
                Rule::TemplateObject,
                "spec.template",
                "invalid template: failed to parse object: Object 'Kind' is missing in '{\"apiVersion\":\"v1\",\"spec\":{}}'",
            ),
            (
                json!({"template": elsewhere}),
                Rule::TemplateNamespace,
                "spec.template.metadata.namespace",
                "invalid template: template should not set metadata.namespace on the child object",
            ),
            (
                health(json!({})),
                Rule::HealthRule,
                "spec.healthRule",
                "invalid health rule: must specify one of alwaysHealthy, singleConditionType or multiMatch, found neither",
            ),
            (
                health(json!({"alwaysHealthy": {}, "singleConditionType": "Ready"})),
                Rule::HealthRule,
                "spec.healthRule",
                "invalid health rule: must specify one of alwaysHealthy, singleConditionType or multiMatch, found multiple",
            ),
            (
                health(json!({"multiMatch": {"healthy": side, "unhealthy": {}}})),
                Rule::HealthRule,
                "spec.healthRule.multiMatch.unhealthy",
                "invalid multi match health rule: unhealthy rule has no matchFields or matchConditions",
            ),
            (
                health(json!({"multiMatch": {"healthy": {"matchFields": []}, "unhealthy": side}})),
                Rule::HealthRule,
                "spec.healthRule.multiMatch.healthy",
                "invalid multi match health rule: healthy rule has no matchFields or matchConditions",
            ),
            (
                json!({"template": stamped(), "lifecycle": "mutable", "retentionPolicy": keep}),
                Rule::Retention,
                "spec.retentionPolicy",
                "invalid template: if lifecycle is mutable, no retention policy may be set",
            ),
            (
                json!({"ytt": "a: 1", "retentionPolicy": keep}),
                Rule::Retention,
                "spec.retentionPolicy",
                "invalid template: if lifecycle is mutable, no retention policy may be set",
            ),
        ];
        for (spec, rule, path, message) in cases {
            for kind in [
                TemplateKind::Source,
                TemplateKind::Image,
                TemplateKind::Config,
                TemplateKind::Plain,
            ] {
                let expected = (rule, message.to_owned(), path.to_owned());
                assert_eq!(refused(kind.name(), spec.clone()), [expected], "{spec}");
            }
        }
    }

    #[test]
    fn a_retention_policy_is_refused_even_with_a_health_rule() {
        let spec = json!({
            "template": stamped(),
            "healthRule": {"alwaysHealthy": {}},
            "retentionPolicy": {"maxFailedRuns": 1, "maxSuccessfulRuns": 1},
        });
        let rules: Vec<Rule> = refused("ClusterTemplate", spec)
            .into_iter()
            .map(|(rule, ..)| rule)
            .collect();
        assert_eq!(rules, [Rule::Retention]);
    }

    #[test]
    fn a_deployment_template_says_once_when_it_has_deployed() {
        let matches = json!([{"input": "spec.a", "output": "status.a"}]);
        let completion = json!({"succeeded": {"key": "status.phase", "value": "done"}});
        let message = "invalid spec: must set exactly one of spec.ObservedMatches and spec.ObservedCompletion";
        let with = |fields: Value| {
            let mut spec = fields;
            spec["template"] = stamped();
            refused("ClusterDeploymentTemplate", spec)
        };
        assert_eq!(with(json!({"observedMatches": matches})), []);
        assert_eq!(with(json!({"observedCompletion": completion})), []);
        assert_eq!(
            with(json!({})),
            [(Rule::Observed, message.to_owned(), "spec".to_owned())]
        );
        let both = with(json!({"observedMatches": matches, "observedCompletion": completion}));
        assert_eq!(
            both,
            [(
                Rule::Observed,
                message.to_owned(),
                "spec.observedCompletion".to_owned()
            )]
        );
    }

    #[test]
    fn what_a_runnable_makes_has_a_kind_a_spec_and_no_namespace() {
        let run = |template: Value| refused("ClusterRunTemplate", json!({"template": template}));
        assert_eq!(run(json!({"kind": "Job", "spec": null})), []);
        let cases = [
            (
                json!({"kind": "Job", "limit": 1_000_000}),
                Rule::RunTemplateSpec,
                "spec.template",
                "invalid template: object must have a spec; templated object: map[kind:Job limit:1e+06]",
            ),
            (
                json!({"spec": {}}),
                Rule::TemplateObject,
                "spec.template",
                "invalid template: failed to parse object: Object 'Kind' is missing in '{\"spec\":{}}'",
            ),
            (
                json!({"kind": "Job", "metadata": {"namespace": "n"}, "spec": {}}),
                Rule::TemplateNamespace,
                "spec.template.metadata.namespace",
                "invalid template: template should not set metadata.namespace on the child object",
            ),
        ];
        for (template, rule, path, message) in cases {
            assert_eq!(run(template), [(rule, message.to_owned(), path.to_owned())]);
        }
    }

    #[test]
    fn all_refusals_come_in_the_order_of_the_rules() {
        let spec = json!({
            "template": {"metadata": {"namespace": "n"}},
            "healthRule": {},
            "retentionPolicy": {},
        });
        let rules: Vec<Rule> = refused("ClusterDeploymentTemplate", spec)
            .into_iter()
            .map(|(rule, ..)| rule)
            .collect();
        assert_eq!(
            rules,
            [
                Rule::TemplateObject,
                Rule::TemplateNamespace,
                Rule::HealthRule,
                Rule::Retention,
                Rule::Observed
            ]
        );
    }

    #[test]
    fn kinds_without_rules_are_admitted() {
        for kind in ["Workload", "Deliverable", "Runnable", "ConfigMap"] {
            assert_eq!(refused(kind, json!({})), []);
        }
        assert_eq!(admit(&json!("not even an object")), []);
    }
}
