//! The proof of an edge, clause by clause.

use serde_json::{Value, json};

use crate::support::{applied, done, from, output, resource, run, seen};

fn on(value: &str) -> Value {
    json!({"param:p": value})
}

fn build(tracing: &str) -> [Value; 1] {
    [resource("build", tracing, &[], &["param:p"])]
}

fn with(mut step: Value, field: &str, value: Value) -> Value {
    let kind = if step.get("seen").is_some() {
        "seen"
    } else {
        "applied"
    };
    step[kind][field] = value;
    step
}

#[test]
fn output_of_the_old_inputs_stays_with_them() {
    let report = run(
        &build("declared"),
        &[
            applied("build", 1, on("1")),
            done("build", 1, json!({"image": "i1"})),
            applied("build", 2, on("2")),
            seen("build", 2, 1, json!({"image": "i1"})),
        ],
    );
    assert_eq!(from(&report, "build"), ["param:p=1 generation"]);
}

#[test]
fn output_made_by_old_work_after_new_inputs_is_not_proven_to_be_of_either() {
    let report = run(
        &build("declared"),
        &[
            applied("build", 1, on("1")),
            done("build", 1, json!({"image": "i1"})),
            applied("build", 2, on("2")),
            seen("build", 2, 1, json!({"image": "i1-rebuilt"})),
        ],
    );
    assert_eq!(from(&report, "build"), ["param:p=1 assumed"]);
}

#[test]
fn controller_that_works_on_its_own_gives_a_new_artifact_from_the_same_source() {
    let report = run(
        &build("declared"),
        &[
            applied("build", 1, on("1")),
            done("build", 1, json!({"image": "i1"})),
            done("build", 1, json!({"image": "i2"})),
        ],
    );
    assert_eq!(output(&report, "build").as_deref(), Some("i2"));
    assert_eq!(from(&report, "build"), ["param:p=1 generation"]);
}

#[test]
fn only_the_observed_generation_that_is_vouched_for_counts() {
    let cases = [
        ("declared", json!(1), json!(null), "generation"),
        ("declared", json!(null), json!(1), "assumed"),
        ("condition", json!(1), json!(null), "assumed"),
        ("condition", json!(null), json!(1), "generation"),
        ("none", json!(1), json!(1), "assumed"),
    ];
    for (tracing, observed, condition, evidence) in cases {
        let object = with(
            done("build", 1, json!({"image": "i"})),
            "observed",
            observed,
        );
        let object = with(object, "conditionObserved", condition);
        let report = run(&build(tracing), &[applied("build", 1, on("1")), object]);
        assert_eq!(
            from(&report, "build"),
            [format!("param:p=1 {evidence}")],
            "{tracing}"
        );
    }
}

#[test]
fn object_that_is_not_healthy_proves_nothing() {
    for healthy in [json!(false), json!(null)] {
        let object = with(done("build", 1, json!({"image": "i"})), "healthy", healthy);
        let report = run(&build("declared"), &[applied("build", 1, on("1")), object]);
        assert_eq!(from(&report, "build"), ["param:p=1 assumed"]);
    }
}

#[test]
fn input_sets_that_differ_in_metadata_only_cannot_be_told_apart() {
    let both = [resource("build", "declared", &[], &["param:p", "param:q"])];
    let report = run(
        &both,
        &[
            applied("build", 1, json!({"param:p": "1", "param:q": "same"})),
            done("build", 1, json!({"image": "i"})),
            applied("build", 1, json!({"param:p": "2", "param:q": "same"})),
            done("build", 1, json!({"image": "i"})),
        ],
    );
    assert_eq!(
        from(&report, "build"),
        ["param:p=2 assumed", "param:q=same generation"]
    );
}

#[test]
fn generation_of_somebody_else_keeps_the_inputs_only_while_our_fields_hold() {
    let foreign = |held: Value| with(done("build", 2, json!({"image": "i"})), "held", held);
    for (held, evidence) in [
        (json!(true), "generation"),
        (json!(false), "assumed"),
        (json!(null), "assumed"),
    ] {
        let steps = [
            applied("build", 1, on("1")),
            done("build", 1, json!({"image": "i"})),
            foreign(held),
        ];
        let report = run(&build("declared"), &steps);
        assert_eq!(from(&report, "build"), [format!("param:p=1 {evidence}")]);
    }
}

#[test]
fn object_that_was_created_anew_is_another_object() {
    let again = |step: Value| with(step, "uid", json!("another"));
    let old = [
        applied("build", 1, on("1")),
        done("build", 1, json!({"image": "i1"})),
    ];
    let mut steps = old.to_vec();
    steps.push(again(done("build", 1, json!({"image": "i2"}))));
    assert_eq!(
        from(&run(&build("declared"), &steps), "build"),
        ["param:p=1 assumed"]
    );
    let mut steps = old.to_vec();
    steps.push(again(applied("build", 1, on("2"))));
    steps.push(again(done("build", 1, json!({"image": "i2"}))));
    steps.push(done("build", 1, json!({"image": "late"})));
    let report = run(&build("declared"), &steps);
    assert_eq!(output(&report, "build").as_deref(), Some("i2"));
    assert_eq!(from(&report, "build"), ["param:p=2 generation"]);
}

