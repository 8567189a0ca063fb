//! Each rule, and what is said when it is broken.

mod inputs;
mod selectors;

use serde_json::{Value, json};

use crate::admission::{Refusal, Rule, Severity, admit, first};

/// A supply chain that keeps every rule, with something merged into its spec.
fn chain(spec: Value) -> Value {
    blueprint("ClusterSupplyChain", spec)
}

fn delivery(spec: Value) -> Value {
    blueprint("ClusterDelivery", spec)
}

fn blueprint(kind: &str, spec: Value) -> Value {
    let mut object = json!({
        "apiVersion": "carto.run/v1alpha1",
        "kind": kind,
        "metadata": {"name": "web"},
        "spec": {"selector": {"type": "web"}, "resources": []},
    });
    if let Value::Object(fields) = spec {
        for (field, value) in fields {
            object["spec"][field] = value;
        }
    }
    object
}

fn resource(name: &str, kind: &str) -> Value {
    json!({"name": name, "templateRef": {"kind": kind, "name": "t"}})
}

fn with(mut value: Value, field: &str, inner: Value) -> Value {
    value[field] = inner;
    value
}

/// A source resource `pick` with these options, fed by `git`.
fn options(options: Value) -> Value {
    let template = with(json!({"kind": "ClusterSourceTemplate"}), "options", options);
    let pick = json!({
        "name": "pick",
        "templateRef": template,
        "sources": [{"name": "source", "resource": "git"}],
    });
    chain(json!({"resources": [resource("git", "ClusterSourceTemplate"), pick]}))
}

fn labelled(name: &str, label: &str) -> Value {
    json!({"name": name, "selector": {"matchLabels": {label: "x"}}})
}

/// Asserts that an object breaks one rule only, and what is said about it.
fn assert_refused(object: &Value, rule: Rule, path: &str, message: &str) {
    assert_one(object, rule, Severity::Error, path, message);
}

fn assert_warned(object: &Value, rule: Rule, path: &str, message: &str) {
    assert_one(object, rule, Severity::Warning, path, message);
}

fn assert_one(object: &Value, rule: Rule, severity: Severity, path: &str, message: &str) {
    let kind = object["kind"].as_str().unwrap().to_lowercase();
    let message = format!("error validating {kind} [web]: {message}");
    let refusals = admit(object);
    let found: Vec<_> = refusals
        .iter()
        .map(|refusal| {
            (
                refusal.rule,
                refusal.severity,
                refusal.path.to_string(),
                refusal.message.as_str(),
            )
        })
        .collect();
    assert_eq!(
        found,
        [(rule, severity, path.to_owned(), message.as_str())],
        "{object:#}"
    );
}

fn rules(refusals: &[Refusal]) -> Vec<Rule> {
    refusals.iter().map(|refusal| refusal.rule).collect()
}

#[test]
fn blueprints_that_keep_the_rules_are_admitted() {
    let options = options(json!([
        labelled("a", "a"),
        {"passThrough": "source", "selector": {"matchFields": [{"key": "spec.image", "operator": "Exists"}]}},
    ]));
    let deployed = delivery(json!({"resources": [
        resource("git", "ClusterSourceTemplate"),
        with(resource("run", "ClusterDeploymentTemplate"), "deployment", json!({"resource": "git"})),
        with(resource("after", "ClusterTemplate"), "sources", json!([{"name": "a", "resource": "run"}])),
    ]}));
    for object in [chain(json!({})), delivery(json!({})), options, deployed] {
        assert_eq!(admit(&object), [], "{object:#}");
    }
}

#[test]
fn a_param_has_a_value_or_a_default() {
    let neither = json!([{"name": "p"}]);
    let both = json!([{"name": "ok", "value": null}, {"name": "p", "value": 1, "default": 2}]);
    for make in [chain, delivery] {
        assert_refused(
            &make(json!({"params": neither})),
            Rule::Param,
            "spec.params[0]",
            "param [p] is invalid: must set exactly one of value and default",
        );
        let one = with(resource("r", "ClusterTemplate"), "params", both.clone());
        assert_refused(
            &make(json!({"resources": [one]})),
            Rule::Param,
            "spec.resources[0].params[1]",
            "resource [r] is invalid: param [p] is invalid: must set exactly one of value and default",
        );
    }
}

