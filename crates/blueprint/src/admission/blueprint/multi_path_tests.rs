//! Tests of what multi-path blueprints may do that others may not, and what not even they may.

use serde_json::{Value, json};

use crate::admission::{Rule, Severity, admit, first};

fn chain(resources: Value) -> Value {
    let mut object = json!({
        "kind": "ClusterSupplyChain",
        "metadata": {"name": "web"},
        "spec": {"selector": {"type": "web"}},
    });
    object["spec"]["resources"] = resources;
    object
}

/// A source `git`, a config `config`, and the resource in question, which makes images.
fn around(resource: Value) -> Value {
    let mut resource = resource;
    resource["name"] = json!("r");
    resource["templateRef"]["kind"] = json!("ClusterImageTemplate");
    chain(json!([
        {"name": "git", "templateRef": {"kind": "ClusterSourceTemplate", "name": "t"}},
        {"name": "other", "templateRef": {"kind": "ClusterSourceTemplate", "name": "t"}, "selector": {"matchLabels": {"o": "x"}}},
        resource,
    ]))
}

/// Rules and severities, in order.
fn judged(object: &Value) -> Vec<(Rule, Severity)> {
    let refusals = admit(object).into_iter();
    refusals
        .map(|refusal| (refusal.rule, refusal.severity))
        .collect()
}

fn message(object: &Value) -> String {
    let refusals = admit(object);
    let refusal = first(&refusals).expect("the object is refused");
    let prefix = "error validating clustersupplychain [web]: ";
    refusal
        .message
        .strip_prefix(prefix)
        .expect("the blueprint is named")
        .to_owned()
}

#[test]
fn loosenesses_of_a_multi_path_blueprint_are_warnings() {
    let image = |name: &str, producer: &str| json!({"name": name, "images": [{"name": "s", "resource": producer}]});
    let object = around(json!({"templateRef": {"options": [
        image("build", "other"),
        image("build", "git"),
        {"name": "empty", "selector": {}},
        {"name": "one", "selector": {"matchLabels": {"a": "x"}}},
        {"name": "two", "selector": {"matchLabels": {"a": "x"}}},
    ]}}));
    use Severity::Warning;
    assert_eq!(
        judged(&object),
        [
            (Rule::DuplicateTemplate, Warning),
            (Rule::EmptySelector, Warning),
            (Rule::EmptySelector, Warning),
            (Rule::EmptySelector, Warning),
            (Rule::DuplicateSelector, Warning),
            (Rule::KindMismatch, Warning),
            (Rule::KindMismatch, Warning),
        ]
    );
    let refusals = admit(&object);
    assert_eq!(first(&refusals), None);
    assert_eq!(
        refusals[0].path.to_string(),
        "spec.resources[2].templateRef.options[1].name"
    );
    assert_eq!(
        refusals[6].path.to_string(),
        "spec.resources[2].templateRef.options[1].images[0]"
    );
    assert_eq!(
        refusals[6].message,
        "error validating clustersupplychain [web]: invalid images for option [build] of resource [r]: \
         resource [git] providing [s] must reference a ClusterImageTemplate"
    );
}

#[test]
fn loose_spellings_are_no_refusal_but_what_they_mean_is_checked() {
    let selects = |fields: Value| {
        around(json!({"templateRef": {"name": "t"}, "selector": {"matchFields": fields}}))
    };
    for fields in [
        json!({"key": "spec.source.url", "operation": "exists"}),
        json!([{"key": "spec.source.url", "operator": "doesnotexist"}]),
        json!([{"key": "spec.image", "operator": "IN", "values": ["x"]}]),
    ] {
        assert_eq!(judged(&selects(fields)), []);
    }
    let prefix = "error validating resource [r] selector:";
    assert_eq!(
        message(&selects(json!({"key": "spec.url", "operation": "exists"}))),
        format!("{prefix} requirement key [spec.url] is not a valid path")
    );
    assert_eq!(
        message(&selects(json!({"key": "spec.image", "operation": "like"}))),
        format!("{prefix} operator [like] is invalid")
    );
    assert_eq!(
        message(&selects(json!({"key": "spec.image", "operation": "in"}))),
        format!("{prefix} must specify values with operator [In]")
    );
}

