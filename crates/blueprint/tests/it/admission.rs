//! The rules of admission, on blueprints and templates that others wrote.

#![expect(clippy::unwrap_used, reason = "a helper that fails fails its test")]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use pathline_blueprint::admission::{admit, first};
use serde_json::{Value, json};

/// The files of Cartographer's acceptance tests that break a rule: the suite runs without webhooks.
///
/// `delivery/cluster-template-after-deployment` breaks two rules in one file.
const BREAK_RULES: [&str; 3] = [
    "delivery/cluster-template-after-deployment",
    "delivery/options-with-labels",
    "runnable/default",
];

#[test]
fn acceptance_tests_of_cartographer_break_the_rules_only_where_known() {
    let Some(cases) =
        pathline_testkit::shared_dir().map(|dir| dir.join("cases/cartographer-kuttl"))
    else {
        return pathline_testkit::skip("admission of fixtures", "the shared cases are not there");
    };
    let mut refused = BTreeSet::new();
    let mut objects = 0;
    for file in yaml_files(&cases) {
        let test = file
            .parent()
            .and_then(|dir| dir.strip_prefix(&cases).ok())
            .unwrap();
        let is_applied = !file.to_string_lossy().contains("assert");
        for object in read(&file).into_iter().filter(|_| is_applied) {
            objects += 1;
            if first(&admit(&object)).is_some() {
                refused.insert(test.to_string_lossy().into_owned());
            }
        }
    }
    assert!(objects > 100, "only {objects} objects were read");
    assert_eq!(
        refused.iter().map(String::as_str).collect::<Vec<_>>(),
        BREAK_RULES
    );
}

#[test]
fn the_first_multi_path_blueprint_is_admitted_once_it_has_a_selector() {
    let Some(seed) =
        pathline_testkit::shared_dir().map(|dir| dir.join("seeds/001_d3b2b4b8ff8789f4.txt"))
    else {
        return pathline_testkit::skip("admission of the seed", "the shared seeds are not there");
    };
    let text = std::fs::read_to_string(seed).unwrap();
    let yaml = text
        .split("```")
        .find(|block| block.starts_with("yaml\n---"))
        .unwrap();
    let mut blueprint: Value =
        serde_saphyr::from_str(yaml.trim_start_matches("yaml\n---\n")).unwrap();
    let refusals = admit(&blueprint);
    assert_eq!(
        first(&refusals).map(|refusal| refusal.rule.code()),
        Some("no-blueprint-selector")
    );
    blueprint["spec"]["selector"] = json!({"type": "web"});
    let refusals = admit(&blueprint);
    assert_eq!(first(&refusals), None);
    let warned: BTreeSet<&str> = refusals.iter().map(|refusal| refusal.rule.code()).collect();
    assert!(warned.contains("duplicate-template"), "{warned:?}");
    assert!(warned.contains("kind-mismatch"), "{warned:?}");
}

fn yaml_files(dir: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(yaml_files(&path));
        } else if path
            .extension()
            .is_some_and(|extension| extension == "yaml")
        {
            files.push(path);
        }
    }
    files
}

fn read(file: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(file).unwrap();
    serde_saphyr::from_multiple(&text).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}
