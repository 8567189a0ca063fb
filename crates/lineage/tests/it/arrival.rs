//! Has it arrived, is it mixed, is it used at all?

use serde_json::{Value, json};

use crate::support::{applied, done, from, inputs, owner, resource, run, seen};

fn debug(value: &str) -> Value {
    json!({"param:debug": value})
}

#[test]
fn back_to_the_first_value_is_not_arrived_until_it_was_made_again() {
    let build = [resource("build", "declared", &[], &["param:debug"])];
    let mut steps = vec![
        owner(debug("A")),
        applied("build", 1, debug("A")),
        done("build", 1, json!({"image": "i"})),
    ];
    assert_eq!(inputs(&run(&build, &steps)), ["param:debug=A arrived"]);
    steps.extend([owner(debug("B")), applied("build", 2, debug("B"))]);
    assert_eq!(inputs(&run(&build, &steps)), ["param:debug=B"]);
    // The content that A made is still there, but the object carries B.
    steps.push(owner(debug("A")));
    assert_eq!(inputs(&run(&build, &steps)), ["param:debug=A"]);
    steps.extend([
        applied("build", 3, debug("A")),
        seen("build", 3, 1, json!({"image": "i"})),
    ]);
    assert_eq!(inputs(&run(&build, &steps)), ["param:debug=A"]);
    steps.push(done("build", 3, json!({"image": "i"})));
    assert_eq!(inputs(&run(&build, &steps)), ["param:debug=A arrived"]);
}

fn build_and_deploy() -> [Value; 2] {
    [
        resource("build", "declared", &[], &["param:debug"]),
        resource("deploy", "declared", &["build"], &[]),
    ]
}

fn a_deployed_and_b_applied() -> Vec<Value> {
    vec![
        owner(debug("A")),
        applied("build", 1, debug("A")),
        done("build", 1, json!({"image": "i"})),
        applied("deploy", 1, json!({"build": "i"})),
        done("deploy", 1, json!({"config": "c"})),
        owner(debug("B")),
        applied("build", 2, debug("B")),
    ]
}

/// A producer that shows what it made of B hands it on next, whatever the owner says by then.
#[test]
fn point_4_first_value_has_not_arrived_while_a_producer_is_at_the_second() {
    let path = build_and_deploy();
    let mut steps = a_deployed_and_b_applied();
    steps.extend([done("build", 2, json!({"image": "b"})), owner(debug("A"))]);
    assert_eq!(inputs(&run(&path, &steps)), ["param:debug=A"]);
    steps.push(applied("build", 3, debug("A")));
    assert_eq!(inputs(&run(&path, &steps)), ["param:debug=A"]);
    steps.push(done("build", 3, json!({"image": "i"})));
    assert_eq!(inputs(&run(&path, &steps)), ["param:debug=A arrived"]);
}

#[test]
fn content_that_two_inputs_make_alike_belongs_to_the_last_one() {
    let path = build_and_deploy();
    let mut steps = a_deployed_and_b_applied();
    assert_eq!(inputs(&run(&path, &steps)), ["param:debug=B"]);
    steps.push(done("build", 2, json!({"image": "i"})));
    let report = run(&path, &steps);
    assert_eq!(from(&report, "build"), ["param:debug=B generation"]);
    assert_eq!(inputs(&report), ["param:debug=B arrived"]);
}

#[test]
fn diamond_is_mixed_until_both_sides_come_from_one_artifact() {
    let path = [
        resource("fetch", "declared", &[], &["param:rev"]),
        resource("build", "declared", &["fetch"], &[]),
        resource("config", "declared", &["fetch"], &[]),
        resource("deploy", "declared", &["build", "config"], &[]),
    ];
    let rev = |value: &str| json!({ "param:rev": value });
    let pass = |generation: i64, fetched: &str, name: &str, made: Value| {
        [
            applied(name, generation, json!({ "fetch": fetched })),
            done(name, generation, made),
        ]
    };
    let mut steps = vec![
        owner(rev("1")),
        applied("fetch", 1, rev("1")),
        done("fetch", 1, json!({"source": "s1"})),
    ];
    steps.extend(pass(1, "s1", "build", json!({"image": "i1"})));
    steps.extend(pass(1, "s1", "config", json!({"config": "c1"})));
    steps.extend([
        applied("deploy", 1, json!({"build": "i1", "config": "c1"})),
        done("deploy", 1, json!({})),
        owner(rev("2")),
        applied("fetch", 2, rev("2")),
        done("fetch", 2, json!({"source": "s2"})),
    ]);
    assert_eq!(inputs(&run(&path, &steps)), ["param:rev=2"]);
    steps.extend(pass(2, "s2", "build", json!({"image": "i2"})));
    steps.extend([
        applied("deploy", 2, json!({"build": "i2", "config": "c1"})),
        done("deploy", 2, json!({})),
    ]);
    assert_eq!(inputs(&run(&path, &steps)), ["param:rev=2 mixed"]);
    steps.extend(pass(2, "s2", "config", json!({"config": "c2"})));
    steps.extend([
        applied("deploy", 3, json!({"build": "i2", "config": "c2"})),
        done("deploy", 3, json!({})),
    ]);
    assert_eq!(inputs(&run(&path, &steps)), ["param:rev=2 arrived"]);
}

