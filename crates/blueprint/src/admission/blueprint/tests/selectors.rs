//! Whom blueprints and options are for.

use super::*;

#[test]
fn a_blueprint_selects_owners() {
    let message =
        "at least one selector, selectorMatchExpression, selectorMatchField must be specified";
    for object in [
        chain(json!({"selector": null})),
        delivery(json!({"selector": {}, "selectorMatchFields": []})),
    ] {
        assert_refused(&object, Rule::NoBlueprintSelector, "spec", message);
    }
}

#[test]
fn the_selector_of_a_blueprint_can_be_evaluated() {
    let name_rule = "name part must consist of alphanumeric characters, '-', '_' or '.', and must \
        start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', \
        regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
    let value_rule = "a valid label must be an empty string or consist of alphanumeric characters, \
        '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or \
        'my_value',  or '12345', regex used for validation is \
        '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
    let labels = [
        (
            json!({"a b": "x"}),
            "a b",
            format!("key: Invalid value: \"a b\": {name_rule}"),
        ),
        (
            json!({"a": "-"}),
            "a",
            format!("values[0][a]: Invalid value: \"-\": {value_rule}"),
        ),
        (
            json!({"a b": "-"}),
            "a b",
            format!(
                "[key: Invalid value: \"a b\": {name_rule}, values[0][a b]: Invalid value: \"-\": {value_rule}]"
            ),
        ),
    ];
    let expressions = [
        (json!({"key": "a", "operator": "Has"}), ".operator", "\"Has\" is not a valid label selector operator".to_owned()),
        (json!({"key": "a", "operator": "In"}), "",
         "values: Invalid value: []string(nil): for 'in', 'notin' operators, values set can't be empty".to_owned()),
        (json!({"key": "a", "operator": "Exists", "values": ["x", "y"]}), "",
         "values: Invalid value: []string{\"x\", \"y\"}: values set must be empty for exists and does not exist".to_owned()),
        (json!({"key": "a b", "operator": "Exists"}), "", format!("key: Invalid value: \"a b\": {name_rule}")),
        (json!({"key": "a", "operator": "NotIn", "values": ["x", "-"]}), "",
         format!("values[1][a]: Invalid value: \"-\": {value_rule}")),
    ];
    for make in [chain, delivery] {
        for (selector, path, problem) in &labels {
            assert_refused(
                &make(json!({"selector": selector})),
                Rule::BrokenSelector,
                &format!("spec.selector.{path}"),
                &format!("selector is not valid: {problem}"),
            );
        }
        for (expression, path, problem) in &expressions {
            assert_refused(
                &make(json!({"selectorMatchExpressions": [expression]})),
                Rule::BrokenSelector,
                &format!("spec.selectorMatchExpressions[0]{path}"),
                &format!("selectorMatchExpressions are not valid: {problem}"),
            );
        }
        for (requirement, path, problem) in broken_requirements() {
            assert_refused(
                &make(json!({"selectorMatchFields": [requirement]})),
                Rule::BrokenSelector,
                &format!("spec.selectorMatchFields[0]{path}"),
                problem,
            );
        }
    }
}

/// Requirements on fields that no selector may have, with the place and the problem.
fn broken_requirements() -> Vec<(Value, &'static str, &'static str)> {
    let image = "spec.source.image";
    vec![
        (
            json!({"key": image, "operator": "Exists", "values": ["x"]}),
            ".values",
            "cannot specify values with operator [Exists]",
        ),
        (
            json!({"key": image, "operator": "DoesNotExist", "values": ["x"]}),
            ".values",
            "cannot specify values with operator [DoesNotExist]",
        ),
        (
            json!({"key": image, "operator": "In"}),
            "",
            "must specify values with operator [In]",
        ),
        (
            json!({"key": image, "operator": "NotIn", "values": []}),
            ".values",
            "must specify values with operator [NotIn]",
        ),
        (
            json!({"key": image, "operator": "exists"}),
            ".operator",
            "operator [exists] is invalid",
        ),
        (json!({"key": image}), "", "operator [] is invalid"),
        (
            json!({"key": "spec.unknown", "operator": "Exists"}),
            ".key",
            "requirement key [spec.unknown] is not a valid path",
        ),
        (
            json!({"key": ".spec.source", "operator": "Exists"}),
            ".key",
            "requirement key [.spec.source] is not a valid path",
        ),
        (
            json!({"key": "spec.source.url", "operator": "Exists"}),
            ".key",
            "requirement key [spec.source.url] is not a valid path",
        ),
        (
            json!({"key": "metadata.labels[", "operator": "Exists"}),
            ".key",
            "invalid jsonpath for key [metadata.labels[]: unterminated array",
        ),
        (
            json!({"key": "metadata{.name", "operator": "Exists"}),
            ".key",
            "invalid jsonpath for key [metadata{.name]: unclosed action",
        ),
    ]
}

