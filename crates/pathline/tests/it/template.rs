//! Tests of templates, as an author runs them.

#![expect(clippy::unwrap_used, reason = "a helper that fails fails its test")]

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::program::{run, stderr, stdout};

const TEMPLATE: &str = "
apiVersion: carto.run/v1alpha1
kind: ClusterTemplate
metadata: {name: deploy}
spec:
  params: [{name: port, default: 80}]
  template:
    apiVersion: v1
    kind: ConfigMap
    metadata: {name: $(workload.metadata.name)$}
    data: {image: $(image)$, port: $(params.port)$}
";
const WORKLOAD: &str = "
apiVersion: carto.run/v1alpha1
kind: Workload
metadata: {name: app, namespace: dev, labels: {type: web}}
spec: {params: [{name: port, value: 8080}]}
";
const EXPECTED: &str = "
apiVersion: v1
kind: ConfigMap
metadata: {name: app}
data: {image: some-image, port: 8080}
";
const SUPPLY_CHAIN: &str = "
apiVersion: carto.run/v1alpha1
kind: ClusterSupplyChain
metadata: {name: web}
spec:
  selector: {type: web}
  resources:
    - name: build
      templateRef: {kind: ClusterImageTemplate, name: build}
    - name: run
      templateRef: {kind: ClusterTemplate, name: deploy}
      images: [{name: image, resource: build}]
";

fn write(directory: &Path, files: &[(&str, &str)]) {
    for (name, text) in files {
        let path = directory.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
}

/// Runs the tests of a directory; returns the exit code and the report.
fn tested(directory: &Path) -> (Option<i32>, Value) {
    let output = run(&[
        "template",
        "test",
        directory.to_str().unwrap(),
        "-o",
        "json",
    ]);
    let report = serde_json::from_str(&stdout(&output));
    (
        output.status.code(),
        report.unwrap_or_else(|_| panic!("{}", stderr(&output))),
    )
}

#[test]
fn directories_share_what_stands_above_them() {
    let directory = tempfile::tempdir().unwrap();
    let ignored = "compareOptions: {ignoreMetadataFields: [labels, ownerReferences, namespace]}";
    let mocked =
        "given:\n  mockSupplyChain:\n    blueprintInputs: {images: {any: {image: some-image}}}\n";
    let chained = "given:\n  supplyChain:\n    targetResourceName: run\n    previousOutputs: {build: {image: some-image}}\n";
    write(
        directory.path(),
        &[
            ("template.yaml", TEMPLATE),
            ("workload.yaml", WORKLOAD),
            ("expected.yaml", EXPECTED),
            ("info.yaml", ignored),
            ("mocked/info.yaml", mocked),
            ("chained/info.yaml", chained),
            ("chained/supply-chain.yaml", SUPPLY_CHAIN),
        ],
    );
    let (code, report) = tested(directory.path());
    assert_eq!(code, Some(0), "{report:#}");
    assert_eq!(report["passed"], 2, "{report:#}");
}

#[test]
fn what_differs_is_told_and_fails() {
    let directory = tempfile::tempdir().unwrap();
    let info = "given:\n  mockSupplyChain:\n    blueprintInputs: {images: {any: {image: other}}}\nignoreMetadata: true\n";
    write(
        directory.path(),
        &[
            ("template.yaml", TEMPLATE),
            ("workload.yaml", WORKLOAD),
            ("expected.yaml", EXPECTED),
            ("info.yaml", info),
        ],
    );
    let (code, report) = tested(directory.path());
    assert_eq!(code, Some(1));
    assert_eq!(
        report["tests"][0]["differences"],
        serde_json::json!([".data.image: expected \"some-image\", found \"other\""])
    );
}

#[test]
fn a_test_that_lacks_something_says_what() {
    let directory = tempfile::tempdir().unwrap();
    write(
        directory.path(),
        &[
            ("template.yaml", TEMPLATE),
            ("workload.yaml", WORKLOAD),
            ("expected.yaml", EXPECTED),
            ("supply-chain.yaml", SUPPLY_CHAIN),
            (
                "info.yaml",
                "given: {supplyChain: {targetResourceName: run}}",
            ),
        ],
    );
    let (code, report) = tested(directory.path());
    assert_eq!(code, Some(1));
    let why = report["tests"][0]["differences"][0].as_str().unwrap();
    assert!(
        why.contains("previousOutputs says nothing about what `build` gives"),
        "{why}"
    );
    let nowhere = run(&["template", "test", "no-such-directory"]);
    assert_eq!(nowhere.status.code(), Some(3), "{}", stderr(&nowhere));
}

#[test]
fn ytt_makes_templates_and_what_they_stamp() {
    let Some(ytt) = pathline_testkit::go_tool("template tests with ytt", "ytt") else {
        return;
    };
    let directory = tempfile::tempdir().unwrap();
    let made = TEMPLATE.replace(
        "metadata: {name: deploy}",
        "metadata:\n  name: #@ data.values.name",
    );
    let made = format!("#@ load(\"@ytt:data\", \"data\")\n---{made}");
    let in_ytt = "
apiVersion: carto.run/v1alpha1
kind: ClusterTemplate
metadata: {name: deploy}
spec:
  ytt: |
    #@ load(\"@ytt:data\", \"data\")
    apiVersion: v1
    kind: ConfigMap
    metadata:
      name: #@ data.values.workload.metadata.name
    data:
      image: #@ data.values.image
      port: #@ data.values.params.port
";
    let info = "given:\n  mockSupplyChain:\n    blueprintInputs: {images: {any: {image: some-image}}}\n    blueprintParams: [{name: port, value: 8080}]\nignoreMetadata: true\n";
    write(
        directory.path(),
        &[
            ("workload.yaml", WORKLOAD),
            ("expected.yaml", EXPECTED),
            ("info.yaml", info),
            ("made/template.yaml", &made),
            (
                "made/template-ytt-values.yaml",
                "#@data/values\n---\nname: deploy\n",
            ),
            ("rendered/template.yaml", in_ytt),
        ],
    );
    let output = run(&[
        "template",
        "test",
        directory.path().to_str().unwrap(),
        "--ytt",
        ytt.to_str().unwrap(),
    ]);
    assert!(
        output.status.success(),
        "{}{}",
        stdout(&output),
        stderr(&output)
    );
    assert!(
        stdout(&output).contains("2 passed, 0 failed"),
        "{}",
        stdout(&output)
    );
}