#[test]
fn the_rules_that_stay_still_refuse() {
    let options = |options: Value| around(json!({"templateRef": {"options": options}}));
    let cases = [
        (
            options(json!([{"name": "a"}])),
            "error validating resource [r]: templateRef.Options must have more than one option",
        ),
        (
            options(json!([{"name": "a"}, {}])),
            "error validating resource [r]: exactly one of option.Name or option.PassThrough must be specified, found neither",
        ),
        (
            options(
                json!([{"name": "a"}, {"name": "b", "sources": [{"name": "s", "resource": "nobody"}]}]),
            ),
            "invalid sources for option [b] of resource [r]: [s] is provided by unknown resource [nobody]",
        ),
        (
            options(json!([{"name": "a"}, {"passThrough": "s"}])),
            "error validating resource [r]: pass through [s] does not refer to a known input",
        ),
        (
            around(json!({"templateRef": {"name": "t"}, "selector": {"matchLabels": {"a": "-"}}})),
            "error validating resource [r] selector: matchLabels are not valid: values[0][a]: Invalid value: \"-\": a valid label \
          must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an \
          alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is \
          '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')",
        ),
    ];
    for (object, expected) in cases {
        assert_eq!(message(&object), expected);
    }
}

#[test]
fn one_name_of_one_kind_comes_from_one_producer() {
    let taking = |of_resource: Value, of_option: Value| {
        around(json!({
            "sources": of_resource,
            "templateRef": {"options": [{"name": "a"}, {"name": "b", "sources": of_option}]},
        }))
    };
    let from = |producer: &str| json!([{"name": "s", "resource": producer}]);
    assert_eq!(first(&admit(&taking(from("git"), from("git")))), None);
    assert_eq!(
        message(&taking(from("git"), from("other"))),
        "sources for option [b] of resource [r] take [s] from both [git] and [other]"
    );
    let two_options = around(json!({"templateRef": {"options": [
        {"name": "a", "sources": from("git")}, {"name": "b", "sources": from("other")},
    ]}}));
    assert_eq!(
        first(&admit(&two_options)),
        None,
        "only one option is ever chosen"
    );
    let as_made = around(json!({
        "sources": from("git"),
        "templateRef": {"options": [{"name": "a"}, {"name": "b", "images": from("other")}]},
    }));
    assert_eq!(
        message(&as_made),
        "sources for option [b] of resource [r] take [s] from both [git] and [other]"
    );
}

#[test]
fn an_option_may_hand_on_its_own_input_under_the_kind_its_producer_makes() {
    let object = chain(json!([
        {"name": "git", "templateRef": {"kind": "ClusterSourceTemplate", "name": "t"}},
        {"name": "r", "templateRef": {"kind": "ClusterSourceTemplate", "options": [
            {"passThrough": "s", "images": [{"name": "s", "resource": "git"}]},
            {"name": "a"},
        ]}},
    ]));
    assert_eq!(first(&admit(&object)), None);
}

#[test]
fn a_cycle_through_an_option_that_is_never_taken_is_refused_860() {
    let never = json!({"matchExpressions": [
        {"key": "a", "operator": "Exists"}, {"key": "a", "operator": "DoesNotExist"},
    ]});
    let object = chain(json!([
        {"name": "a", "templateRef": {"kind": "ClusterSourceTemplate", "name": "t"}, "sources": [{"name": "s", "resource": "b"}]},
        {"name": "b", "templateRef": {"kind": "ClusterSourceTemplate", "options": [
            {"name": "x"}, {"name": "y", "selector": never, "sources": [{"name": "s", "resource": "a"}]},
        ]}},
    ]));
    assert_eq!(
        message(&object),
        "resources wait for each other: [a -> b -> a]"
    );
}