#[test]
fn each_kind_of_owner_has_its_own_fields() {
    let shared = [
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
        "spec.params[0].value",
        "metadata.labels.x",
    ];
    let of_workloads = [
        "spec.build",
        "spec.image",
        "spec.build.env[0]",
        "spec.env",
        "spec.resources.limits",
        "spec.serviceClaims",
    ];
    let asks = |key: &str| json!({"selectorMatchFields": [{"key": key, "operator": "Exists"}]});
    for key in shared {
        assert_eq!(admit(&chain(asks(key))), [], "{key}");
        assert_eq!(admit(&delivery(asks(key))), [], "{key}");
    }
    for key in of_workloads {
        assert_eq!(admit(&chain(asks(key))), [], "{key}");
        assert_refused(
            &delivery(asks(key)),
            Rule::BrokenSelector,
            "spec.selectorMatchFields[0].key",
            &format!("requirement key [{key}] is not a valid path"),
        );
    }
}

#[test]
fn the_selector_of_an_option_asks_for_something_that_can_be_evaluated() {
    let place = "spec.resources[1].templateRef.options[1].selector";
    let prefix = "error validating resource [pick]: error validating option [b] selector: ";
    let with_selector =
        |selector: Value| options(json!([labelled("a", "a"), {"name": "b", "selector": selector}]));
    for empty in [
        json!({}),
        json!({"matchLabels": {}, "matchExpressions": [], "matchFields": []}),
    ] {
        assert_refused(
            &with_selector(empty),
            Rule::EmptySelector,
            place,
            &format!(
                "{prefix}at least one of matchLabels, matchExpressions or MatchFields must be specified"
            ),
        );
    }
    assert_refused(
        &with_selector(json!({"matchExpressions": [{"key": "a", "operator": "Has"}]})),
        Rule::BrokenSelector,
        &format!("{place}.matchExpressions[0].operator"),
        &format!(
            "{prefix}matchExpressions are not valid: \"Has\" is not a valid label selector operator"
        ),
    );
    assert_refused(
        &with_selector(json!({"matchLabels": {"a/b/c": "x"}})),
        Rule::BrokenSelector,
        &format!("{place}.matchLabels.a/b/c"),
        &format!(
            "{prefix}matchLabels are not valid: key: Invalid value: \"a/b/c\": a valid label key must consist of \
            alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. \
            'MyName',  or 'my.name',  or '123-abc', regex used for validation is \
            '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]') with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
        ),
    );
    for (requirement, path, problem) in broken_requirements() {
        assert_refused(
            &with_selector(json!({"matchFields": [requirement]})),
            Rule::BrokenSelector,
            &format!("{place}.matchFields[0]{path}"),
            &format!("{prefix}{problem}"),
        );
    }
    assert_refused(
        &with_selector(json!({"matchFields": {"key": "spec.image", "operator": "Exists"}})),
        Rule::BrokenSelector,
        &format!("{place}.matchFields"),
        &format!(
            "{prefix}matchFields must be a list of requirements, each with a key, an operator and, for In and NotIn, values"
        ),
    );
}

#[test]
fn an_option_that_hands_on_is_called_so() {
    let object = options(json!([labelled("a", "a"), {"passThrough": "source", "selector": {}}]));
    assert_refused(
        &object,
        Rule::EmptySelector,
        "spec.resources[1].templateRef.options[1].selector",
        "error validating resource [pick]: error validating option [passThrough] selector: \
         at least one of matchLabels, matchExpressions or MatchFields must be specified",
    );
}

#[test]
fn options_have_different_selectors() {
    let object = options(
        json!([labelled("a", "x"), labelled("b", "y"), labelled("c", "y"),
        {"passThrough": "source", "selector": {"matchLabels": {"x": "x"}}}]),
    );
    let refusals = admit(&object);
    let messages: Vec<&str> = refusals
        .iter()
        .map(|refusal| refusal.message.as_str())
        .collect();
    let prefix = "error validating clustersupplychain [web]: error validating resource [pick]: duplicate selector found in options";
    assert_eq!(
        messages,
        [
            format!("{prefix} [a, passThrough]"),
            format!("{prefix} [b, c]")
        ]
    );
    assert_eq!(
        refusals[0].path.to_string(),
        "spec.resources[1].templateRef.options[3].selector"
    );
}
