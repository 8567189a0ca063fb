use std::fs;
use std::process::Command;

use pathline_testkit::skip;
use tempfile::TempDir;

use crate::help::COMMANDS;
use crate::program::{run, stdout};

#[test]
fn completions_know_every_command() {
    for shell in ["bash", "zsh", "fish"] {
        let output = run(&["completions", shell]);
        assert!(output.status.success());
        let script = stdout(&output);
        for command in COMMANDS.iter().flat_map(|command| command.split(' ')) {
            assert!(
                script.contains(command),
                "{command} is not in the completions of {shell}"
            );
        }
        assert!(script.contains("kube-listen"), "{shell}");
    }
}

#[test]
fn completions_are_accepted_by_bash() {
    let directory = TempDir::new().unwrap();
    let script = directory.path().join("script");
    fs::write(&script, run(&["completions", "bash"]).stdout).unwrap();
    match Command::new("bash").arg("-n").arg(&script).output() {
        Ok(output) => assert!(output.status.success(), "{output:?}"),
        Err(_) => skip("completions in bash", "bash is not installed"),
    }
}

#[test]
fn every_command_has_a_manual_page() {
    let directory = TempDir::new().unwrap();
    let output = run(&["man", directory.path().to_str().unwrap()]);
    assert!(output.status.success());
    assert_eq!(stdout(&output), "", "the pages are the result, not a text");

    let mut pages: Vec<_> = fs::read_dir(&directory)
        .unwrap()
        .map(|page| page.unwrap().file_name().into_string().unwrap())
        .collect();
    pages.sort();

    let mut expected: Vec<_> = COMMANDS
        .iter()
        .map(|command| format!("pathline-{}.1", command.replace(' ', "-")))
        .collect();
    expected.push("pathline.1".to_owned());
    expected.sort();
    assert_eq!(pages, expected);
    let page = fs::read_to_string(directory.path().join("pathline-up.1")).unwrap();
    assert!(page.contains(r"\-\-data\-dir"), "{page}");
}

#[test]
fn manual_page_of_pathline_goes_to_stdout() {
    let page = stdout(&run(&["man"]));
    assert!(page.contains(".TH pathline 1"), "{page}");
}
