//! Any text is documents or an error; any blueprint among them has a path for any owner among them, or a
//! fault; and every path is explained and consistent in itself.

use pathline_blueprint::blueprint::Blueprint;
use pathline_blueprint::owner::{Owner, OwnerKind};
use pathline_blueprint::selection::{Plan, Step, explain};
use pathline_document::{Document, Format};
use pathline_kinds::lenient;
use serde_json::Value;

pub(crate) fn check(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    let Ok(documents) = Format::Yaml.read(text) else {
        return;
    };
    let values = documents.iter().map(Document::to_json);
    let values: Vec<Value> = values.filter(|value| !value.is_null()).collect();
    let owners: Vec<Owner> = values.iter().filter_map(owner).collect();
    for value in &values {
        check_blueprint(value, &owners);
    }
}

fn owner(value: &Value) -> Option<Owner> {
    let mut value = value.clone();
    lenient::correct_owner(&mut value);
    assert_eq!(lenient::correct_owner(&mut value.clone()), None);
    let kind = OwnerKind::ALL
        .into_iter()
        .find(|kind| value["kind"] == kind.name());
    Owner::read(kind.unwrap_or(OwnerKind::Workload), value).ok()
}

fn check_blueprint(written: &Value, owners: &[Owner]) {
    let mut corrected = written.clone();
    lenient::correct_blueprint(&mut corrected);
    assert_eq!(lenient::correct_blueprint(&mut corrected.clone()), []);
    let Ok(blueprint) = Blueprint::read(written.clone()) else {
        return;
    };
    assert_eq!(Blueprint::read(corrected).ok().as_ref(), Some(&blueprint));
    match Plan::new(&blueprint) {
        Ok(plan) => {
            for owner in owners {
                check_path(&blueprint, &plan.choose(owner));
            }
        }
        Err(fault) => assert!(!fault.to_string().is_empty()),
    }
}

fn check_path(blueprint: &Blueprint, steps: &[Step]) {
    assert_eq!(steps.len(), blueprint.resources.len());
    for (index, step) in steps.iter().enumerate() {
        assert!(!explain(blueprint, index, steps).is_empty());
        let is_single_path = !blueprint.is_multi_path();
        assert!(!is_single_path || !matches!(step, Step::Skipped(_)));
        let Step::Selected { option } = step else {
            continue;
        };
        for input in blueprint.selected(index, *option).inputs {
            let producer = blueprint
                .resources
                .iter()
                .position(|it| it.name == input.producer);
            let producer = producer.expect("a plan knows all producers");
            assert!(is_single_path || steps[producer].is_selected());
        }
    }
}
