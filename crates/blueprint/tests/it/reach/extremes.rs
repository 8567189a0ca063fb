//! Blueprints of a size that nobody writes by hand.

use pathline_blueprint::blueprint::Blueprint;
use pathline_blueprint::reach::{self, Analysis, Budget, NoExample, Verdict};
use serde_json::{Value, json};

fn blueprint(resources: &[Value]) -> Blueprint {
    let object = json!({
        "apiVersion": "carto.run/v1alpha1",
        "kind": "ClusterSupplyChain",
        "metadata": {"name": "large"},
        "spec": {"resources": resources},
    });
    Blueprint::read(object).expect("a valid blueprint")
}

fn analyse(blueprint: &Blueprint) -> Analysis {
    reach::analyse(blueprint, Budget::default()).expect("a valid blueprint")
}

fn is_reachable(analysis: &Analysis, resource: usize) -> bool {
    analysis.resources[resource].resource == Verdict::Reachable
}

/// A chain in which every resource takes in the one before; the first has this selector.
fn chain(length: usize, selector: &Value) -> Vec<Value> {
    let resource = |index: usize| {
        let mut resource = json!({
            "name": format!("r{index}"),
            "templateRef": {"kind": "ClusterSourceTemplate", "name": "t"},
        });
        if index == 0 {
            resource["selector"] = selector.clone();
        } else {
            resource["sources"] = json!([{"name": "s", "resource": format!("r{}", index - 1)}]);
        }
        resource
    };
    (0..length).map(resource).collect()
}

#[test]
fn a_chain_of_10_000_is_walked_without_recursion() {
    let blueprint = blueprint(&chain(10_000, &json!({"matchLabels": {"a": "1"}})));
    let analysis = analyse(&blueprint);
    assert!((0..10_000).all(|resource| is_reachable(&analysis, resource)));
    let paths = reach::paths(&blueprint, None, Budget::default()).unwrap();
    assert_eq!((paths.paths.len(), paths.complete), (2, true));
}

#[test]
fn a_dead_chain_of_10_000_is_dead_link_by_link() {
    let nothing = json!({"matchFields": [{"key": "spec.nothing", "operator": "Exists"}]});
    let analysis = analyse(&blueprint(&chain(10_000, &nothing)));
    let Verdict::Unreachable(why) = &analysis.resources[9_999].resource else {
        panic!()
    };
    assert_eq!(why.message, "its producer `r9998` is never selected");
}

#[test]
fn of_10_000_labelled_resources_each_can_be_reached_and_paths_are_not_all_listed() {
    let resource = |index: usize| {
        json!({
            "name": format!("r{index}"),
            "selector": {"matchLabels": {format!("l{index}"): "x"}},
            "templateRef": {"kind": "ClusterSourceTemplate", "name": "t"},
        })
    };
    let blueprint = blueprint(&(0..10_000).map(resource).collect::<Vec<_>>());
    let analysis = analyse(&blueprint);
    assert!((0..10_000).all(|resource| is_reachable(&analysis, resource)));
    let paths = reach::paths(&blueprint, Some(3), Budget::of_steps(10_000_000)).unwrap();
    assert!(!paths.complete);
    assert_eq!(paths.paths[0].example, Err(NoExample::Effort));
}

#[test]
fn of_1_000_options_the_dead_ones_are_found() {
    let option = |index: usize| {
        let value = format!("v{}", index.min(998));
        json!({"name": "t", "selector": {"matchLabels": {"a": value}}, "sources": []})
    };
    let options: Vec<Value> = (0..1_000)
        .map(option)
        .chain([json!({"name": "t"})])
        .collect();
    let blueprint = blueprint(&[json!({
        "name": "r",
        "templateRef": {"kind": "ClusterSourceTemplate", "options": options},
    })]);
    let verdicts = &analyse(&blueprint).resources[0].options;
    let dead: Vec<usize> = (0..1_001)
        .filter(|option| verdicts[*option] != Verdict::Reachable)
        .collect();
    assert_eq!(dead, [999]);
    let Verdict::Unreachable(why) = &verdicts[999] else {
        panic!()
    };
    assert_eq!(why.message, "always shadowed by option 998");
    let paths = reach::paths(&blueprint, Some(50), Budget::default()).unwrap();
    assert_eq!((paths.paths.len(), paths.complete), (50, false));
}
