//! Messages about dead options, word by word.

use pathline_blueprint::blueprint::Blueprint;
use pathline_blueprint::reach::{self, Analysis, Budget, NoExample, Verdict, Why};
use serde_json::{Value, json};

fn chain(resources: &Value) -> Value {
    json!({
        "apiVersion": "carto.run/v1alpha1",
        "kind": "ClusterSupplyChain",
        "metadata": {"name": "chain"},
        "spec": {"resources": resources},
    })
}

fn read(object: &Value) -> Blueprint {
    Blueprint::read(object.clone()).expect("a valid blueprint")
}

fn analyse(object: &Value) -> Analysis {
    reach::analyse(&read(object), Budget::default()).expect("a valid blueprint")
}

fn resource(name: &str, selector: &Value) -> Value {
    json!({"name": name, "selector": selector, "templateRef": {"kind": "ClusterSourceTemplate", "name": "t"}})
}

fn choice(name: &str, options: &Value) -> Value {
    json!({"name": name, "templateRef": {"kind": "ClusterSourceTemplate", "options": options}})
}

fn label(key: &str, value: &str) -> Value {
    json!({"matchLabels": {key: value}})
}

fn field(key: &str, operator: &str, values: &[&str]) -> Value {
    json!({"matchFields": [{"key": key, "operator": operator, "values": values}]})
}

fn from(producer: &str) -> Value {
    json!([{"name": "source", "resource": producer}])
}

fn told(verdict: &Verdict) -> &str {
    match verdict {
        Verdict::Reachable => "reachable",
        Verdict::Unreachable(Why { message, .. }) => message,
        Verdict::Unknown => "unknown",
    }
}

/// Returns the messages about the options of the last resource.
fn options(object: &Value) -> Vec<String> {
    let analysis = analyse(object);
    let last = analysis.resources.last().expect("a valid blueprint");
    assert_eq!(last.resource, Verdict::Reachable);
    last.options
        .iter()
        .map(|verdict| told(verdict).to_owned())
        .collect()
}

#[test]
fn a_shadowed_option_names_the_smallest_set_that_shadows_it() {
    let options = options(&chain(&json!([choice(
        "r",
        &json!([
            {"name": "t", "selector": label("unrelated", "x")},
            {"name": "t", "selector": {"matchExpressions": [{"key": "a", "operator": "Exists"}]}},
            {"name": "t", "selector": label("a", "1")},
            {"name": "t", "selector": {"matchExpressions": [{"key": "a", "operator": "DoesNotExist"}]}},
            {"name": "t"},
        ])
    )])));
    assert_eq!(
        options,
        [
            "reachable",
            "reachable",
            "always shadowed by option 1",
            "reachable",
            "always shadowed by options 1 and 3"
        ]
    );
}

#[test]
fn a_contradiction_names_its_two_sides_and_whose_they_are() {
    let mut object = chain(&json!([
        resource("unrelated", &json!({})),
        choice(
            "r",
            &json!([
                {"name": "t", "selector": {"matchExpressions": [
                    {"key": "a", "operator": "Exists"}, {"key": "b", "operator": "Exists"}, {"key": "a", "operator": "DoesNotExist"}]}},
                {"name": "t", "selector": {"matchLabels": {"c": "1"}}},
                {"name": "t", "selector": {"matchFields": [
                    {"key": "spec.source", "operator": "DoesNotExist"},
                    {"key": "spec.source.git.url", "operator": "Exists"}]}},
                {"name": "t", "selector": {"matchLabels": {"d": "1"},
                    "matchFields": [{"key": "metadata.labels.d", "operator": "In", "values": ["2", "3"]}]}},
                {"name": "t"},
            ])
        ),
    ]));
    object["spec"]["selector"] = json!({"c": "2"});
    assert_eq!(
        options(&object),
        [
            "needs `a` and not `a`",
            "needs `c=1` and `c=2` (the blueprint's selector)",
            "needs not `spec.source` and `spec.source.git.url`",
            "needs `d=1` and `metadata.labels.d in (2, 3)`",
            "reachable",
        ]
    );
}

