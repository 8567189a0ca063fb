//! Selection is what the rules say, for any blueprint and any owner.

use pathline_blueprint::blueprint::Blueprint;
use pathline_blueprint::owner::Owner;
use pathline_blueprint::selection::{Plan, Step, explain};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use serde_json::Value;

use super::by_the_rules::{Reading, State};
use crate::random;

fn decided(blueprint: &Value, owner: &Value) -> Vec<State> {
    let blueprint = Blueprint::read(blueprint.clone()).expect("random blueprints can be read");
    let owner =
        Owner::read(blueprint.owner_kind, owner.clone()).expect("random owners can be read");
    let steps = Plan::new(&blueprint)
        .expect("random blueprints are valid")
        .choose(&owner);
    let state = |(index, step): (usize, &Step)| {
        assert!(!explain(&blueprint, index, &steps).is_empty());
        match step {
            Step::Selected { option } => {
                let inputs = blueprint
                    .selected(index, *option)
                    .inputs
                    .into_iter()
                    .map(|input| {
                        (
                            (input.kind.field().to_owned(), input.name.clone()),
                            input.producer.clone(),
                        )
                    });
                State::Selected {
                    option: *option,
                    inputs: inputs.collect(),
                }
            }
            Step::Skipped(_) => State::Skipped,
            Step::Failed(_) => State::Failed,
        }
    };
    steps.iter().enumerate().map(state).collect()
}

#[test]
fn selection_is_what_the_rules_say() {
    let cases = (random::blueprint(&random::ALL_KEYS), random::owner());
    let result =
        TestRunner::new(pathline_testkit::cases(5_000)).run(&cases, |(blueprint, owner)| {
            let expected = Reading::new(&blueprint, &owner).path();
            prop_assert_eq!(decided(&blueprint, &owner), expected);
            Ok(())
        });
    result.unwrap_or_else(|error| panic!("{error}"));
}

/// The generator is only worth its name if every kind of outcome is common.
#[test]
fn random_blueprints_have_every_outcome() {
    let mut seen = [0; 4];
    let cases = (random::blueprint(&random::ALL_KEYS), random::owner());
    let mut runner = TestRunner::deterministic();
    for _ in 0..500 {
        let (blueprint, owner) = cases.new_tree(&mut runner).expect("a case").current();
        for state in decided(&blueprint, &owner) {
            match state {
                State::Selected { option: None, .. } => seen[0] += 1,
                State::Selected {
                    option: Some(_), ..
                } => seen[1] += 1,
                State::Skipped => seen[2] += 1,
                State::Failed => seen[3] += 1,
            }
        }
    }
    assert!(seen.iter().all(|count| *count > 50), "{seen:?}");
}

#[test]
fn plain_keys_never_fail_a_multi_path_blueprint() {
    let cases = (random::blueprint(&random::PLAIN_KEYS), random::owner());
    let mut runner = TestRunner::new(pathline_testkit::cases(256));
    let result = runner.run(&cases, |(blueprint, owner)| {
        let states = decided(&blueprint, &owner);
        let is_multi_path = Blueprint::read(blueprint)
            .expect("a blueprint")
            .is_multi_path();
        prop_assert!(!is_multi_path || !states.contains(&State::Failed));
        Ok(())
    });
    result.unwrap_or_else(|error| panic!("{error}"));
}