#[test]
fn resources_have_different_names() {
    let twice =
        json!({"resources": [resource("r", "ClusterTemplate"), resource("r", "ClusterTemplate")]});
    assert_refused(
        &chain(twice.clone()),
        Rule::DuplicateResource,
        "spec.resources[1].name",
        "duplicate resource name [r] found",
    );
    assert_refused(
        &delivery(twice),
        Rule::DuplicateResource,
        "spec.resources[1].name",
        "spec.resources[1].name \"r\" cannot appear twice",
    );
}

#[test]
fn options_stamp_different_templates() {
    assert_refused(
        &options(json!([
            labelled("a", "a"),
            labelled("b", "b"),
            labelled("a", "c")
        ])),
        Rule::DuplicateTemplate,
        "spec.resources[1].templateRef.options[2].name",
        "duplicate template name [a] found in options for resource [pick]",
    );
}

#[test]
fn two_options_that_hand_on_collide_as_templates_without_a_name() {
    let object = options(json!([
        {"passThrough": "source", "selector": {"matchLabels": {"a": "x"}}},
        {"passThrough": "source", "selector": {"matchLabels": {"b": "x"}}},
    ]));
    let refusals = admit(&object);
    assert_eq!(
        rules(&refusals),
        [Rule::DuplicateTemplate, Rule::PassThroughCount]
    );
    assert_eq!(
        first(&refusals).unwrap().message,
        "error validating clustersupplychain [web]: duplicate template name [] found in options for resource [pick]"
    );
    assert_eq!(
        refusals[1].message,
        "error validating clustersupplychain [web]: error validating resource [pick]: \
         cannot have more than one pass through option, found 2"
    );
}

#[test]
fn a_resource_has_one_template_or_several_options() {
    let two = json!([labelled("a", "a"), labelled("b", "b")]);
    let cases = [
        (
            json!({"name": "t", "options": two}),
            "exactly one of templateRef.Name or templateRef.Options must be specified, found both",
        ),
        (
            json!({}),
            "exactly one of templateRef.Name or templateRef.Options must be specified, found neither",
        ),
        (
            json!({"options": []}),
            "exactly one of templateRef.Name or templateRef.Options must be specified, found neither",
        ),
        (
            json!({"options": [labelled("a", "a")]}),
            "templateRef.Options must have more than one option",
        ),
    ];
    for (template, problem) in cases {
        for make in [chain, delivery] {
            let template = with(template.clone(), "kind", json!("ClusterTemplate"));
            assert_refused(
                &make(json!({"resources": [{"name": "r", "templateRef": template}]})),
                Rule::TemplateRef,
                "spec.resources[0].templateRef",
                &format!("error validating resource [r]: {problem}"),
            );
        }
    }
}

#[test]
fn an_option_stamps_or_hands_on() {
    let selector = json!({"matchLabels": {"b": "x"}});
    let cases = [
        (
            json!({"name": "b", "passThrough": "source", "selector": selector}),
            "both",
        ),
        (json!({"selector": selector}), "neither"),
    ];
    for (option, found) in cases {
        assert_refused(
            &options(json!([labelled("a", "a"), option])),
            Rule::OptionTarget,
            "spec.resources[1].templateRef.options[1]",
            &format!(
                "error validating resource [pick]: exactly one of option.Name or option.PassThrough must be specified, found {found}"
            ),
        );
    }
}

#[test]
fn the_first_refusal_is_the_one_cartographer_would_give() {
    let object = chain(json!({
        "selector": {"-": "x"},
        "params": [{"name": "p"}],
        "resources": [
            with(resource("r", "ClusterTemplate"), "sources", json!([{"name": "n", "resource": "nobody"}])),
            {"name": "r", "templateRef": {"kind": "ClusterTemplate", "options": [{"name": "a", "selector": {}}, {"name": "a", "selector": {}}]}},
        ],
    }));
    assert_eq!(
        rules(&admit(&object)),
        [
            Rule::Param,
            Rule::BrokenSelector,
            Rule::DuplicateResource,
            Rule::DuplicateTemplate,
            Rule::EmptySelector,
            Rule::EmptySelector,
            Rule::DuplicateSelector,
            Rule::UnknownResource,
        ]
    );
}

#[test]
fn what_cannot_be_read_is_refused_as_such() {
    let object = json!({"kind": "ClusterSupplyChain", "metadata": {"name": "web"}, "spec": {}});
    let refusals = admit(&object);
    assert_eq!(rules(&refusals), [Rule::Malformed]);
    assert!(
        refusals[0].message.contains("missing field `resources`"),
        "{}",
        refusals[0].message
    );
    assert_eq!(
        rules(&admit(&json!({"kind": "ClusterDelivery"}))),
        [Rule::Malformed]
    );
}