#[test]
fn what_no_owner_can_have_is_told() {
    let options = options(&chain(&json!([choice(
        "r",
        &json!([
            {"name": "t", "selector": field("spec.nothing", "Exists", &[])},
            {"name": "t", "selector": field("spec.source", "In", &["x"])},
            {"name": "t", "selector": field("spec", "DoesNotExist", &[])},
            {"name": "t", "selector": label("a", "not a value")},
            {"name": "t", "selector": label("not a key", "a")},
            {"name": "t", "selector": field("spec.params.name", "Exists", &[])},
            {"name": "t"},
        ])
    )])));
    assert_eq!(
        options,
        [
            "needs `spec.nothing`, which no workload can have",
            "needs `spec.source=x`, a value that `spec.source` of a workload never has",
            "needs not `spec`, which every workload has",
            "needs `a=not a value`, a value that `a` of a workload never has",
            "needs `not a key=a`, which no workload can have",
            "needs `spec.params.name`, which no workload can have",
            "reachable",
        ]
    );
}

#[test]
fn a_producer_that_is_skipped_when_it_is_needed_is_named() {
    let options = options(&chain(&json!([
        resource("with-a", &label("a", "1")),
        resource(
            "without-a",
            &json!({"matchExpressions": [{"key": "a", "operator": "DoesNotExist"}]})
        ),
        resource("dead", &field("spec.nothing", "Exists", &[])),
        choice(
            "r",
            &json!([
                {"name": "t", "selector": label("a", "2"), "sources": from("with-a")},
                {"name": "t", "sources": from("dead")},
                {"name": "t", "sources": [{"name": "x", "resource": "with-a"}, {"name": "y", "resource": "without-a"}]},
                {"name": "t"},
            ])
        ),
    ])));
    assert_eq!(
        options,
        [
            "its producer `with-a` is skipped whenever it is needed: it needs `a=2`",
            "its producer `dead` is never selected",
            "its producers `with-a` and `without-a` are never selected together",
            "reachable",
        ]
    );
}

#[test]
fn a_dead_resource_says_why_for_itself_or_for_its_options() {
    let mut consumer = resource("consumer", &json!({}));
    consumer["sources"] = from("dead");
    let analysis = analyse(&chain(&json!([
        resource("dead", &field("spec.source", "In", &["x"])),
        consumer,
        choice(
            "by-options",
            &json!([
                {"name": "t", "selector": {"matchLabels": {"a": "1"}, "matchExpressions": [{"key": "a", "operator": "DoesNotExist"}]}},
                {"name": "t", "sources": from("dead")},
            ])
        ),
    ])));
    let told: Vec<&str> = analysis
        .resources
        .iter()
        .map(|reach| told(&reach.resource))
        .collect();
    assert_eq!(
        told,
        [
            "needs `spec.source=x` (the resource's selector), a value that `spec.source` of a workload never has",
            "its producer `dead` is never selected",
            "none of its options is ever chosen: option 0: needs `a=1` and not `a`; \
             option 1: its producer `dead` is never selected",
        ]
    );
}

#[test]
fn a_blueprint_for_nobody_has_no_path_and_says_so() {
    let mut object = chain(&json!([resource("r", &json!({}))]));
    object["spec"]["selector"] = json!({"a": "1"});
    object["spec"]["selectorMatchExpressions"] = json!([{"key": "a", "operator": "DoesNotExist"}]);
    assert_eq!(
        told(&analyse(&object).resources[0].resource),
        "no workload is admitted by the blueprint's own selector: \
         needs `a=1` (the blueprint's selector) and not `a` (the blueprint's selector)"
    );
    let paths = reach::paths(&read(&object), None, Budget::default()).unwrap();
    assert_eq!((paths.paths.len(), paths.complete), (0, true));
}

