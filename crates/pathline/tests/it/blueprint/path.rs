//! `pathline blueprint path`.

use insta::assert_snapshot;
use serde_json::{Value, json};

use super::{Scratch, chain, example, json_of, run_in, seed_blueprint, workload};
use crate::program::{stderr, stdout};

/// Returns the path in the words of the issue: an index, `ok` or `-`.
fn in_short(path: &Value) -> String {
    let resources = path["resources"].as_array().expect("a list");
    let words = resources
        .iter()
        .map(|resource| match (&resource["state"], &resource["option"]) {
            (state, Value::Null) if state == "selected" => "ok".to_owned(),
            (state, option) if state == "selected" => option.to_string(),
            (state, _) if state == "skipped" => "-".to_owned(),
            (state, _) => state.to_string(),
        });
    words.collect::<Vec<_>>().join(" ")
}

#[test]
fn blueprint_of_the_seed_gives_the_table_of_the_issue() {
    let tested = || json!({"has-tests": "true"});
    let rows = [
        (json!({}), json!({"source": {"url": "u"}}), "0 - - 1 0 -"),
        (
            json!({}),
            json!({"source": {"git": {"url": "u"}}}),
            "0 - - 1 0 -",
        ),
        (tested(), json!({"source": {"url": "u"}}), "0 ok - 0 0 -"),
        (
            tested(),
            json!({"source": {"git": {"url": "u"}}}),
            "0 ok - 0 0 -",
        ),
        (tested(), json!({"source": {"image": "i"}}), "1 ok - 0 0 -"),
        (json!({}), json!({"image": "i"}), "- - ok - 1 -"),
        (tested(), json!({"image": "i"}), "- - ok - 1 -"),
        (
            json!({}),
            json!({"image": "i", "source": {"url": "u"}}),
            "0 - ok 1 0 -",
        ),
        (
            json!({"target": "gitops"}),
            json!({"source": {"url": "u"}}),
            "0 - - 1 0 0",
        ),
        (
            json!({"target": "repostiory"}),
            json!({"image": "i"}),
            "- - ok - 1 1",
        ),
        (json!({"target": "gitops"}), json!({}), "- - - - - -"),
    ];
    let blueprint = seed_blueprint();
    let blueprint = blueprint.to_str().expect("a readable path");
    for (labels, spec, expected) in rows {
        let owner = workload(labels, spec);
        let scratch = Scratch::new(&[("workload.yaml", &owner)]);
        let output = scratch.run(&["path", "-f", blueprint, "-w", "workload.yaml", "-o", "json"]);
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        assert_eq!(in_short(&json_of(&output)), expected, "{owner}");
    }
}

#[test]
fn path_reads_well() {
    let output = run_in(
        &example(),
        &["path", "-f", "blueprint.yaml", "-w", "tested-workload.yaml"],
    );
    assert_eq!(output.status.code(), Some(0));
    assert_snapshot!(stdout(&output));
}

#[test]
fn path_is_printed_for_programs_with_inputs_under_the_kind_their_producer_makes() {
    let arguments = [
        "path",
        "-f",
        "blueprint.yaml",
        "-w",
        "tested-workload.yaml",
        "-o",
        "json",
    ];
    let path = json_of(&run_in(&example(), &arguments));
    assert_eq!(path["matches"], true);
    assert_eq!(
        path["resources"][3],
        json!({
            "name": "image-builder", "state": "selected", "option": 0, "template": "build-image",
            "passThrough": null, "inputs": {"sources": {"source": "source-tester"}},
            "reason": "option 0 is the first that is selected: [source-tester] is selected",
        })
    );
    assert_eq!(
        path["resources"][5],
        json!({
            "name": "gitops", "state": "skipped", "option": null, "template": null, "passThrough": null,
            "inputs": {},
            "reason": "no option is selected: option 0: label [target] is not [gitops]; \
                       option 1: label [target] is not [repostiory]",
        })
    );
    let yaml = run_in(
        &example(),
        &[
            "path",
            "-f",
            "blueprint.yaml",
            "-w",
            "tested-workload.yaml",
            "-o",
            "yaml",
        ],
    );
    let yaml: Value = serde_saphyr::from_str(&stdout(&yaml)).expect("YAML");
    assert_eq!(yaml, path);
}

#[test]
fn a_delivery_is_for_deliverables_and_shows_what_it_deploys() {
    let delivery = "\
apiVersion: carto.run/v1alpha1
kind: ClusterDelivery
metadata: {name: delivery}
spec:
  selector: {type: web}
  resources:
  - name: provider
    templateRef: {kind: ClusterSourceTemplate, name: source}
  - name: deployer
    templateRef: {kind: ClusterDeploymentTemplate, name: deploy}
    deployment: {resource: provider}
";
    let deliverable = "{apiVersion: carto.run/v1alpha1, kind: Deliverable, metadata: {name: app}}";
    let scratch = Scratch::new(&[
        ("delivery.yaml", delivery),
        ("deliverable.yaml", deliverable),
        ("workload.yaml", &workload(json!({}), json!({}))),
    ]);
    let output = scratch.run(&[
        "path",
        "-f",
        "delivery.yaml",
        "-w",
        "deliverable.yaml",
        "-o",
        "json",
    ]);
    let path = json_of(&output);
    assert_eq!(
        path["matches"], false,
        "the blueprint's selector is told, not asked"
    );
    assert_eq!(
        path["resources"][1]["inputs"],
        json!({"deployment": "provider"})
    );

    let output = scratch.run(&["path", "-f", "delivery.yaml", "-w", "workload.yaml"]);
    assert_eq!(output.status.code(), Some(2));
    assert_snapshot!(stderr(&output), @r"
    error: workload.yaml holds no Deliverable, but Workload

    hint: supply chains are for Workloads, deliveries for Deliverables
    ");
}

#[test]
fn a_resource_that_fails_is_no_for_an_answer() {
    let resources = "
  - name: build
    templateRef:
      kind: ClusterImageTemplate
      options:
      - {name: a, selector: {matchLabels: {lang: a}}}
      - {passThrough: in, selector: {matchLabels: {lang: b}}}
    images: [{name: in, resource: base}]
  - name: base
    templateRef: {kind: ClusterImageTemplate, name: base}
";
    let scratch = Scratch::new(&[
        ("chain.yaml", &chain(resources)),
        ("none.yaml", &workload(json!({}), json!({}))),
        (
            "b.yaml",
            &workload(json!({"lang": "b", "type": "web"}), json!({})),
        ),
    ]);
    let output = scratch.run(&["path", "-f", "chain.yaml", "-w", "none.yaml"]);
    assert_eq!(output.status.code(), Some(1));
    assert_snapshot!(stdout(&output), @r#"
    RESOURCE  STATE     TEMPLATE  REASON
    build     failed              no option matches; exactly one must match best
    base      selected  base      it is on every path

    The selector of the supply chain `chain` does not match the workload `app`.
    "#);
    let output = scratch.run(&["path", "-f", "chain.yaml", "-w", "b.yaml", "-o", "json"]);
    assert_eq!(output.status.code(), Some(0));
    let build = &json_of(&output)["resources"][0];
    assert_eq!(
        (&build["option"], &build["passThrough"], &build["template"]),
        (&json!(1), &json!("in"), &Value::Null)
    );
}
