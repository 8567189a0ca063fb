//! `pathline blueprint lint`.

use insta::assert_snapshot;
use serde_json::{Value, json};

use super::{Scratch, chain, example, json_of, run_in, workload};
use crate::program::{stderr, stdout};

/// Returns `code resource option line:column` of every finding.
fn in_short(output: &std::process::Output) -> Vec<String> {
    let findings = json_of(output);
    let findings = findings["findings"].as_array().expect("a list");
    let text = |value: &Value| {
        value
            .as_str()
            .map_or_else(|| value.to_string(), str::to_owned)
    };
    findings
        .iter()
        .map(|found| {
            let [severity, code, resource] =
                ["severity", "code", "resource"].map(|name| text(&found[name]));
            let [option, line, column] =
                ["option", "line", "column"].map(|name| text(&found[name]));
            format!("{severity} {code} {resource} {option} {line}:{column}")
        })
        .collect()
}

#[test]
fn blueprint_of_the_seed_has_no_error_and_its_loose_spellings_are_listed() {
    let output = run_in(&example(), &["lint", "-f", "blueprint.yaml", "-o", "json"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let findings = in_short(&output);
    for code in [
        "single-match-field",
        "operation",
        "operator-case",
        "source-url",
        "duplicate-template",
        "kind-mismatch",
        "no-blueprint-selector",
    ] {
        let wanted = format!("warning {code} ");
        assert!(
            findings.iter().any(|found| found.starts_with(&wanted)),
            "{code} in {findings:#?}"
        );
    }
    let count = |code: &str| findings.iter().filter(|found| found.contains(code)).count();
    assert_eq!((count("unreachable"), count("error")), (0, 0));
    assert_eq!(
        (
            count("single-match-field"),
            count("operation"),
            count("kind-mismatch")
        ),
        (3, 3, 4)
    );
}

#[test]
fn findings_are_shown_with_the_lines_meant() {
    let output = run_in(&example(), &["lint", "-f", "blueprint.yaml"]);
    assert_snapshot!(stdout(&output));
    assert_eq!(stderr(&output), "");
}

const BROKEN: &str = "
  - name: a
    templateRef: {kind: ClusterSourceTemplate, name: t}
    sources: [{name: in, resource: b}, {name: on, resource: nowhere}]
  - name: b
    templateRef:
      kind: ClusterSourceTemplate
      options:
      - {name: x, selector: {matchFields: [{key: 'spec.source[', operator: Exists}]}}
      - {passThrough: up, selector: {matchLabels: {a: b}}}
    sources: [{name: in, resource: a}]
  - name: a
    templateRef: {kind: ClusterTemplate, name: t}
";

#[test]
fn errors_point_at_what_a_cluster_refuses() {
    let scratch = Scratch::new(&[("chain.yaml", &chain(BROKEN))]);
    let output = scratch.run(&["lint", "-f", "chain.yaml", "-o", "json"]);
    assert_eq!(output.status.code(), Some(1));
    assert_snapshot!(in_short(&output).join("\n"), @r#"
    error unknown-resource a null 11:40
    error broken-selector b 0 16:50
    error unknown-pass-through b 1 17:23
    error duplicate-resource a null 19:11
    "#);
}

#[test]
fn resources_that_wait_for_each_other_and_conflicting_inputs_are_errors() {
    let resources = "
  - name: a
    templateRef: {kind: ClusterSourceTemplate, name: t}
    sources: [{name: in, resource: b}]
  - name: b
    selector: {matchLabels: {never: taken}}
    templateRef: {kind: ClusterSourceTemplate, name: t}
    sources: [{name: in, resource: a}]
";
    let conflict = "
  - {name: a, templateRef: {kind: ClusterSourceTemplate, name: t}}
  - {name: b, templateRef: {kind: ClusterSourceTemplate, name: t}}
  - name: c
    selector: {matchLabels: {some: how}}
    templateRef: {kind: ClusterTemplate, name: t}
    sources: [{name: in, resource: a}, {name: in, resource: b}]
";
    let scratch = Scratch::new(&[
        ("cycle.yaml", &chain(resources)),
        ("conflict.yaml", &chain(conflict)),
    ]);
    for (file, code) in [
        ("cycle.yaml", "error cycle "),
        ("conflict.yaml", "error duplicate-input c "),
    ] {
        let output = scratch.run(&["lint", "-f", file, "-o", "json"]);
        assert_eq!(output.status.code(), Some(1));
        let findings = in_short(&output);
        assert!(
            findings.iter().any(|found| found.starts_with(code)),
            "{findings:#?}"
        );
        let output = scratch.run(&["path", "-f", file, "-w", file]);
        assert_ne!(output.status.code(), Some(0));
    }
}

#[test]
fn a_dead_option_is_reported_once_and_a_dead_resource_without_its_options() {
    let resources = "
  - name: build
    templateRef:
      kind: ClusterTemplate
      options:
      - {name: x, selector: {matchLabels: {lang: go}}}
      - {name: y, selector: {matchLabels: {lang: go, fast: 'yes'}}}
      - {name: z}
  - name: never
    selector:
      matchExpressions:
      - {key: type, operator: NotIn, values: [web]}
    templateRef:
      kind: ClusterTemplate
      options: [{name: x}, {name: y}]
";
    let scratch = Scratch::new(&[("chain.yaml", &chain(resources))]);
    let output = scratch.run(&["lint", "-f", "chain.yaml", "-o", "json"]);
    assert_eq!(output.status.code(), Some(0));
    let findings = in_short(&output);
    let dead: Vec<&String> = findings
        .iter()
        .filter(|found| found.contains("unreachable"))
        .collect();
    assert_eq!(
        dead,
        [
            "warning unreachable-option build 1 14:16",
            "warning unreachable-resource never null 16:11"
        ]
    );
}

#[test]
fn single_path_blueprints_keep_every_rule() {
    let resources = "
  - name: build
    templateRef:
      kind: ClusterTemplate
      options:
      - {name: x, selector: {matchLabels: {lang: go}}}
      - {name: x, selector: {matchLabels: {lang: go}}}
";
    let scratch = Scratch::new(&[("chain.yaml", &chain(resources))]);
    let output = scratch.run(&["lint", "-f", "chain.yaml", "-o", "json"]);
    assert_eq!(output.status.code(), Some(1));
    let findings = json_of(&output);
    let message = |code: &str| {
        let mut findings = findings["findings"].as_array().expect("a list").iter();
        let found = findings.find(|found| found["code"] == code && found["severity"] == "error");
        found
            .map(|found| found["message"].clone())
            .unwrap_or_default()
    };
    assert_eq!(
        message("duplicate-template"),
        "duplicate template name [x] found in options for resource [build]"
    );
    assert!(
        message("duplicate-selector")
            .to_string()
            .contains("duplicate selector found in options [x, x]")
    );
}

#[test]
fn templates_are_checked_and_other_kinds_are_left_alone() {
    let template = "
apiVersion: carto.run/v1alpha1
kind: ClusterTemplate
metadata: {name: t}
spec: {ytt: a, template: {kind: ConfigMap}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: c}
";
    let scratch = Scratch::new(&[
        ("all/templates.yaml", template),
        ("all/deep/workload.yml", &workload(json!({}), json!({}))),
        ("all/paths.test.yaml", "tests: []"),
        ("all/notes.txt", "no YAML: : :"),
    ]);
    let output = scratch.run(&["lint", "-f", "all"]);
    assert_eq!(output.status.code(), Some(1));
    assert_snapshot!(stdout(&output), @r#"
    error[template-body]: invalid template: must specify one of template or ytt, found both
     --> all/templates.yaml:5:13
      |
    5 | spec: {ytt: a, template: {kind: ConfigMap}}
      |             ^
      |
      = help: keep one

    1 error, 0 warnings
    "#);
    assert_snapshot!(stderr(&output), @r#"
    note: 1 Workload is not checked in all/deep/workload.yml
    note: 1 ConfigMap is not checked in all/templates.yaml
    "#);
}

#[test]
fn wrong_types_and_unknown_fields_are_found() {
    let resources = "
  - name: build
    selectors: {matchLabels: {lang: go}}
    templateRef: {kind: ClusterTemplates, name: 5}
";
    let scratch = Scratch::new(&[("chain.yaml", &chain(resources))]);
    let output = scratch.run(&["lint", "-f", "chain.yaml"]);
    assert_eq!(output.status.code(), Some(1));
    assert_snapshot!(stdout(&output));
}

#[test]
fn sarif_has_the_structure_that_code_scanning_requires() {
    let scratch = Scratch::new(&[("a chain.yaml", &chain(BROKEN))]);
    let output = scratch.run(&["lint", "-f", "a chain.yaml", "-o", "sarif"]);
    assert_eq!(output.status.code(), Some(1));
    let log = json_of(&output);
    assert_eq!(log["version"], "2.1.0");
    assert!(
        log["$schema"]
            .as_str()
            .is_some_and(|schema| schema.ends_with("sarif-schema-2.1.0.json"))
    );
    let run = &log["runs"][0];
    let driver = &run["tool"]["driver"];
    assert_eq!(driver["name"], "pathline");
    let rules = driver["rules"].as_array().expect("a list");
    let results = run["results"].as_array().expect("a list");
    assert!(!results.is_empty());
    for result in results {
        let rule = result["ruleIndex"]
            .as_u64()
            .and_then(|index| usize::try_from(index).ok());
        assert_eq!(
            rules[rule.expect("every code is a rule")]["id"],
            result["ruleId"]
        );
        assert!(["error", "warning"].contains(&result["level"].as_str().expect("a level")));
        assert!(
            result["message"]["text"]
                .as_str()
                .is_some_and(|text| !text.is_empty())
        );
        let location = &result["locations"][0]["physicalLocation"];
        assert_eq!(location["artifactLocation"]["uri"], "a%20chain.yaml");
        for bound in ["startLine", "startColumn", "endLine", "endColumn"] {
            assert!(
                location["region"][bound]
                    .as_u64()
                    .is_some_and(|bound| bound > 0),
                "{result}"
            );
        }
    }
    for rule in rules {
        assert!(rule["shortDescription"]["text"].is_string());
    }
}

#[test]
fn every_code_is_explained_to_authors() {
    let page = include_str!("../../../../../docs/blueprints.md");
    for info in pathline_blueprint::lint::CATALOGUE {
        assert!(
            page.contains(&format!("| `{}` |", info.code)),
            "{}",
            info.code
        );
    }
}

#[test]
fn point_17_a_config_that_restarts_nothing_is_found_across_files() {
    const CHAIN: &str = "
apiVersion: carto.run/v1alpha1
kind: ClusterSupplyChain
metadata: {name: b}
spec:
  selector: {a: b}
  resources:
    - {name: config, templateRef: {kind: ClusterTemplate, name: config}}
    - {name: run, templateRef: {kind: ClusterTemplate, name: run}}
";
    const CONFIG: &str = "
apiVersion: carto.run/v1alpha1
kind: ClusterTemplate
metadata: {name: config}
spec:
  template:
    apiVersion: v1
    kind: ConfigMap
    metadata: {name: app}
    data: {debug: $(params.debug)$}
";
    const RUN: &str = "
apiVersion: carto.run/v1alpha1
kind: ClusterTemplate
metadata: {name: run}
spec:
  template:
    apiVersion: apps/v1
    kind: Deployment
    metadata: {name: app}
    spec:
      template:
        metadata: {annotations: {mark: MARK}}
        spec:
          containers:
            - {name: app, envFrom: [{configMapRef: {name: app}}]}
";
    for (mark, wanted) in [
        (
            "constant",
            vec!["warning config-not-read-again run null 11:7"],
        ),
        ("$(params.debug)$", vec![]),
    ] {
        let run = RUN.replace("MARK", mark);
        let scratch = Scratch::new(&[
            ("chain.yaml", CHAIN),
            ("config.yaml", CONFIG),
            ("run.yaml", &run),
        ]);
        let output = scratch.run(&["lint", "-f", ".", "-o", "json"]);
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        assert_eq!(in_short(&output), wanted);
    }
}
