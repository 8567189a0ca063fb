//! `pathline lineage`, as a user types it.

use std::fs;
use std::process::Output;

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::program::{pathline, stderr, stdout};

fn simulate(history: &Value, arguments: &[&str]) -> Output {
    simulate_text(&history.to_string(), arguments)
}

fn simulate_text(history: &str, arguments: &[&str]) -> Output {
    let dir = tempfile::tempdir().expect("a scratch directory");
    fs::write(dir.path().join("history.json"), history).expect("a scratch file");
    let mut command = pathline();
    command.current_dir(dir.path());
    command.args(["lineage", "simulate", "history.json"]);
    command.args(arguments).output().expect("the binary runs")
}

fn history() -> Value {
    let applied = |generation: i64, debug: &str| {
        json!({"applied": {"resource": "build", "uid": "u", "generation": generation,
                           "inputs": {"param:debug": debug}, "outputs": {}}})
    };
    json!({
        "resources": [{"name": "build", "inputs": [], "reads": ["param:debug"],
                       "tracing": "declared", "proves": []}],
        "steps": [
            {"owner": {"param:debug": "on", "param:colour": "red"}},
            applied(1, "on"),
            {"seen": {"resource": "build", "uid": "u", "generation": 1, "observed": 1,
                      "conditionObserved": null, "healthy": true, "matched": true,
                      "outputs": {"image": "i1"}}},
            {"owner": {"param:debug": "off", "param:colour": "red"}},
            applied(2, "off"),
            {"seen": {"resource": "build", "uid": "u", "generation": 2, "observed": 1,
                      "conditionObserved": null, "healthy": true, "matched": true,
                      "outputs": {"image": "i1"}}},
        ],
    })
}

#[test]
fn simulate_prints_outputs_and_inputs_as_json() {
    let output = simulate(&history(), &["-o", "json"]);
    assert!(output.status.success(), "{output:?}");
    let report: Value = serde_json::from_slice(&output.stdout).expect("nothing but JSON");
    assert_eq!(
        report,
        json!({
            "outputs": [{"resource": "build", "name": "image", "value": "i1", "from": [
                {"name": "param:debug", "value": "on", "evidence": "generation"},
            ]}],
            "inputs": [
                {"name": "param:colour", "value": "red", "arrived": false, "mixed": false, "unused": true},
                {"name": "param:debug", "value": "off", "arrived": false, "mixed": false, "unused": false},
            ],
        })
    );
}

#[test]
fn simulate_reads_well() {
    assert_snapshot!(stdout(&simulate(&history(), &[])), @r#"
    build  image "i1"
      from param:debug "on"  generation
    param:colour "red"  unused
    param:debug "off"  on its way
    "#);
}

#[test]
fn wrong_history_is_refused_with_what_is_wrong_where() {
    let mut wrong = history();
    wrong["steps"][2]["seen"]["generation"] = json!("one");
    let output = simulate(&wrong, &["-o", "json"]);
    assert_eq!(output.status.code(), Some(3));
    assert!(stdout(&output).starts_with("{\"error\":"));
    assert_snapshot!(stderr(&output), @r#"
    error: history.json is not a history
      caused by: steps[2].seen.generation: a whole number (null if unknown) is expected, found the text "one"

    hint: `pathline lineage simulate --help` shows a history
    "#);
    let output = simulate_text("{", &[]);
    assert_eq!(output.status.code(), Some(3));
    assert!(stderr(&output).contains("history.json is not JSON"));
}
