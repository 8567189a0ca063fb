use std::io::Read;
use std::process::Stdio;

use crate::program::{pathline, run, stderr, stdout};

#[test]
fn unknown_command_suggests_the_nearest() {
    for (typed, meant) in [
        ("dmeo", "demo"),
        ("upp", "up"),
        ("completion", "completions"),
    ] {
        let output = run(&[typed]);
        assert_eq!(output.status.code(), Some(2), "{typed}");
        assert!(
            stderr(&output).contains(&format!("'{meant}'")),
            "{}",
            stderr(&output)
        );
        assert_eq!(stdout(&output), "");
    }
}

#[test]
fn unknown_flag_suggests_the_nearest() {
    let output = run(&["up", "--listne", "127.0.0.1:0"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        stderr(&output).contains("'--listen'"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn malformed_address_says_how_to_write_one() {
    let output = run(&["up", "--listen", "7700"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        stderr(&output).contains("HOST:PORT, such as 127.0.0.1:7700"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn malformed_log_filter_is_wrong_usage() {
    let output = run(&["up", "--log", "pathline=loud"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        stderr(&output).contains("hint: a level (`debug`)"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn version_is_one_line() {
    let output = run(&["--version"]);
    assert_eq!(
        stdout(&output),
        concat!("pathline ", env!("CARGO_PKG_VERSION"), "\n")
    );
}

#[test]
fn reader_that_closes_the_pipe_is_no_failure() {
    // More than fits into a pipe, so that the writer is still busy when the reader goes away.
    for arguments in [
        &["completions", "bash"][..],
        &["completions", "zsh"],
        &["man"],
        &["--help"],
    ] {
        let mut command = pathline();
        command
            .args(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        drop(child.stdout.take());
        let mut complaint = String::new();
        child
            .stderr
            .take()
            .unwrap()
            .read_to_string(&mut complaint)
            .unwrap();
        assert_eq!(
            child.wait().unwrap().code(),
            Some(0),
            "{arguments:?}: {complaint}"
        );
        assert_eq!(complaint, "");
    }
}

#[test]
fn nothing_is_coloured_when_it_does_not_go_to_a_terminal() {
    let output = run(&["up", "--config", "/nowhere"]);
    assert!(!stderr(&output).contains('\u{1b}'), "{:?}", stderr(&output));
}

/// A ConfigMap, which is made of nothing.
const SETTINGS: &str = "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}";

#[test]
fn arguments_of_apply_that_make_no_sense_are_refused_before_anything_is_applied() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("settings.yaml");
    std::fs::write(&file, SETTINGS).unwrap();
    let file = file.to_str().unwrap();
    for (arguments, says) in [
        (&[][..], "--file <FILE>"),
        (&["-f", file, "--timeout", "1m"], "--wait"),
        (&["-f", file, "--for", "current"], "--wait"),
        (&["-f", file, "--accept-assumed"], "--wait"),
        (
            &[
                "-f",
                file,
                "--wait",
                "--for",
                "param:a=1",
                "--for",
                "param:a=2",
            ],
            "param:a=1",
        ),
        (
            &["-f", file, "--wait", "--for", "source=8f1c2e7"],
            "`pathline wait workload/NAME --for source=8f1c2e7`",
        ),
    ] {
        let output = run(&[&["apply"], arguments].concat());
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {said}");
        assert!(said.contains(says), "{arguments:?}: {said}");
        assert_eq!(stdout(&output), "");
    }
}

#[test]
fn arguments_of_lineage_that_make_no_sense_say_what_to_write() {
    for (arguments, says) in [
        (&[][..], "pathline lineage workload/hello"),
        (&["-o", "text"], "<WHAT>"),
        (&["hello"], "workload/NAME"),
        (&["workload/"], "workload/NAME"),
        (&["--contains", "8f1c2e7"], "source=REV"),
        (&["--contains", "source=8f1"], "at least 7"),
        (
            &["workload/hello", "--contains", "source=8f1c2e7"],
            "cannot be used with",
        ),
        (
            &["workload/hello", "deliverable/hello"],
            "deliverable/hello",
        ),
        (&["workload/hello", "-n", ""], "--namespace"),
        (&["simulate"], "<FILE>"),
    ] {
        let output = run(&[&["lineage"], arguments].concat());
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {said}");
        assert!(said.contains(says), "{arguments:?}: {said}");
        assert_eq!(stdout(&output), "");
    }
}
