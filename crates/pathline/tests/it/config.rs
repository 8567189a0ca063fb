use std::fs;

use insta::assert_snapshot;
use tempfile::TempDir;

use crate::program::{pathline, stderr};

/// Runs `up` on a configuration file with this text, which must be refused, and returns why.
fn refusal(text: &str) -> String {
    let directory = TempDir::new().expect("a scratch directory");
    fs::write(directory.path().join("pathline.yaml"), text).expect("a file in it");
    let mut command = pathline();
    command
        .args(["up", "--config", "pathline.yaml"])
        .current_dir(&directory);
    let output = command.output().expect("the binary runs");
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    assert!(
        !directory.path().join(".pathline").exists(),
        "nothing is half done"
    );
    stderr(&output)
}

#[test]
fn unknown_key_is_named_with_its_place() {
    assert_snapshot!(refusal("listen: 127.0.0.1:0\nkube-listen: 127.0.0.1:0\n"), @"
    error: pathline.yaml:2:1: unknown field `kube-listen`, expected one of dataDir, listen, kubeListen, ledger, admission, ytt, log, trackers, hosts, registries, dockerConfig, ingest, polling

    hint: `pathline help up` shows every key, and docs/trackers.md what is below those of trackers
    ");
}

#[test]
fn wrong_value_is_named_with_its_place() {
    assert_snapshot!(refusal("# settings\nlisten: everywhere\n"), @"
    error: pathline.yaml:2:9: write HOST:PORT, such as 127.0.0.1:7700

    hint: `pathline help up` shows every key, and docs/trackers.md what is below those of trackers
    ");
}

#[test]
fn what_is_wrong_about_trackers_is_told_at_the_start() {
    for (text, expected) in [
        (
            "registries: [{name: 'https://r.example'}]",
            "name of `https://r.example`: a host such as registry.example:5000 is expected, without a scheme",
        ),
        (
            "hosts: [{name: git.example}, {name: Git.Example, nestedGroups: true}]",
            "name of `git.example`: the host is there twice",
        ),
        (
            "hosts: [{name: github.com}, {name: github.com}]",
            "name of `github.com`: the host is there twice",
        ),
        (
            "dockerConfig: pathline.yaml",
            "the configuration of Docker is not the JSON that Docker writes, at line 1",
        ),
    ] {
        let said = refusal(text);
        assert!(said.contains(expected), "{text}: {said}");
        assert!(said.contains("hint: docs/trackers.md"), "{said}");
    }
}

#[test]
fn logins_of_docker_that_are_not_there_cannot_be_read() {
    let directory = TempDir::new().expect("a scratch directory");
    let path = directory.path().join("pathline.yaml");
    fs::write(&path, "dockerConfig: nope.json").expect("a file in it");
    let mut command = pathline();
    command.args(["up", "--config", "pathline.yaml"]);
    let output = command.current_dir(&directory).output();
    let output = output.expect("the binary runs");
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
    assert_snapshot!(stderr(&output), @"
    error: cannot read nope.json, which dockerConfig names
      caused by: No such file or directory (os error 2)

    hint: docs/trackers.md shows every key, with an example
    ");
}

#[test]
fn missing_file_cannot_be_read() {
    let output = pathline()
        .args(["up", "--config", "/nowhere/p.yaml"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(3));
    assert_snapshot!(stderr(&output), @"
    error: cannot read the configuration file /nowhere/p.yaml
      caused by: No such file or directory (os error 2)

    hint: `--config` (or PATHLINE_CONFIG) must name a readable file
    ");
}