/// A build of the value in between ends late, while the object says that it works on the last apply.
#[test]
fn point_4_late_work_of_a_producer_is_about_to_go_down_the_path() {
    let path = [
        resource("build", "declared", &[], &["param:debug"]),
        resource("deploy", "declared", &["build"], &[]),
    ];
    let mut steps = vec![
        owner(debug("on")),
        applied("build", 1, debug("on")),
        done("build", 1, json!({"image": "i1"})),
        applied("deploy", 1, json!({"build": "i1"})),
        done("deploy", 1, json!({})),
        owner(debug("off")),
        applied("build", 2, debug("off")),
        owner(debug("on")),
        applied("build", 3, debug("on")),
        json!({"seen": {"resource": "build", "uid": "build", "generation": 3, "observed": 3,
                        "healthy": null, "outputs": {"image": "late"}}}),
    ];
    assert_eq!(inputs(&run(&path, &steps)), ["param:debug=on"]);
    steps.push(done("build", 3, json!({"image": "i1"})));
    assert_eq!(inputs(&run(&path, &steps)), ["param:debug=on arrived"]);
}

#[test]
fn param_that_is_read_twice_is_mixed_while_its_two_ways_differ() {
    let path = [
        resource("build", "declared", &[], &["param:debug"]),
        resource("deploy", "declared", &["build"], &["param:debug"]),
    ];
    let mut steps = vec![
        owner(debug("on")),
        applied("build", 1, debug("off")),
        done("build", 1, json!({"image": "i1"})),
        applied("deploy", 1, json!({"build": "i1", "param:debug": "on"})),
        done("deploy", 1, json!({})),
    ];
    assert_eq!(inputs(&run(&path, &steps)), ["param:debug=on mixed"]);
    steps.extend([
        applied("build", 2, debug("on")),
        done("build", 2, json!({"image": "i2"})),
        applied("deploy", 2, json!({"build": "i2", "param:debug": "on"})),
        done("deploy", 2, json!({})),
    ]);
    assert_eq!(inputs(&run(&path, &steps)), ["param:debug=on arrived"]);
}

#[test]
fn assumed_edge_anywhere_on_the_way_is_no_arrival() {
    let path = [
        resource("build", "none", &[], &["param:debug"]),
        resource("deploy", "declared", &["build"], &["param:size"]),
    ];
    let steps = [
        owner(json!({"param:debug": "on", "param:size": 2, "param:unread": true})),
        applied("build", 1, debug("on")),
        done("build", 1, json!({"image": "i1"})),
        applied("deploy", 1, json!({"build": "i1", "param:size": 2})),
        done("deploy", 1, json!({})),
    ];
    assert_eq!(
        inputs(&run(&path, &steps)),
        [
            "param:debug=on",
            "param:size=2 arrived",
            "param:unread=true unused"
        ]
    );
}

#[test]
fn every_final_resource_has_to_be_made_from_the_value() {
    let path = [
        resource("build", "declared", &[], &["param:debug"]),
        resource("scan", "declared", &["build"], &[]),
        resource("deploy", "declared", &["build"], &[]),
    ];
    let mut steps = vec![
        owner(debug("on")),
        applied("build", 1, debug("on")),
        done("build", 1, json!({"image": "i1"})),
        applied("deploy", 1, json!({"build": "i1"})),
        done("deploy", 1, json!({})),
    ];
    assert_eq!(inputs(&run(&path, &steps)), ["param:debug=on"]);
    steps.extend([
        applied("scan", 1, json!({"build": "i1"})),
        done("scan", 1, json!({})),
    ]);
    assert_eq!(inputs(&run(&path, &steps)), ["param:debug=on arrived"]);
}
