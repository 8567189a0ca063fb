//! `pathline tracker`, as a user types it.

use std::fs;
use std::io::Write;
use std::process::{Output, Stdio};

use insta::assert_snapshot;
use pathline_testkit::{shared_dir, skip};
use serde_json::{Value, json};

use crate::program::{pathline, stderr, stdout};

fn simulate(cases: &str, arguments: &[&str]) -> Output {
    let dir = tempfile::tempdir().expect("a scratch directory");
    fs::write(dir.path().join("case.json"), cases).expect("a scratch file");
    let mut command = pathline();
    command.current_dir(dir.path());
    command.args(["tracker", "simulate", "case.json"]);
    command.args(arguments).output().expect("the binary runs")
}

fn choose(tags: &[u8], arguments: &[&str]) -> Output {
    let mut command = pathline();
    command.args(["tracker", "label"]).args(arguments);
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().expect("the binary runs");
    // A label that is refused is answered without reading everything.
    let _ = child.stdin.take().expect("a pipe").write_all(tags);
    child.wait_with_output().expect("the binary ends")
}

fn chosen(label: &str, tags: &[&str]) -> String {
    let output = choose(tags.join("\n").as_bytes(), &["--label", label]);
    assert!(output.status.success(), "{output:?}");
    stdout(&output)
}

#[test]
fn simulate_answers_a_case_as_json() {
    let case = json!({"steps": ["p r=latest:D1 g=C1@latest", "t dev"], "options": {}});
    let output = simulate(&case.to_string(), &["-o", "json"]);
    assert!(output.status.success(), "{output:?}");
    let answer: Value = serde_json::from_slice(&output.stdout).expect("nothing but JSON");
    let expected = json!({"releases": "1:C1/latest@D1:initial", "pending": "-", "conditions": "-",
                          "environments": "dev.1=deploying"});
    assert_eq!(answer, expected);
}

#[test]
fn simulate_answers_each_of_several_cases_with_its_id() {
    let Some(shared) = shared_dir() else {
        return skip(
            "shared cases of trackers, as typed",
            "there is no shared directory",
        );
    };
    let cases = fs::read_to_string(shared.join("cases/tracker-state-machine.json")).expect("cases");
    let output = simulate(&cases, &["-o", "json"]);
    let answers: Vec<Value> = serde_json::from_slice(&output.stdout).expect("nothing but JSON");
    let cases: Vec<Value> = serde_json::from_str(&cases).expect("cases are JSON");
    assert_eq!(answers.len(), cases.len());
    for (answer, case) in answers.iter().zip(&cases) {
        for field in ["id", "releases", "pending", "conditions", "environments"] {
            assert_eq!(answer[field], case[field], "{field} of {case}");
        }
    }
}

#[test]
fn simulate_reads_well() {
    let cases = json!([
        {"id": "one", "steps": ["p r=latest:D1 g=C1@latest", "p g=C2@stable"]},
        {"steps": []},
    ]);
    assert_snapshot!(stdout(&simulate(&cases.to_string(), &[])), @r"
    one
    releases      1:C1/latest@D1:initial
    pending       C2
    conditions    AwaitingContainer
    environments  dev.1=queued
    releases      -
    pending       -
    conditions    -
    environments  -
    ");
}

#[test]
fn wrong_case_is_refused_with_what_is_wrong_where() {
    let cases = json!([{"steps": []}, {"steps": ["p", "t moon"]}]);
    let output = simulate(&cases.to_string(), &["-o", "json"]);
    assert_eq!(output.status.code(), Some(3));
    assert!(stdout(&output).starts_with("{\"error\":"));
    assert_snapshot!(stderr(&output), @r"
    error: case.json cannot be simulated
      caused by: [1].steps[1]: there is no environment `moon`

    hint: `pathline tracker simulate --help` shows a case
    ");
    let output = simulate("{", &[]);
    assert_eq!(output.status.code(), Some(3));
    assert!(stderr(&output).contains("case.json is not JSON"));
}

#[test]
fn label_prints_the_tag_or_none_or_reject() {
    assert_eq!(chosen("1.x", &["1.0.0", "1.1.0", "2.0.0"]), "1.1.0\n");
    assert_eq!(chosen("1.x", &["2.0.0"]), "none\n");
    assert_eq!(chosen("1.x", &[]), "none\n");
    assert_eq!(chosen("-1", &["1.0.0"]), "reject\n");
    assert_eq!(chosen("", &["1.0.0"]), "reject\n");
    assert_eq!(chosen("latest", &["latest\r", "other"]), "latest\n");
    let released = ["--label", "1.x", "--released", "v1.0.0"];
    assert_eq!(stdout(&choose(b"1.0.0\nv1.0.0\n", &released)), "v1.0.0\n");
}

#[test]
fn label_that_is_rejected_is_explained_beside_the_answer() {
    let rejected = choose(b"", &["--label", "1.0 - 2.0"]);
    assert_eq!(stdout(&rejected), "reject\n");
    let why = "not a range: `-` is no sign of ranges; write `>=1.0 <=2.0` for `1.0 - 2.0`\n";
    assert_eq!(stderr(&rejected), why);
}

#[test]
fn secret_that_cannot_be_read_or_is_empty_is_told_before_anybody_is_asked() {
    let dir = tempfile::tempdir().expect("a scratch directory");
    fs::write(dir.path().join("empty"), "\n").expect("a scratch file");
    let add = |file: &str| {
        let mut command = pathline();
        command.args(["tracker", "add", "shop.web", "--repo", "shop/web"]);
        command.args(["--source-token-file", file, "-o", "json"]);
        command.current_dir(dir.path());
        command.output().expect("the binary runs")
    };
    for (file, code, word) in [("missing", 3, "unavailable"), ("empty", 2, "bad-request")] {
        let refused = add(file);
        assert_eq!(refused.status.code(), Some(code), "{refused:?}");
        let told: Value = serde_json::from_slice(&refused.stdout).expect("nothing but JSON");
        assert_eq!(told["error"]["code"], word, "{told}");
    }
    let said = stderr(&add("empty"));
    assert!(said.contains("--no-source-token"), "{said}");
}

#[test]
fn label_of_the_shared_cases_prints_what_they_say() {
    let Some(shared) = shared_dir() else {
        return skip(
            "shared cases of labels, as typed",
            "there is no shared directory",
        );
    };
    let cases = fs::read(shared.join("cases/tracker-labels.json")).expect("cases");
    let cases: Vec<Value> = serde_json::from_slice(&cases).expect("cases are JSON");
    for case in cases
        .iter()
        .filter(|case| !case["pathline_label"].is_null())
    {
        let label = case["pathline_label"].as_str().expect("a label");
        let tags = case["tags"].as_array().expect("tags");
        let tags: Vec<_> = tags.iter().filter_map(Value::as_str).collect();
        assert_eq!(
            chosen(label, &tags).trim_end(),
            case["pathline_chosen"],
            "{case}"
        );
    }
}

#[test]
fn tags_that_are_not_text_are_refused() {
    let output = choose(b"1.0.0\n\xff\n", &["--label", "1.x"]);
    assert_eq!(output.status.code(), Some(3));
    assert!(
        stderr(&output).contains("the standard input is not UTF-8"),
        "{}",
        stderr(&output)
    );
}
