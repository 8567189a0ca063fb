//! Cartographer's own acceptance tests, as far as they are about selection.

use std::fs;
use std::path::{Path, PathBuf};

use pathline_blueprint::blueprint::{Blueprint, Resource, TemplateOption};
use pathline_blueprint::owner::{Owner, OwnerKind};
use pathline_blueprint::selection::{Plan, Step, choose_blueprint};
use serde_json::Value;

/// One fixture: what it applies, and what it then expects to find.
struct Fixture {
    applied: Vec<Value>,
    asserted: Vec<Value>,
}

fn fixtures() -> Option<Vec<(PathBuf, Fixture)>> {
    let root = pathline_testkit::shared_dir()?.join("cases/cartographer-kuttl");
    let suites = ["supplychain", "delivery", "runnable"].map(|suite| root.join(suite));
    let directories = suites.iter().flat_map(|suite| entries(suite));
    Some(
        directories
            .map(|path| (path.clone(), read(&path)))
            .collect(),
    )
}

fn entries(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).expect("a directory of the shared cases");
    entries
        .map(|entry| entry.expect("an entry").path())
        .collect()
}

fn read(directory: &Path) -> Fixture {
    let mut fixture = Fixture {
        applied: Vec::new(),
        asserted: Vec::new(),
    };
    for file in entries(directory)
        .iter()
        .filter(|file| file.extension().is_some_and(|it| it == "yaml"))
    {
        let text = fs::read_to_string(file).expect("a file of the shared cases");
        let documents = serde_saphyr::from_multiple::<Value>(&text).expect("YAML");
        let is_assert = file
            .file_name()
            .is_some_and(|name| name.to_string_lossy().contains("assert"));
        if is_assert {
            &mut fixture.asserted
        } else {
            &mut fixture.applied
        }
        .extend(documents);
    }
    fixture
}

impl Fixture {
    fn blueprints(&self) -> Vec<Blueprint> {
        let blueprints = OwnerKind::ALL.map(OwnerKind::blueprint_kind);
        let applied = self
            .applied
            .iter()
            .filter(|object| blueprints.iter().any(|kind| object["kind"] == *kind));
        applied
            .map(|object| Blueprint::read(object.clone()).expect("a blueprint"))
            .collect()
    }

    fn owners(&self) -> Vec<Owner> {
        let owners = OwnerKind::ALL.into_iter().flat_map(|kind| {
            let applied = self
                .applied
                .iter()
                .filter(move |object| object["kind"] == kind.name());
            applied.map(move |object| Owner::read(kind, object.clone()).expect("an owner"))
        });
        owners.collect()
    }

    /// Whether what is expected can only be there if this option was chosen.
    fn shows(&self, resource: &Resource, option: &TemplateOption) -> bool {
        let Some(name) = &option.name else {
            let statuses = self
                .asserted
                .iter()
                .filter_map(|object| object["status"]["resources"].as_array());
            return statuses.flatten().any(|status| {
                status["name"] == resource.name.as_str()
                    && status["conditions"][0]["reason"] == "PassThrough"
            });
        };
        let is_template = |object: &&Value| {
            object["kind"] == resource.template_kind.name()
                && object["metadata"]["name"] == name.as_str()
        };
        let template =
            &self.applied.iter().find(is_template).expect("the template")["spec"]["template"];
        self.asserted.iter().any(|object| is_part(object, template))
    }
}

/// Whether an object that is stamped from a template may have all that is expected.
fn is_part(expected: &Value, template: &Value) -> bool {
    match (expected, template) {
        (_, Value::String(text)) if text.contains("$(") => true,
        (Value::Object(expected), Value::Object(template)) => {
            expected.iter().all(|(key, value)| {
                template
                    .get(key)
                    .is_some_and(|template| is_part(value, template))
            })
        }
        _ => expected == template,
    }
}

#[test]
fn blueprints_of_cartographer_are_single_path_and_choose_what_is_expected() {
    let Some(fixtures) = fixtures() else {
        return pathline_testkit::skip(
            "selection of Cartographer",
            "the shared cases are not there",
        );
    };
    let (mut blueprint_count, mut choices) = (0, 0);
    for (path, fixture) in fixtures {
        let blueprints = fixture.blueprints();
        blueprint_count += blueprints.len();
        for blueprint in &blueprints {
            assert!(!blueprint.is_multi_path(), "{}", path.display());
        }
        for owner in fixture.owners() {
            let of_kind = blueprints
                .iter()
                .filter(|blueprint| blueprint.owner_kind == owner.kind);
            let Ok(blueprint) = choose_blueprint(&owner, of_kind) else {
                continue;
            };
            let steps = Plan::new(blueprint)
                .expect("a valid blueprint")
                .choose(&owner);
            for (resource, step) in blueprint.resources.iter().zip(steps) {
                let Step::Selected { option } = step else {
                    panic!("{}: {step:?}", path.display())
                };
                let Some(option) = option else { continue };
                let shown: Vec<usize> = (0..resource.options().len())
                    .filter(|index| fixture.shows(resource, &resource.options()[*index]))
                    .collect();
                assert_eq!(shown, [option], "{}: {}", path.display(), resource.name);
                choices += 1;
            }
        }
    }
    assert!(
        blueprint_count >= 20 && choices >= 7,
        "{blueprint_count} blueprints, {choices} choices"
    );
}
