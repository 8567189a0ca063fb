//! Blueprints that no author means to give.

use std::io::Write;
use std::process::Stdio;

use serde_json::json;

use super::{Scratch, chain, json_of, workload};
use crate::program::{pathline, stderr, stdout};

const ONE: &str = "\n  - {name: a, templateRef: {kind: ClusterTemplate, name: t}}\n";

#[test]
fn what_holds_no_blueprint_gets_a_clear_answer() {
    let template = "apiVersion: carto.run/v1alpha1\nkind: ClusterTemplate\n";
    let two = format!(
        "{}---\n{}",
        chain(ONE),
        chain(ONE).replace("name: chain", "name: other")
    );
    let scratch = Scratch::new(&[
        ("empty.yaml", ""),
        ("template.yaml", template),
        ("two.yaml", &two),
        ("list.yaml", "[1, 2]"),
        ("text.yaml", "kind: [ClusterSupplyChain"),
        (
            "typed.yaml",
            "kind: ClusterSupplyChain\nmetadata: {name: x}\nspec: {resources: {}}\n",
        ),
        ("workload.yaml", &workload(json!({}), json!({}))),
    ]);
    for (file, code, message) in [
        (
            "empty.yaml",
            2,
            "empty.yaml holds no blueprint, but nothing",
        ),
        (
            "template.yaml",
            2,
            "template.yaml holds no blueprint, but ClusterTemplate",
        ),
        (
            "list.yaml",
            2,
            "list.yaml holds no blueprint, but something without a kind",
        ),
        (
            "two.yaml",
            2,
            "two.yaml holds several blueprints: `chain`, `other`",
        ),
        ("text.yaml", 3, "text.yaml:1:7: "),
        (
            "typed.yaml",
            3,
            "typed.yaml:3:8: spec.resources is an object, it has to be a list",
        ),
        ("missing.yaml", 3, "cannot read missing.yaml"),
    ] {
        for command in ["path", "paths", "graph"] {
            let mut arguments = vec![command, "-f", file];
            if command == "path" {
                arguments.extend(["-w", "workload.yaml"]);
            }
            let output = scratch.run(&arguments);
            assert_eq!(
                output.status.code(),
                Some(code),
                "{command} {file}: {}",
                stderr(&output)
            );
            assert!(stderr(&output).contains(message), "{}", stderr(&output));
            assert_eq!(stdout(&output), "");
        }
    }
    let named = scratch.run(&["paths", "-f", "two.yaml", "--name", "other"]);
    assert_eq!(named.status.code(), Some(0));
    let unknown = scratch.run(&["paths", "-f", "two.yaml", "--name", "third"]);
    assert_eq!(unknown.status.code(), Some(2));
    assert!(stderr(&unknown).contains("no blueprint named `third`, but `chain`, `other`"));
}

#[test]
fn what_is_not_yaml_is_an_error_of_lint_with_its_place() {
    let scratch = Scratch::new(&[
        ("broken.yaml", "a: 1\nb: 'é\n"),
        ("twice.yaml", "a: 1\na: 2\n"),
    ]);
    let output = scratch.run(&["lint", "-f", "broken.yaml", "twice.yaml", "-o", "json"]);
    assert_eq!(output.status.code(), Some(1));
    let findings = json_of(&output)["findings"].clone();
    assert_eq!(findings[0]["code"], "syntax");
    assert_eq!(findings[0]["file"], "broken.yaml");
    assert_eq!(
        (&findings[1]["line"], &findings[1]["column"]),
        (&json!(2), &json!(1))
    );
    assert_eq!(findings[1]["message"], "the key `a` is there twice");
    let missing = scratch.run(&["lint", "-f", "missing.yaml"]);
    assert_eq!(missing.status.code(), Some(3));
    let nothing = Scratch::new(&[("notes.txt", "")]).run(&["lint", "-f", "."]);
    assert_eq!(nothing.status.code(), Some(2));
    assert!(stderr(&nothing).contains("there are no YAML files"));
}

