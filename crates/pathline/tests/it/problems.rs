//! Errors as data: one document on stdout, with the words that REST has.

use std::fs;

use anyhow::Result;
use pathline_testkit::{Leash, repository_root};
use serde_json::Value;

use crate::instance::{Instance, document, end};
use crate::program::{Running, pathline, stderr, stdout};

/// Runs a command in a directory without any Pathline.
fn fail_nowhere(arguments: &[&str]) -> (Option<i32>, String, String) {
    let nowhere = tempfile::tempdir().expect("a scratch directory");
    let mut command = pathline();
    command.current_dir(&nowhere).args(arguments);
    command.env("KUBECONFIG", nowhere.path().join("none"));
    command.env("HOME", nowhere.path());
    let output = command.output().expect("the binary runs");
    (output.status.code(), stdout(&output), stderr(&output))
}

fn code(text: &str) -> String {
    let document = document(text);
    let error = &document["error"];
    let message = error["message"].as_str().unwrap_or_default();
    assert!(!message.is_empty(), "{document}");
    error["code"].as_str().unwrap_or_default().to_owned()
}

/// Every command that takes `-o`, with something wrong; its exit code and its word.
const WRONG: [(&str, i32, &str); 44] = [
    ("wait workload/a", 3, "unavailable"),
    ("wait nothing", 2, "bad-request"),
    ("wait workload/a --timeout=-1s", 2, "bad-request"),
    ("lineage workload/a", 3, "unavailable"),
    ("lineage --contains source=01", 2, "bad-request"),
    ("lineage simulate none.yaml", 3, "unavailable"),
    ("tracker simulate none.json", 3, "unavailable"),
    ("token create a --scope read", 3, "unavailable"),
    ("token list --server http://127.0.0.1:9", 3, "token-missing"),
    ("token revoke a", 3, "unavailable"),
    ("apply -f none.yaml", 3, "unavailable"),
    ("blueprint path -f none -w none", 3, "unavailable"),
    ("blueprint paths -f none", 3, "unavailable"),
    ("blueprint lint -f none", 3, "unavailable"),
    ("blueprint test none", 3, "unavailable"),
    ("template test none", 3, "unavailable"),
    ("keys canon --nothing", 2, "bad-request"),
    ("keys diff none none", 3, "unavailable"),
    ("keys compose none none", 3, "unavailable"),
    ("keys apply none none", 3, "unavailable"),
    ("up --config none", 3, "unavailable"),
    ("demo --timeout never", 2, "bad-request"),
    ("controller --kubeconfig none", 3, "unavailable"),
    ("crds --nothing", 2, "bad-request"),
    ("nothing", 2, "bad-request"),
    ("tracker add a.b", 2, "bad-request"),
    ("tracker add a.b --repo o/r", 3, "unavailable"),
    ("tracker list", 3, "unavailable"),
    ("tracker get a.b", 3, "unavailable"),
    ("tracker set a.b --branch x", 3, "unavailable"),
    ("tracker rm a.b", 3, "unavailable"),
    ("tracker poll a.b", 3, "unavailable"),
    ("release list", 3, "unavailable"),
    ("release show 1234567", 3, "unavailable"),
    ("release why a.b", 3, "unavailable"),
    ("release board", 3, "unavailable"),
    ("release wait a.b --release 1 --in prod", 3, "unavailable"),
    ("release now a.b", 3, "unavailable"),
    ("release promote prod a.b", 3, "unavailable"),
    ("release hold prod", 3, "unavailable"),
    ("release resume prod", 3, "unavailable"),
    ("release rollback prod a.b", 3, "unavailable"),
    ("seal rotate", 3, "unavailable"),
    ("seal reset", 3, "unavailable"),
];

#[test]
fn every_command_that_prints_data_is_tried_with_something_wrong() -> Result<()> {
    let pages = fs::read_to_string(repository_root().join("docs/cli.md"))?;
    let pages = pages.split("\n## pathline ").skip(1);
    let printing = pages.filter(|page| page.contains("-o, --output <FORMAT>"));
    let commands: Vec<_> = printing.filter_map(|page| page.lines().next()).collect();
    assert!(commands.len() > 15, "{commands:?}");
    for command in commands {
        let is_tried = WRONG.iter().any(|(typed, ..)| typed.starts_with(command));
        assert!(is_tried, "{command}");
    }
    Ok(())
}

#[test]
fn errors_are_one_document_on_stdout_if_data_was_asked_for() {
    for (typed, exit, word) in WRONG {
        let arguments: Vec<_> = typed.split(' ').collect();
        let (found, out, said) = fail_nowhere(&[&arguments[..], &["-o", "json"]].concat());
        assert_eq!(found, Some(exit), "{arguments:?}: {said}");
        assert_eq!(code(&out), word, "{arguments:?}: {out}");
        assert!(said.contains("error"), "{arguments:?}: {said}");
        let (_, out, said) = fail_nowhere(&[&arguments[..], &["-o", "yaml"]].concat());
        assert!(out.starts_with("error:"), "{arguments:?}: {out}{said}");
    }
    let (_, out, _) = fail_nowhere(&["wait", "workload/a"]);
    assert_eq!(out, "", "text is for stderr");
}

