//! The reads that selection names are all that it depends on.

use std::collections::BTreeSet;

use pathline_blueprint::blueprint::Blueprint;
use pathline_blueprint::owner::Owner;
use pathline_blueprint::selection::{Plan, Step, reads};
use pathline_jsonpath::{FieldPath, Segment};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use serde_json::{Value, json};

use crate::random;

/// Returns the fields that decided about a resource, and about those it takes something from.
fn decided_by(
    blueprint: &Blueprint,
    owner: &Owner,
    steps: &[Step],
    index: usize,
) -> BTreeSet<FieldPath> {
    let mut fields = reads(blueprint, owner, steps, index);
    if let Step::Selected { option } = &steps[index] {
        for input in blueprint.selected(index, *option).inputs {
            let resources = &blueprint.resources;
            let producer = resources
                .iter()
                .position(|resource| resource.name == input.producer)
                .expect("random blueprints are valid");
            fields.extend(decided_by(blueprint, owner, steps, producer));
        }
    }
    fields
}

/// Gives an owner the fields that another one has.
fn with_fields_of(owner: &Value, fields: &BTreeSet<FieldPath>, other: &Value) -> Value {
    let mut mixed = other.clone();
    // The set is sorted, so a field comes before those below it.
    for field in fields {
        put(&mut mixed, field.segments(), field.find(owner));
    }
    mixed
}

fn put(object: &mut Value, path: &[Segment], value: Option<&Value>) {
    let [Segment::Field(name), below @ ..] = path else {
        unreachable!("a list is one value, and no selector reads a whole owner here");
    };
    if !object.is_object() {
        *object = json!({});
    }
    let members = object.as_object_mut().expect("it was made one");
    match (below, value) {
        ([], Some(value)) => drop(members.insert(name.clone(), value.clone())),
        ([], None) => drop(members.remove(name)),
        (below, Some(_)) => put(
            members.entry(name.clone()).or_insert(Value::Null),
            below,
            value,
        ),
        (below, None) => {
            if let Some(inner) = members.get_mut(name).filter(|inner| inner.is_object()) {
                put(inner, below, None);
            }
        }
    }
}

#[test]
fn whoever_has_the_same_fields_takes_the_same_way() {
    let mut runner = TestRunner::new(pathline_testkit::cases(2_000));
    let cases = (
        random::blueprint(&random::ALL_KEYS),
        random::owner(),
        random::owner(),
    );
    let law = |(blueprint, one, other): (Value, Value, Value)| {
        let blueprint = Blueprint::read(blueprint).expect("random blueprints can be read");
        let read = |object: &Value| {
            Owner::read(blueprint.owner_kind, object.clone()).expect("random owners can be read")
        };
        let plan = Plan::new(&blueprint).expect("random blueprints are valid");
        let owner = read(&one);
        let steps = plan.choose(&owner);
        for (index, step) in steps.iter().enumerate() {
            let fields = decided_by(&blueprint, &owner, &steps, index);
            let mixed = with_fields_of(&one, &fields, &other);
            let again = &plan.choose(&read(&mixed))[index];
            match step {
                Step::Selected { .. } => prop_assert_eq!(step, again, "{} {:?}", mixed, fields),
                // Why it is skipped may change: there may be two reasons.
                Step::Skipped(_) => prop_assert!(!again.is_selected(), "{} {:?}", mixed, fields),
                Step::Failed(_) => {}
            }
        }
        Ok(())
    };
    let result = runner.run(&cases, law);
    result.unwrap_or_else(|error| panic!("{error}"));
}
