//! All small owners, one by one.

use std::collections::{BTreeMap, BTreeSet};

use pathline_blueprint::blueprint::Blueprint;
use pathline_blueprint::owner::Owner;
use pathline_blueprint::reach::{self, Analysis, Budget, Paths, State, Verdict};
use pathline_blueprint::selection::{Plan, Step};
use pathline_blueprint::selector;
use pathline_testkit::cases;
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use serde_json::{Value, json};

use crate::random;

/// Fields that are prefixes of each other, of several types, a label, and one that nobody has.
const KEYS: [&str; 8] = [
    "metadata.labels.a",
    "metadata.labels",
    "spec.source",
    "spec.source.git",
    "{.spec.source['git.url']}",
    "spec.params",
    "spec.nothing",
    "kind",
];

/// The answer that trying every owner gives.
struct Tried {
    paths: BTreeMap<Vec<State>, Value>,
    order_decides: BTreeSet<usize>,
}

/// The values that a label or a field can have, by the place to put it. Nulls are what a file may hold.
fn places(blueprint: &Value) -> Vec<(&'static str, Vec<Value>)> {
    let text = blueprint.to_string();
    let texts = || vec![json!("x"), json!("y"), json!("z")];
    let mut places = vec![
        ("/metadata/labels/a", texts()),
        ("/metadata/labels/b", texts()),
        ("/metadata/labels/c", vec![json!("x")]),
        (
            "/spec/source",
            vec![
                Value::Null,
                json!({}),
                json!({"git": {}}),
                json!({"git": null, "image": "i"}),
                json!({"git": {"url": "x"}}),
                json!({"git": {"url": "y"}}),
                json!({"git": {"url": "z"}}),
            ],
        ),
        ("/spec/params", vec![json!([])]),
    ];
    let is_asked = |pointer: &str| match pointer {
        "/metadata/labels/a" => text.contains("\"a\"") || text.contains("metadata.labels"),
        "/metadata/labels/b" => text.contains("\"b\"") || text.contains("metadata.labels"),
        "/metadata/labels/c" => text.contains("\"metadata.labels\""),
        "/spec/source" => text.contains("spec.source"),
        _ => text.contains("spec.params"),
    };
    places.retain(|(pointer, _)| is_asked(pointer));
    places
}

