//! `pathline blueprint paths`.

use insta::assert_snapshot;
use serde_json::Value;

use super::{Scratch, chain, example, json_of, run_in};
use crate::program::stdout;

#[test]
fn blueprint_of_the_seed_has_28_paths_each_with_an_owner_that_takes_it() {
    let paths = json_of(&run_in(
        &example(),
        &["paths", "-f", "blueprint.yaml", "-o", "json"],
    ));
    assert_eq!(paths["complete"], true);
    let paths = paths["paths"].as_array().expect("a list");
    assert_eq!(paths.len(), 28);
    for path in [&paths[0], &paths[27]] {
        let owner = path["owner"].to_string();
        let scratch = Scratch::new(&[("workload.yaml", &owner)]);
        let blueprint = example().join("blueprint.yaml");
        let blueprint = blueprint.to_str().expect("a readable path");
        let taken = scratch.run(&["path", "-f", blueprint, "-w", "workload.yaml", "-o", "json"]);
        assert_eq!(json_of(&taken)["resources"], path["resources"]);
    }
}

#[test]
fn fewer_paths_are_listed_when_asked_for() {
    let limited = [
        "paths",
        "-f",
        "blueprint.yaml",
        "--limit",
        "3",
        "-o",
        "yaml",
    ];
    let paths: Value =
        serde_saphyr::from_str(&stdout(&run_in(&example(), &limited))).expect("YAML");
    assert_eq!(paths["paths"].as_array().map(Vec::len), Some(3));
    assert_eq!(paths["complete"], false);
}

#[test]
fn paths_read_well() {
    let resources = "
  - name: test
    selector: {matchLabels: {has-tests: 'true'}}
    templateRef: {kind: ClusterSourceTemplate, name: run-tests}
  - name: build
    templateRef:
      kind: ClusterImageTemplate
      options:
      - {name: tested, sources: [{name: source, resource: test}]}
      - {name: untested, selector: {matchFields: [{key: spec.image, operator: Exists}]}}
";
    let scratch = Scratch::new(&[("chain.yaml", &chain(resources))]);
    assert_snapshot!(stdout(&scratch.run(&["paths", "-f", "chain.yaml"])));
}