#[test]
fn inputs_of_a_run_are_those_of_that_run() {
    let run_of = |step: Value, uid: &str| with(step, "uid", json!(uid));
    let mut steps = vec![
        run_of(applied("build", 1, on("1")), "run-1"),
        run_of(applied("build", 1, on("2")), "run-2"),
        run_of(done("build", 1, json!({"image": "i1"})), "run-1"),
    ];
    let report = run(&build("immutable"), &steps);
    assert_eq!(from(&report, "build"), ["param:p=1 immutable"]);
    let failed = with(done("build", 1, json!({})), "healthy", json!(false));
    steps.push(run_of(failed, "run-2"));
    let report = run(&build("immutable"), &steps);
    assert_eq!(output(&report, "build").as_deref(), Some("i1"));
    steps.push(run_of(done("build", 1, json!({"image": "i2"})), "run-2"));
    steps.push(run_of(done("build", 1, json!({"image": "i1"})), "run-1"));
    let report = run(&build("immutable"), &steps);
    assert_eq!(output(&report, "build").as_deref(), Some("i2"));
    assert_eq!(from(&report, "build"), ["param:p=2 immutable"]);
}

#[test]
fn run_with_the_inputs_applied_last_goes_before_later_ones() {
    let run_of = |step: Value, uid: &str| with(step, "uid", json!(uid));
    let ended = |uid: &str, image: &str| run_of(done("build", 1, json!({ "image": image })), uid);
    let back = [
        run_of(applied("build", 1, on("1")), "run-1"),
        ended("run-1", "i1"),
        run_of(applied("build", 1, on("2")), "run-2"),
        run_of(applied("build", 1, on("1")), "run-1"),
        ended("run-2", "i2"),
    ];
    let mut anew = back.to_vec();
    anew[3] = run_of(applied("build", 1, on("1")), "run-3");
    anew.push(ended("run-1", "i1"));
    for steps in [back.to_vec(), anew] {
        let report = run(&build("immutable"), &steps);
        assert_eq!(output(&report, "build").as_deref(), Some("i1"));
        assert_eq!(from(&report, "build"), ["param:p=1 immutable"]);
    }
}

#[test]
fn applied_output_is_proven_by_its_value() {
    let apply = |generation, p, config: &str| {
        let outputs = json!({ "config": config });
        with(applied("build", generation, on(p)), "outputs", outputs)
    };
    let silent = |config: &str| {
        let object = done("build", 2, json!({ "config": config }));
        let object = with(object, "generation", json!(null));
        with(
            with(object, "observed", json!(null)),
            "healthy",
            json!(null),
        )
    };
    let mut steps = vec![apply(1, "1", "c1"), apply(2, "2", "c2"), silent("c2")];
    let report = run(&build("applied"), &steps);
    assert_eq!(from(&report, "build"), ["param:p=2 applied"]);
    steps.push(silent("somebody else's"));
    let report = run(&build("applied"), &steps);
    assert_eq!(from(&report, "build"), ["param:p=2 assumed"]);
}

#[test]
fn rule_proves_only_the_inputs_it_names() {
    let mut build = resource("build", "rule", &[], &["param:p", "param:q"]);
    build["proves"] = json!(["param:q"]);
    let apply = |generation, q| applied("build", generation, json!({"param:p": "1", "param:q": q}));
    let look = |generation, image: &str, matched: bool| {
        let object = done("build", generation, json!({ "image": image }));
        with(object, "matched", json!(matched))
    };
    let mut steps = vec![apply(1, "1"), look(1, "i1", true), apply(2, "2")];
    steps.push(look(2, "i1", false));
    let report = run(&[build.clone()], &steps);
    assert_eq!(
        from(&report, "build"),
        ["param:p=1 assumed", "param:q=1 rule"]
    );
    steps.push(look(2, "i2", true));
    let report = run(&[build], &steps);
    assert_eq!(
        from(&report, "build"),
        ["param:p=1 assumed", "param:q=2 rule"]
    );
}

#[test]
fn failing_object_keeps_what_it_made_with_what_it_was_made_from() {
    let failing = with(
        done("build", 2, json!({"image": "i1"})),
        "healthy",
        json!(false),
    );
    let empty = with(done("build", 2, json!({})), "healthy", json!(false));
    let report = run(
        &build("declared"),
        &[
            applied("build", 1, on("1")),
            done("build", 1, json!({"image": "i1"})),
            applied("build", 2, on("2")),
            failing,
            empty,
        ],
    );
    assert_eq!(output(&report, "build").as_deref(), Some("i1"));
    assert_eq!(from(&report, "build"), ["param:p=1 generation"]);
}

/// A late state of a stranger took the place of our object for a while; what was seen of ours meanwhile
/// was at its generation already, so the apply that follows changed metadata only.
#[test]
fn generation_that_was_seen_while_a_stranger_was_there_proves_nothing_of_a_later_apply() {
    let stranger = with(seen("build", 1, 0, json!({})), "uid", json!("stranger"));
    let report = run(
        &build("declared"),
        &[
            applied("build", 1, on("1")),
            stranger,
            done("build", 2, json!({"image": "i"})),
            applied("build", 2, on("2")),
            done("build", 2, json!({"image": "i"})),
        ],
    );
    assert_eq!(from(&report, "build"), ["param:p=2 assumed"]);
}