#[test]
fn owners_that_a_cluster_would_refuse_are_not_asked() {
    let owner = "kind: Workload\nmetadata: {labels: {has-tests: true}}\n";
    let scratch = Scratch::new(&[
        ("chain.yaml", &chain(ONE)),
        ("workload.yaml", owner),
        ("two.yaml", &format!("{owner}---\n{owner}")),
    ]);
    let output = scratch.run(&["path", "-f", "chain.yaml", "-w", "workload.yaml"]);
    assert_eq!(output.status.code(), Some(3));
    let message = "workload.yaml:2:32: metadata.labels.has-tests is a boolean, it has to be text (put it in quotes)";
    assert!(stderr(&output).contains(message), "{}", stderr(&output));
    let output = scratch.run(&["path", "-f", "chain.yaml", "-w", "two.yaml"]);
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn deep_nesting_and_bombs_are_refused() {
    let bomb = "a: &a [x, x, x, x, x, x, x, x]\n".to_owned()
        + &(1..9)
            .map(|level| {
                let name = |level: usize| char::from(b'a' + u8::try_from(level).expect("small"));
                let before = format!("*{}", name(level - 1));
                format!(
                    "{0}: &{0} [{1}]\n",
                    name(level),
                    [before.as_str(); 8].join(", ")
                )
            })
            .collect::<String>();
    let scratch = Scratch::new(&[("deep.yaml", &"[".repeat(100_000)), ("bomb.yaml", &bomb)]);
    for (file, message) in [
        ("deep.yaml", "deeper than 100 levels"),
        ("bomb.yaml", "values"),
    ] {
        let output = scratch.run(&["paths", "-f", file]);
        assert_eq!(output.status.code(), Some(3), "{file}");
        assert!(stderr(&output).contains(message), "{}", stderr(&output));
    }
}

#[test]
fn a_chain_of_ten_thousand_resources_is_answered() {
    let resources: String = (0..10_000)
        .map(|index| {
            let before = match index {
                0 => String::new(),
                _ => format!("    sources: [{{name: in, resource: r{}}}]\n", index - 1),
            };
            format!("  - name: r{index}\n    templateRef: {{kind: ClusterSourceTemplate, name: t}}\n{before}")
        })
        .collect();
    let scratch = Scratch::new(&[
        ("chain.yaml", &chain(&resources)),
        ("workload.yaml", &workload(json!({}), json!({}))),
    ]);
    let output = scratch.run(&[
        "path",
        "-f",
        "chain.yaml",
        "-w",
        "workload.yaml",
        "-o",
        "json",
    ]);
    assert_eq!(
        json_of(&output)["resources"].as_array().map(Vec::len),
        Some(10_000)
    );
    let output = scratch.run(&["lint", "-f", "chain.yaml", "-o", "json"]);
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(json_of(&output)["findings"][0]["resource"], "r9999");
    let output = scratch.run(&["graph", "-f", "chain.yaml"]);
    assert!(stdout(&output).contains("r9999 <- r9998\n"));
    let output = scratch.run(&["graph", "-f", "chain.yaml", "--format", "svg"]);
    assert_eq!(output.status.code(), Some(3));
    assert!(stderr(&output).contains("too large for a drawing"));
}

#[test]
fn blueprints_are_read_from_the_standard_input() {
    let mut command = pathline();
    command.args(["blueprint", "paths", "-f", "-", "-o", "json"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().expect("the binary runs");
    let mut stdin = child.stdin.take().expect("a pipe");
    stdin
        .write_all(chain(ONE).as_bytes())
        .expect("the binary reads");
    drop(stdin);
    let output = child.wait_with_output().expect("the binary ends");
    assert_eq!(json_of(&output)["paths"].as_array().map(Vec::len), Some(1));
}
