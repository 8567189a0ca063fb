//! The blueprint of the seed, unchanged.

use pathline_blueprint::blueprint::Blueprint;
use pathline_blueprint::reach::{self, Budget, Path, State, Verdict};
use serde_json::json;

fn blueprint() -> Blueprint {
    let seed = include_str!("../../fixtures/seed.yaml");
    let written = serde_saphyr::from_str(seed).expect("the seed is YAML");
    Blueprint::read(written).expect("the seed can be read")
}

fn short(path: &Path) -> String {
    let states = path.states.iter().map(|state| match state {
        State::Selected {
            option: Some(option),
        } => option.to_string(),
        State::Selected { option: None } => "ok".to_owned(),
        State::Skipped => "-".to_owned(),
        State::Failed => "!".to_owned(),
    });
    states.collect::<Vec<_>>().join(" ")
}

#[test]
fn the_seed_has_28_paths_and_everything_in_it_can_be_reached() {
    let blueprint = blueprint();
    let paths = reach::paths(&blueprint, None, Budget::default()).unwrap();
    assert_eq!((paths.paths.len(), paths.complete), (28, true));
    let analysis = reach::analyse(&blueprint, Budget::default()).unwrap();
    for reach in &analysis.resources {
        assert_eq!(reach.resource, Verdict::Reachable);
        assert!(
            reach
                .options
                .iter()
                .all(|option| *option == Verdict::Reachable)
        );
    }
    let decided: Vec<&str> = analysis
        .order_decides
        .iter()
        .map(|one| blueprint.resources[one.resource].name.as_str())
        .collect();
    assert_eq!(decided, ["source-provider", "image-builder", "configure"]);
}

#[test]
fn examples_of_the_seed_have_nothing_to_spare() {
    let blueprint = blueprint();
    let paths = reach::paths(&blueprint, None, Budget::default())
        .unwrap()
        .paths;
    let example = |wanted: &str| {
        let path = paths.iter().find(|path| short(path) == wanted).unwrap();
        let mut workload = path.example.as_ref().unwrap().workload.clone();
        workload
            .as_object_mut()
            .unwrap()
            .retain(|name, _| ["metadata", "spec"].contains(&name.as_str()));
        workload
    };
    assert_eq!(
        example("- - - - - -"),
        json!({"metadata": {"name": "example"}, "spec": {}})
    );
    assert_eq!(
        example("0 ok - 0 0 1"),
        json!({
            "metadata": {"name": "example", "labels": {"has-tests": "true", "target": "repostiory"}},
            "spec": {"source": {"git": {"url": "any"}}},
        })
    );
    assert_eq!(
        example("- - ok - 1 -"),
        json!({"metadata": {"name": "example"}, "spec": {"image": "any"}})
    );
}

#[test]
fn no_more_paths_are_listed_than_wanted() {
    let blueprint = blueprint();
    let some = reach::paths(&blueprint, Some(5), Budget::default()).unwrap();
    assert_eq!((some.paths.len(), some.complete), (5, false));
    let all = reach::paths(&blueprint, Some(28), Budget::default()).unwrap();
    assert_eq!((all.paths.len(), all.complete), (28, true));
    assert_eq!(some.paths[..], all.paths[..5]);
}
