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

    hint: `pathline help up` shows every key
    ");
}

#[test]
fn wrong_value_is_named_with_its_place() {
    assert_snapshot!(refusal("# settings\nlisten: everywhere\n"), @"
    error: pathline.yaml:2:9: write HOST:PORT, such as 127.0.0.1:7700

    hint: `pathline help up` shows every key
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
