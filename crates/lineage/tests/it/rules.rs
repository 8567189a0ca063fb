//! Correlation rules: what an object says it uses, and no longer says.

use pathline_lineage::chain::Resource;
use pathline_lineage::{Artifact, Chain, Origin, Snapshot, State, Tracing, Trust};
use serde_json::{Value, json};

use crate::paths::{done, resource, stamp};
use crate::support::{applied, inputs, owner, run};

/// A sink whose object says which value it uses.
fn sink() -> Value {
    json!({"name": "deploy", "tracing": "rule", "inputs": [], "reads": ["param:rev"], "proves": ["param:rev"]})
}

fn value(value: &str) -> Value {
    json!({ "param:rev": value })
}

fn seen(generation: i64, observed: Option<i64>, matched: bool) -> Value {
    json!({"seen": {"resource": "deploy", "uid": "deploy", "generation": generation, "observed": observed,
                    "healthy": true, "matched": matched, "outputs": {}}})
}

fn deploy(revision: &str, generation: i64) -> [Value; 2] {
    [
        owner(value(revision)),
        applied("deploy", generation, value(revision)),
    ]
}

fn told(steps: &[&[Value]]) -> Vec<String> {
    inputs(&run(&[sink()], &steps.concat()))
}

#[test]
fn point_5_rule_that_no_longer_matches_proves_nothing() {
    let (a, b) = (deploy("A", 1), deploy("B", 2));
    let rolled_out = [seen(1, Some(1), true)];
    let matched = [seen(2, Some(2), true)];
    let rolled_back = [seen(2, Some(2), false)];
    assert_eq!(
        told(&[&a, &rolled_out, &b, &matched]),
        ["param:rev=B arrived"]
    );
    let back = told(&[&a, &rolled_out, &b, &matched, &rolled_back]);
    assert_eq!(back, ["param:rev=B"]);
    let again = told(&[&a, &rolled_out, &b, &matched, &rolled_back, &matched]);
    assert_eq!(again, ["param:rev=B arrived"]);
}

#[test]
fn point_4_rule_that_matched_before_does_not_say_that_it_was_made_again() {
    let (a, b, back) = (deploy("A", 1), deploy("B", 2), deploy("A", 3));
    let first = [seen(1, Some(1), true)];
    let unseen = [seen(3, Some(1), true)];
    assert_eq!(told(&[&a, &first, &b, &back, &unseen]), ["param:rev=A"]);
    let silent = [seen(1, None, true)];
    let still_silent = [seen(3, None, true)];
    assert_eq!(
        told(&[&a, &silent, &b, &back, &still_silent]),
        ["param:rev=A"]
    );
}

/// An object that shows something while no rule matches may have made it of any apply so far.
#[test]
fn point_4_what_is_shown_without_proof_does_not_say_how_far_an_object_is() {
    let (a, b, back) = (deploy("A", 1), deploy("B", 2), deploy("A", 3));
    let silent = |generation: i64, matched: bool| [seen(generation, None, matched)];
    let steps: [&[Value]; 5] = [&a, &b, &silent(2, false), &back, &silent(3, true)];
    assert_eq!(told(&steps), ["param:rev=A"]);
}

/// Rules compare with the last apply, so a late state that matches speaks of that one's values, whatever
/// generation it has.
#[test]
fn point_4_late_state_that_matches_has_not_got_to_the_value_in_between() {
    let (a, b, back) = (deploy("A", 1), deploy("B", 2), deploy("A", 3));
    let first = [seen(1, Some(1), true)];
    let late = [seen(2, Some(2), true)];
    let unseen = [seen(3, Some(2), true)];
    let steps: [&[Value]; 6] = [&a, &first, &b, &back, &late, &unseen];
    assert_eq!(told(&steps), ["param:rev=A"]);
    let observed = [seen(3, Some(3), true)];
    let steps: [&[Value]; 7] = [&a, &first, &b, &back, &late, &unseen, &observed];
    assert_eq!(told(&steps), ["param:rev=A arrived"]);
}

#[test]
fn point_4_generation_of_somebody_else_does_not_say_how_far_an_object_is() {
    let (a, b, back) = (deploy("A", 1), deploy("B", 2), deploy("A", 6));
    let silent = |generation: i64, matched: bool| [seen(generation, None, matched)];
    let steps: [&[Value]; 6] = [
        &a,
        &silent(1, true),
        &b,
        &silent(5, false),
        &back,
        &silent(6, true),
    ];
    assert_eq!(told(&steps), ["param:rev=A"]);
}