#[test]
fn in_a_single_path_blueprint_a_better_score_takes_options_away() {
    let options = options(&chain(&json!([choice(
        "r",
        &json!([
            {"name": "t1", "selector": label("a", "1")},
            {"name": "t2", "selector": {"matchLabels": {"a": "1"}, "matchFields": [
                {"key": "metadata.labels.a", "operator": "Exists"}]}},
            {"name": "t3", "selector": {}},
            {"name": "t4", "selector": label("b", "1")},
        ])
    )])));
    assert_eq!(
        options,
        [
            "whenever it matches, option 1 matches too and asks for as much or more",
            "reachable",
            "its selector asks for nothing, and the most specific option is chosen",
            "reachable",
        ]
    );
}

#[test]
fn order_decides_shows_an_owner_with_nothing_to_spare() {
    let object = chain(&json!([choice(
        "r",
        &json!([
            {"name": "t", "selector": label("a", "1")},
            {"name": "t", "selector": {"matchLabels": {"a": "1", "b": "1"}}},
            {"name": "t"},
        ])
    )]));
    let found = analyse(&object).order_decides;
    assert_eq!(found.len(), 1);
    assert_eq!(
        (found[0].resource, found[0].first, &found[0].best[..]),
        (0, 0, &[1][..])
    );
    assert_eq!(
        found[0].workload["metadata"]["labels"],
        json!({"a": "1", "b": "1"})
    );
}

#[test]
fn keys_with_filters_are_free_and_findings_name_them() {
    let key = "spec.params[?(@.name==\"x\")].value";
    let object = chain(&json!([choice(
        "r",
        &json!([
            {"name": "t", "selector": field(key, "In", &["1"])},
            {"name": "t", "selector": {"matchFields": [
                {"key": key, "operator": "In", "values": ["1"]}, {"key": "spec.image", "operator": "Exists"}]}},
            {"name": "t", "selector": field(key, "Exists", &[])},
            {"name": "t", "selector": field("spec.params[0].name", "In", &["y"])},
            {"name": "t", "selector": field("spec.env[*].name", "In", &["z"])},
            {"name": "t"},
        ])
    )]));
    let analysis = analyse(&object);
    let Verdict::Unreachable(why) = &analysis.resources[0].options[1] else {
        panic!()
    };
    assert_eq!(why.message, "always shadowed by option 0");
    assert_eq!(why.free_keys, [key]);
    let paths = reach::paths(&read(&object), None, Budget::default()).unwrap();
    let examples: Vec<Value> = paths
        .paths
        .iter()
        .take(4)
        .map(|path| path.example.as_ref().unwrap().workload["spec"].clone())
        .collect();
    assert_eq!(
        examples,
        [
            json!({"params": [{"name": "x", "value": "1"}]}),
            json!({"params": [{"name": "x", "value": "any"}]}),
            json!({"params": [{"name": "y", "value": "any"}]}),
            json!({"env": [{"name": "z"}]}),
        ]
    );
}

#[test]
fn a_path_that_free_keys_only_seem_to_allow_has_no_example() {
    let object = chain(&json!([resource(
        "r",
        &json!({"matchFields": [
            {"key": "spec.params[0].name", "operator": "In", "values": ["x"]},
            {"key": "spec.params", "operator": "DoesNotExist"}]})
    )]));
    let paths = reach::paths(&read(&object), None, Budget::default()).unwrap();
    let keys = vec!["spec.params[0].name".to_owned()];
    assert_eq!(paths.paths[0].example, Err(NoExample::FreeKeys { keys }));
}

#[test]
fn without_effort_nothing_is_claimed() {
    let object = chain(&json!([
        resource("a", &label("a", "1")),
        choice(
            "r",
            &json!([{"name": "t", "sources": from("a")}, {"name": "t"}])
        ),
    ]));
    let budget = Budget::of_steps(3);
    let analysis = reach::analyse(&read(&object), budget).unwrap();
    for reach in &analysis.resources {
        assert_ne!(reach.resource, Verdict::Reachable);
        assert!(!matches!(reach.resource, Verdict::Unreachable(_)));
    }
    let paths = reach::paths(&read(&object), None, budget).unwrap();
    assert_eq!((paths.paths.len(), paths.complete), (0, false));
}
