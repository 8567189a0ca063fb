//! Errors in a history, said with their position; and nothing panics.

use pathline_lineage::simulate::simulate;
use pathline_testkit::cases;
use proptest::prelude::*;
use serde_json::{Value, json};

fn refusal(history: &Value) -> String {
    simulate(history).expect_err("it is wrong").to_string()
}

fn of_resources(resources: Value) -> String {
    refusal(&json!({"resources": resources, "steps": []}))
}

fn of_step(step: Value) -> String {
    let build = json!({"name": "build", "tracing": "none", "reads": ["param:p"]});
    refusal(&json!({"resources": [build], "steps": [step]}))
}

#[test]
fn every_mistake_is_named_with_its_place() {
    assert_eq!(
        refusal(&json!([])),
        "history: an object is expected, found a list"
    );
    assert_eq!(
        refusal(&json!({"steps": []})),
        "history: the field `resources` is missing"
    );
    assert_eq!(
        of_resources(json!([{"name": "a", "tracing": "hope"}])),
        "resources[0].tracing: `hope` is no tracing; declared, condition, none, immutable, applied or rule is"
    );
    assert_eq!(
        of_resources(json!([{"name": "a", "tracing": "none", "inputs": ["b"]}])),
        "resources: resource `a` takes the output of `b`, which is no resource"
    );
    assert_eq!(
        of_resources(json!([{"name": "a", "tracing": "none", "inputs": ["a"]}])),
        "resources: resources need each other's outputs in a circle: a"
    );
    assert_eq!(
        of_resources(json!([{"name": "a", "tracing": "rule", "proves": ["param:x"]}])),
        "resources[0].proves: `param:x` is neither in `inputs` nor in `reads`"
    );
    assert_eq!(
        of_step(json!({"seen": {"resource": "deploy"}})),
        "steps[0].seen.resource: `deploy` is not in `resources`"
    );
    assert_eq!(
        of_step(json!({"seen": {"resource": "build", "uid": 7}})),
        "steps[0].seen.uid: a text is expected, found 7"
    );
    assert_eq!(
        of_step(json!({"seen": {"resource": "build", "uid": "u", "observed": 1.5}})),
        "steps[0].seen.observed: a whole number (null if unknown) is expected, found 1.5"
    );
    assert_eq!(
        of_step(json!({"seen": {"resource": "build", "uid": "u", "outputs": {"a": 1, "b": 2}}})),
        "steps[0].seen.outputs: a resource has at most one output"
    );
    assert_eq!(
        of_step(json!({"applied": {"resource": "build", "uid": "u", "inputs": {"param:q": 1}}})),
        "steps[0].applied.inputs.param:q: `build` has `param:q` neither in `inputs` nor in `reads`"
    );
    assert_eq!(
        of_step(json!({"owner": {}, "seen": {}})),
        "steps[0]: a step is one of `owner`, `applied` and `seen`"
    );
    let misspelt = of_step(json!({"seen": {"resource": "build", "uid": "u", "observd": 1}}));
    assert!(
        misspelt.starts_with("steps[0].seen.observd: no such field"),
        "{misspelt}"
    );
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        word().prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 64, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::btree_map(word(), inner, 0..6)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

fn word() -> impl Strategy<Value = String> {
    let words = [
        "resources",
        "steps",
        "owner",
        "applied",
        "seen",
        "resource",
        "uid",
        "generation",
        "outputs",
        "inputs",
        "reads",
        "name",
        "tracing",
        "declared",
        "a",
        "b",
        "param:p",
    ];
    prop_oneof![
        prop::sample::select(words.map(str::to_owned).to_vec()),
        ".{0,4}"
    ]
}

/// Steps of the right shape with anything in them.
fn any_step() -> impl Strategy<Value = Value> {
    let name = prop::sample::select(vec!["a", "b", "c"]);
    let uid = prop::sample::select(vec!["u", "v"]);
    let number = || prop::option::of(prop_oneof![0..4_i64, any::<i64>()]);
    let value = || prop::sample::select(vec![json!(null), json!("x"), json!("y"), json!([1])]);
    let seen = (
        name.clone(),
        uid.clone(),
        number(),
        number(),
        number(),
        any::<Option<bool>>(),
        value(),
    );
    prop_oneof![
        value().prop_map(|p| json!({"owner": {"param:p": p, "source": "x"}})),
        (name, uid, number(), value(), value()).prop_map(|(name, uid, generation, p, output)| {
            let upstream = if name == "c" { json!({"a": p, "b": output}) } else { json!({"param:p": p}) };
            json!({"applied": {"resource": name, "uid": uid, "generation": generation, "inputs": upstream,
                               "outputs": {"image": output}}})
        }),
        seen.prop_map(|(name, uid, generation, observed, condition, truth, output)| {
            json!({"seen": {"resource": name, "uid": uid, "generation": generation, "observed": observed,
                            "conditionObserved": condition, "healthy": truth, "matched": truth, "held": truth,
                            "outputs": {"image": output}}})
        }),
    ]
}

proptest! {
    #![proptest_config(cases(256))]

    #[test]
    fn simulate_never_panics_on_any_json(json in any_json()) {
        let _ = simulate(&json);
        let _ = simulate(&json!({"resources": json, "steps": [json]}));
    }

    #[test]
    fn simulate_answers_every_history_of_the_right_shape(
        tracings in prop::array::uniform3(prop::sample::select(vec![
            "declared", "condition", "none", "immutable", "applied", "rule",
        ])),
        steps in prop::collection::vec(any_step(), 0..40),
    ) {
        let [a, b, c] = tracings;
        let history = json!({
            "resources": [
                {"name": "c", "inputs": ["a", "b"], "tracing": c, "proves": ["a"]},
                {"name": "a", "reads": ["param:p"], "tracing": a},
                {"name": "b", "reads": ["param:p"], "tracing": b, "proves": ["param:p"]},
            ],
            "steps": steps,
        });
        prop_assert!(simulate(&history).is_ok());
    }
}