/// A controller notes the generation first, and still uses the old value of one of two params.
#[test]
fn point_4_object_that_shows_some_of_its_inputs_has_not_got_to_them() {
    let (chart, values) = (Origin::owner("param:chart"), Origin::owner("param:values"));
    let artifact = |origin: &Origin, value: &str| match origin {
        Origin::Owner(name) | Origin::Resource(name) => Artifact::param(name, &json!(value)),
    };
    let deploy = Resource {
        tracing: Tracing {
            trust: Trust::Condition,
            rules: [chart.clone(), values.clone()].into(),
            ..Tracing::default()
        },
        ..resource("deploy", &[], &["param:chart", "param:values"])
    };
    let mut state = State::new(Chain::new(vec![deploy]).expect("it is a path"));
    let apply = |state: &mut State, generation: i64, of_values: &str| {
        let inputs = [
            (chart.clone(), artifact(&chart, "1")),
            (values.clone(), artifact(&values, of_values)),
        ];
        let owned = inputs.iter().map(|(origin, it)| match origin {
            Origin::Owner(name) | Origin::Resource(name) => (name.clone(), it.clone()),
        });
        state.own(owned.collect());
        let stamped = state.stamped("deploy", stamp("deploy", generation, inputs));
        stamped.expect("it is on the path");
    };
    let see = |state: &mut State, generation: i64, observed: i64, matched: &[&Origin]| {
        let snapshot = Snapshot {
            observed: Some(observed),
            condition_observed: None,
            matched: Some(matched.iter().map(|it| (*it).clone()).collect()),
            ..done("deploy", generation, None)
        };
        state.seen("deploy", &snapshot).expect("it is on the path");
    };
    apply(&mut state, 1, "A");
    see(&mut state, 1, 1, &[&chart, &values]);
    apply(&mut state, 2, "B");
    see(&mut state, 2, 2, &[&chart]);
    apply(&mut state, 3, "A");
    see(&mut state, 3, 2, &[&chart, &values]);
    let a = artifact(&values, "A");
    assert!(!state.arrival(&values, |it| *it == a).arrived());
    see(&mut state, 3, 3, &[&chart, &values]);
    assert!(state.arrival(&values, |it| *it == a).arrived());
}

#[test]
fn point_6_controller_that_skips_what_was_in_between_arrives() {
    let (a, b, back) = (deploy("A", 1), deploy("B", 2), deploy("A", 3));
    let first = [seen(1, Some(1), true)];
    let coalesced = [seen(3, Some(3), true)];
    let arrived = told(&[&a, &first, &b, &back, &coalesced]);
    assert_eq!(arrived, ["param:rev=A arrived"]);
}

/// A delivery hands its input on as its output while the rule matches.
#[test]
fn point_5_output_that_is_not_there_any_more_proves_nothing_either() {
    let run_of = json!({"name": "deploy", "tracing": "rule", "inputs": [], "reads": ["source"], "proves": ["source"]});
    let apply = |revision: &str, generation: i64| {
        let inputs = json!({ "source": revision });
        [owner(inputs.clone()), applied("deploy", generation, inputs)]
    };
    let seen = |generation: i64, observed: Option<i64>, output: Option<&str>| {
        let outputs = output.map_or(json!({}), |it| json!({ "source": it }));
        [
            json!({"seen": {"resource": "deploy", "uid": "deploy", "generation": generation, "observed": observed,
                         "healthy": true, "matched": output.is_some(), "outputs": outputs}}),
        ]
    };
    let told = |steps: &[&[Value]]| inputs(&run(std::slice::from_ref(&run_of), &steps.concat()));
    for reports in [true, false] {
        let at = |generation: i64| reports.then_some(generation);
        let (a, b) = (apply("A", 1), apply("B", 2));
        let (runs_a, runs_b) = (seen(1, at(1), Some("A")), seen(2, at(2), Some("B")));
        let rolled_back = seen(2, at(2), None);
        let steps: [&[Value]; 4] = [&a, &runs_a, &b, &runs_b];
        assert_eq!(told(&steps), ["source=B arrived"]);
        let back: Vec<&[Value]> = [&steps[..], &[&rolled_back]].concat();
        assert_eq!(told(&back), ["source=B"]);
        let again: Vec<&[Value]> = [&back[..], &[&runs_b]].concat();
        assert_eq!(told(&again), ["source=B arrived"]);
    }
}