#[test]
fn errors_have_the_words_of_rest_and_answers_stay_the_only_document() -> Result<()> {
    let instance = Instance::start()?;
    let ask = |arguments: &[&str]| end(instance.ask(&[arguments, &["-o", "json"]].concat()));
    let (exit, out, said) = ask(&["lineage", "workload/nobody"]);
    assert_eq!(
        (exit, code(&out).as_str()),
        (Some(1), "not-found"),
        "{said}"
    );

    let (exit, out, said) = ask(&["wait", "workload/nobody", "--timeout", "1s"]);
    assert_eq!(exit, Some(124), "{said}");
    assert_eq!(document(&out)["state"], "waiting");

    let nowhere = instance.file(
        "bad.yaml",
        "{apiVersion: v9, kind: Nothing, metadata: {name: a}}",
    )?;
    let (exit, out, said) = ask(&["apply", "-f", &nowhere]);
    assert_eq!(
        (exit, code(&out).as_str()),
        (Some(1), "not-found"),
        "{said}"
    );

    let typo = "{apiVersion: carto.run/v1alpha1, kind: ClusterTemplates, metadata: {name: a}}";
    let typo = instance.file("typo.yaml", typo)?;
    let (exit, out, said) = ask(&["apply", "-f", &typo]);
    assert_eq!(
        (exit, code(&out).as_str()),
        (Some(1), "not-found"),
        "{said}"
    );
    assert!(said.contains("check the spelling of the kind"), "{said}");
    assert!(!said.contains("GroupVersionKind"), "{said}");

    let wrong = "{apiVersion: carto.run/v1alpha1, kind: Workload, metadata: {name: A, namespace: default}, spec: {}}";
    let wrong = instance.file("wrong.yaml", wrong)?;
    let (exit, out, said) = ask(&["apply", "-f", &wrong, "--wait"]);
    assert_eq!(
        (exit, code(&out).as_str()),
        (Some(1), "bad-request"),
        "{said}"
    );

    let workload = "{apiVersion: carto.run/v1alpha1, kind: Workload, metadata: {name: a, namespace: default}, spec: {}}";
    let workload = instance.file("workload.yaml", workload)?;
    let (exit, out, said) = ask(&["apply", "-f", &workload, "--wait", "--timeout", "1s"]);
    assert_eq!(
        (exit, code(&out).as_str()),
        (Some(124), "timed-out"),
        "{said}"
    );
    let answer = document(&out);
    assert_eq!(answer["waited"][0]["state"], "waiting", "{answer}");
    assert_eq!(answer["applied"][0]["kind"], "Workload", "{answer}");

    // It makes nothing, since nothing selects it; that is an answer.
    let (exit, out, said) = ask(&["lineage", "workload/a"]);
    assert_eq!(exit, Some(0), "{said}");
    assert_eq!(document(&out)["outputs"], serde_json::json!([]), "{out}");
    Ok(())
}

#[test]
fn up_that_cannot_start_says_so_as_data() -> Result<()> {
    let first = Instance::start()?;
    let mut second = Running::start_in(
        Leash::new("pathline-problems-")?,
        &["up", "--data-dir", &first.data_dir, "-o", "json"],
    );
    let out = second.rest();
    let ended = second.wait();
    assert_ne!(ended.code, Some(0));
    assert!(document(&out)["error"]["message"] != Value::Null, "{out}");
    Ok(())
}

#[test]
fn apply_while_pathline_is_stopped_says_how_it_is_started() -> Result<()> {
    let mut instance = Instance::start()?;
    let file = instance.file(
        "config.yaml",
        "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}",
    )?;
    let _leash = instance.stop()?;
    let told = fail_nowhere(&["apply", "-f", &file, "--data-dir", &instance.data_dir]);
    assert_eq!(told.0, Some(3), "{told:?}");
    let start = format!(
        "start it with `pathline up --data-dir {}`",
        instance.data_dir
    );
    assert!(told.2.contains(&start), "{told:?}");
    Ok(())
}

#[test]
fn apply_to_a_cluster_that_does_not_answer_says_that_it_cannot_be_asked() -> Result<()> {
    let scratch = tempfile::tempdir()?;
    let kubeconfig = scratch.path().join("kubeconfig");
    let silent = "{apiVersion: v1, kind: Config, current-context: it,
        clusters: [{name: it, cluster: {server: 'http://127.0.0.1:9'}}],
        users: [{name: it, user: {}}], contexts: [{name: it, context: {cluster: it, user: it}}]}";
    fs::write(&kubeconfig, silent)?;
    let file = scratch.path().join("config.yaml");
    fs::write(
        &file,
        "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}",
    )?;
    let (kubeconfig, file) = (kubeconfig.display(), file.display());
    let told = fail_nowhere(&[
        "apply",
        "-f",
        &file.to_string(),
        "--kubeconfig",
        &kubeconfig.to_string(),
    ]);
    assert_eq!(told.0, Some(3), "{told:?}");
    assert!(
        told.2
            .contains("the cluster can't be asked for ConfigMap/a"),
        "{told:?}"
    );
    assert!(told.2.contains("is the cluster running?"), "{told:?}");
    Ok(())
}
