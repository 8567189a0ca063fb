use std::fs;
use std::path::Path;

use insta::assert_snapshot;

use crate::program::{run, stdout};

/// Every command a user can type, in the order of the help.
pub(crate) const COMMANDS: [&str; 53] = [
    "up",
    "controller",
    "crds",
    "demo",
    "site",
    "blueprint",
    "blueprint path",
    "blueprint paths",
    "blueprint lint",
    "blueprint graph",
    "blueprint test",
    "template",
    "template test",
    "keys",
    "keys canon",
    "keys diff",
    "keys compose",
    "keys apply",
    "apply",
    "wait",
    "lineage",
    "lineage simulate",
    "tracker",
    "tracker add",
    "tracker list",
    "tracker get",
    "tracker set",
    "tracker rm",
    "tracker poll",
    "tracker simulate",
    "tracker label",
    "release",
    "release list",
    "release show",
    "release board",
    "release why",
    "release wait",
    "release now",
    "release promote",
    "release hold",
    "release resume",
    "release rollback",
    "release path",
    "seal",
    "seal new",
    "seal rotate",
    "seal reset",
    "token",
    "token create",
    "token list",
    "token revoke",
    "completions",
    "man",
];

/// Returns what the binary prints, without the blanks that clap leaves on empty lines.
fn help(arguments: &[&str]) -> String {
    let output = run(arguments);
    assert!(output.status.success(), "{output:?}");
    stdout(&output)
        .lines()
        .map(str::trim_end)
        .collect::<Vec<_>>()
        .join("\n")
}

#[test]
fn short_help_reads_well() {
    assert_snapshot!("help", help(&["-h"]));
    for command in COMMANDS {
        let arguments: Vec<_> = command.split(' ').chain(["-h"]).collect();
        assert_snapshot!(
            format!("help_{}", command.replace(' ', "_")),
            help(&arguments)
        );
    }
}

#[test]
fn no_argument_at_all_shows_the_help() {
    let output = run(&[]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("Usage: pathline"));
}

#[test]
fn every_command_of_the_help_is_known_to_these_tests() {
    let help = help(&["-h"]);
    let listed = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let listed = listed.take_while(|line| !line.is_empty());
    let listed: Vec<_> = listed
        .filter_map(|line| line.split_whitespace().next())
        .collect();
    let known = COMMANDS
        .into_iter()
        .filter(|command| !command.contains(' '));
    assert_eq!(listed, known.chain(["help"]).collect::<Vec<_>>());
}

#[test]
fn reference_holds_the_help_of_every_command() {
    let mut reference = String::from(
        "# The command line\n\nEverything `pathline` can be told. This page is the help of every command, as the \
         command prints it;\na test keeps the two the same.\n",
    );
    for command in [""].into_iter().chain(COMMANDS) {
        let words = || command.split(' ').filter(|word| !word.is_empty());
        let arguments: Vec<_> = words().chain(["--help"]).collect();
        let title = ["pathline"]
            .into_iter()
            .chain(words())
            .collect::<Vec<_>>()
            .join(" ");
        reference += &format!("\n## {title}\n\n```text\n{}\n```\n", help(&arguments));
    }

    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/cli.md");

    if fs::read_to_string(&path).unwrap_or_default() != reference {
        let fresh = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cli.md");
        fs::write(&fresh, reference).unwrap();
        panic!(
            "docs/cli.md is out of date; `cp {} docs/cli.md`",
            fresh.display()
        );
    }
}
