//! The seed's own blueprint, unchanged.

use pathline_blueprint::blueprint::Blueprint;
use pathline_blueprint::owner::Owner;
use pathline_blueprint::selection::{Plan, Step, explain};
use pathline_kinds::lenient::{self, LoosenessKind};
use serde_json::{Value, json};

fn written() -> Value {
    serde_saphyr::from_str(include_str!("../../fixtures/seed.yaml")).expect("the seed is YAML")
}

fn steps(mut spec: Value, labels: &Value) -> (Blueprint, Vec<Step>) {
    let blueprint = Blueprint::read(written()).expect("the seed can be read");
    let mut owner = json!({"metadata": {"name": "app", "labels": labels}, "spec": spec.take()});
    lenient::correct_owner(&mut owner);
    let owner = Owner::read(blueprint.owner_kind, owner).expect("an owner");
    let steps = Plan::new(&blueprint)
        .expect("the seed is valid")
        .choose(&owner);
    (blueprint, steps)
}

/// One sign a resource: the option, `+` for a single template, `-` for skipped.
fn path(spec: Value, labels: &Value) -> String {
    let (_, steps) = steps(spec, labels);
    let signs = steps.iter().map(|step| match step {
        Step::Selected {
            option: Some(option),
        } => option.to_string(),
        Step::Selected { option: None } => "+".to_owned(),
        Step::Skipped(_) => "-".to_owned(),
        Step::Failed(why) => panic!("{why:?}"),
    });
    signs.collect()
}

#[test]
fn the_seed_gives_its_table() {
    let (none, tests) = (json!({}), json!({"has-tests": "true"}));
    for url in [
        json!({"source": {"url": "u"}}),
        json!({"source": {"git": {"url": "u"}}}),
    ] {
        let mut with_image = url.clone();
        with_image["image"] = json!("i");
        assert_eq!(path(url.clone(), &none), "0--10-");
        assert_eq!(path(url.clone(), &tests), "0+-00-");
        assert_eq!(path(with_image, &none), "0-+10-");
        assert_eq!(path(url, &json!({"target": "gitops"})), "0--100");
    }
    assert_eq!(path(json!({"source": {"image": "i"}}), &tests), "1+-00-");
    for labels in [&none, &tests] {
        assert_eq!(path(json!({"image": "i"}), labels), "--+-1-");
    }
    let repository = json!({"target": "repostiory"});
    assert_eq!(path(json!({"image": "i"}), &repository), "--+-11");
    assert_eq!(path(json!({}), &json!({"target": "gitops"})), "------");
}

#[test]
fn every_choice_has_its_reason() {
    let (blueprint, steps) = steps(json!({"source": {"url": "u"}}), &json!({}));
    let reasons: Vec<String> = (0..steps.len())
        .map(|index| explain(&blueprint, index, &steps))
        .collect();
    assert_eq!(
        reasons,
        [
            "option 0 is the first that is selected: its selector matches",
            "label [has-tests] is not [true]",
            "field [spec.image] does not exist",
            "option 1 is the first that is selected: [source-provider] is selected",
            "option 0 is the first that is selected: [image-builder] is selected",
            "no option is selected: option 0: label [target] is not [gitops]; \
             option 1: label [target] is not [repostiory]",
        ]
    );
}

#[test]
fn inputs_are_offered_under_the_kind_their_producer_makes() {
    let (blueprint, steps) = steps(json!({"source": {"url": "u"}}), &json!({}));
    let inputs = |resource: usize| {
        let Step::Selected { option } = steps[resource] else {
            panic!("it is selected")
        };
        let inputs = blueprint.selected(resource, option).inputs;
        let inputs = inputs.iter().map(|input| {
            format!(
                "{} {} from {}",
                input.kind.field(),
                input.name,
                input.producer
            )
        });
        inputs.collect::<Vec<_>>()
    };
    assert_eq!(inputs(3), ["sources source from source-provider"]);
    assert_eq!(inputs(4), ["images image from image-builder"]);
}

#[test]
fn every_loose_spelling_is_listed_with_its_place() {
    let found: Vec<String> = lenient::correct_blueprint(&mut written())
        .into_iter()
        .map(|loose| format!("{} {}", loose.kind.code(), loose.path))
        .collect();
    let option =
        |index| format!("spec.resources[0].templateRef.options[{index}].selector.matchFields");
    let image = "spec.resources[2].selector.matchFields";
    let mut expected = vec![
        format!("single-match-field {}", option(0)),
        format!("source-url {}.key", option(0)),
        format!("operation {}.operation", option(0)),
        format!("operator-case {}.operation", option(0)),
    ];
    for place in [option(1), image.to_owned()] {
        expected.extend([
            format!("single-match-field {place}"),
            format!("operation {place}.operation"),
            format!("operator-case {place}.operation"),
        ]);
    }
    assert_eq!(found, expected);
}

#[test]
fn what_was_loose_is_written_strictly() {
    let mut corrected = written();
    lenient::correct_blueprint(&mut corrected);
    assert_eq!(
        corrected["spec"]["resources"][0]["templateRef"]["options"][0]["selector"],
        json!({"matchFields": [{"key": "spec.source.git.url", "operator": "Exists"}]})
    );
    assert_eq!(lenient::correct_blueprint(&mut corrected), []);
    assert_eq!(
        Blueprint::read(corrected).unwrap(),
        Blueprint::read(written()).unwrap()
    );
}

#[test]
fn an_owner_keeps_its_real_url() {
    let corrected = |mut owner: Value| {
        let found =
            lenient::correct_owner(&mut owner).map(|loose| (loose.kind, loose.path.to_string()));
        (owner["spec"]["source"].take(), found)
    };
    let found = Some((LoosenessKind::SourceUrl, "spec.source.url".to_owned()));
    let both = json!({"spec": {"source": {"url": "loose", "git": {"url": "real"}}}});
    assert_eq!(
        corrected(both),
        (json!({"git": {"url": "real"}}), found.clone())
    );
    let only = json!({"spec": {"source": {"url": "loose", "git": null}}});
    assert_eq!(corrected(only), (json!({"git": {"url": "loose"}}), found));
    for source in [
        json!({"image": "i"}),
        json!({"url": null}),
        json!({"url": "u", "git": "no object"}),
    ] {
        let owner = json!({"spec": {"source": source}});
        assert_eq!(corrected(owner), (source, None));
    }
}