/// Makes every owner that has some of these.
fn owners(blueprint: &Blueprint, places: &[(&'static str, Vec<Value>)]) -> Vec<Owner> {
    let bare = json!({
        "apiVersion": "carto.run/v1alpha1",
        "kind": blueprint.owner_kind.name(),
        "metadata": {"name": "app"},
        "spec": {},
    });
    let mut owners = vec![bare];
    for (pointer, values) in places {
        let mut more = Vec::new();
        for owner in &owners {
            for value in values {
                let mut owner = owner.clone();
                if pointer.starts_with("/metadata/labels") && owner["metadata"]["labels"].is_null()
                {
                    owner["metadata"]["labels"] = json!({});
                }
                let (parent, name) = pointer.rsplit_once('/').expect("a pointer has a parent");
                owner.pointer_mut(parent).expect("parents were put there")[name] = value.clone();
                more.push(owner);
            }
        }
        owners.extend(more);
    }
    let read = |owner| Owner::read(blueprint.owner_kind, owner).expect("a valid owner");
    owners.into_iter().map(read).collect()
}

fn admits(blueprint: &Blueprint, owner: &Owner) -> bool {
    selector::score(&blueprint.selector, owner)
        .expect("every key can be evaluated")
        .is_some()
}

fn states(steps: &[Step]) -> Vec<State> {
    steps.iter().map(State::from).collect()
}

fn try_all(blueprint: &Blueprint, places: &[(&'static str, Vec<Value>)]) -> Tried {
    let plan = Plan::new(blueprint).expect("a valid blueprint");
    let mut tried = Tried {
        paths: BTreeMap::new(),
        order_decides: BTreeSet::new(),
    };
    for owner in owners(blueprint, places) {
        if !admits(blueprint, &owner) {
            continue;
        }
        let steps = plan.choose(&owner);
        for resource in 0..steps.len() {
            if order_decides(blueprint, resource, &owner, &steps) {
                tried.order_decides.insert(resource);
            }
        }
        tried.paths.entry(states(&steps)).or_insert(owner.object);
    }
    tried
}

/// Says whether first match and best score choose differently, by the words of the rule.
fn order_decides(blueprint: &Blueprint, resource: usize, owner: &Owner, steps: &[Step]) -> bool {
    let Step::Selected {
        option: Some(first),
    } = steps[resource]
    else {
        return false;
    };
    let is_selected = |name: &str| {
        let producer = blueprint
            .resources
            .iter()
            .position(|resource| resource.name == name);
        steps[producer.expect("producers are known")].is_selected()
    };
    let mut scores = BTreeMap::new();
    for (index, option) in blueprint.resources[resource].options().iter().enumerate() {
        let score = match &option.selector {
            Some(selector) => selector::score(selector, owner).expect("every key can be evaluated"),
            None => Some(0),
        };
        if let Some(score) = score
            && option
                .inputs
                .iter()
                .all(|input| is_selected(&input.producer))
        {
            scores.insert(index, score);
        }
    }
    let is_beaten = scores
        .iter()
        .any(|(index, score)| *index != first && *score >= scores[&first]);
    blueprint.is_multi_path() && is_beaten
}

fn check_analysis(analysis: &Analysis, tried: &Tried) -> Result<(), TestCaseError> {
    for (index, reach) in analysis.resources.iter().enumerate() {
        let mut reached = tried.paths.keys().map(|path| path[index]);
        let is_reached = reached
            .clone()
            .any(|state| matches!(state, State::Selected { .. }));
        prop_assert_eq!(
            is_reached,
            reach.resource == Verdict::Reachable,
            "resource {}",
            index
        );
        for (option, verdict) in reach.options.iter().enumerate() {
            let is_reached = reached.clone().any(|state| {
                state
                    == State::Selected {
                        option: Some(option),
                    }
            });
            prop_assert_eq!(
                is_reached,
                *verdict == Verdict::Reachable,
                "option {} of {}",
                option,
                index
            );
            prop_assert_ne!(verdict, &Verdict::Unknown);
        }
        prop_assert!(reached.next().is_some() || tried.paths.is_empty());
    }
    let found: BTreeSet<usize> = analysis
        .order_decides
        .iter()
        .map(|one| one.resource)
        .collect();
    prop_assert_eq!(&found, &tried.order_decides);
    prop_assert!(analysis.order_unknown.is_empty());
    Ok(())
}

fn check_paths(blueprint: &Blueprint, paths: &Paths, tried: &Tried) -> Result<(), TestCaseError> {
    let listed: BTreeSet<&Vec<State>> = paths.paths.iter().map(|path| &path.states).collect();
    prop_assert_eq!(listed.len(), paths.paths.len(), "a path is listed twice");
    prop_assert_eq!(listed, tried.paths.keys().collect());
    prop_assert!(paths.complete);
    let plan = Plan::new(blueprint).expect("a valid blueprint");
    for path in &paths.paths {
        let example = path.example.as_ref().expect("no key is free");
        let takes_it = |workload: &Value| {
            let owner = Owner::read(blueprint.owner_kind, workload.clone()).expect("a valid owner");
            admits(blueprint, &owner) && states(&plan.choose(&owner)) == path.states
        };
        prop_assert!(
            takes_it(&example.workload),
            "{} is no example",
            example.workload
        );
        for smaller in smaller(&example.workload) {
            prop_assert!(
                !takes_it(&smaller),
                "{} is not minimal: {}",
                example.workload,
                smaller
            );
        }
    }
    Ok(())
}

/// Returns everything that an owner is after one label or field was dropped.
fn smaller(workload: &Value) -> Vec<Value> {
    let mut all = Vec::new();
    for root in ["/metadata", "/spec"] {
        let mut ahead = vec![root.to_owned()];
        while let Some(pointer) = ahead.pop() {
            let Some(Value::Object(fields)) = workload.pointer(&pointer) else {
                continue;
            };
            for name in fields
                .keys()
                .filter(|name| !(root == "/metadata" && *name == "name"))
            {
                let mut smaller = workload.clone();
                smaller
                    .pointer_mut(&pointer)
                    .and_then(Value::as_object_mut)
                    .expect("it was just looked at")
                    .remove(name);
                all.push(smaller);
                ahead.push(format!("{pointer}/{name}"));
            }
        }
    }
    all
}

fn check(object: &Value) -> Result<(), TestCaseError> {
    let blueprint = Blueprint::read(object.clone()).expect("a valid blueprint");
    let tried = try_all(&blueprint, &places(object));
    let analysis = reach::analyse(&blueprint, Budget::default()).expect("a valid blueprint");
    check_analysis(&analysis, &tried)?;
    check_paths(
        &blueprint,
        &reach::paths(&blueprint, None, Budget::default()).expect("a valid blueprint"),
        &tried,
    )
}

#[test]
fn reachability_and_paths_are_those_of_trying_every_owner() {
    let config = ProptestConfig {
        max_shrink_iters: 2_000,
        ..cases(5_000)
    };
    let result = TestRunner::new(config).run(&random::blueprint(&KEYS), |object| check(&object));
    result.unwrap_or_else(|error| panic!("{error}"));
}
