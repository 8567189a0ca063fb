use std::fs;
use std::path::Path;
use std::process::Command;

use rustix::process::Signal;
use serde_json::Value;

use crate::program::{Ended, Running, pathline, stderr, stdout};
use crate::site::get;

const STAGES: [&str; 6] = [
    "fetched",
    "tested",
    "built",
    "written",
    "delivered",
    "running",
];

fn git(repository: &str, arguments: &[&str]) -> String {
    let output = Command::new("git")
        .arg("-C")
        .arg(repository)
        .args(arguments)
        .output();
    let output = output.expect("git runs");
    assert!(output.status.success(), "{output:?}");
    stdout(&output).trim().to_owned()
}

/// Replaces the message of the sample application and returns the commit.
fn commit(app: &str, message: &str) -> String {
    fs::write(Path::new(app).join("message.txt"), message).expect("the application is there");
    git(
        app,
        &[
            "commit",
            "--quiet",
            "--all",
            "--message",
            "Try another message",
        ],
    );
    git(app, &["rev-parse", "HEAD"])
}

/// Returns the processes that work in a directory.
#[cfg(target_os = "linux")]
fn processes_in(directory: &Path) -> Vec<String> {
    let processes = fs::read_dir("/proc").expect("Linux has it").flatten();
    processes
        .filter_map(|process| fs::read_link(process.path().join("cwd")).ok())
        .filter(|cwd| cwd.starts_with(directory))
        .map(|cwd| cwd.display().to_string())
        .collect()
}

#[test]
fn two_commits_arrive_and_nothing_is_left_behind() {
    let mut demo = Running::start(&["demo", "--once", "--output", "json"]);
    let temporary = demo.temporary();
    let summary = demo.json();
    assert_eq!(demo.rest(), "", "stdout holds nothing but the JSON");
    let Ended {
        code,
        stderr: told,
        leash,
    } = demo.wait();
    assert_eq!(code, Some(0), "{told}");

    let commits = summary["commits"].as_array().unwrap();
    assert_eq!(commits.len(), 2);
    for arrival in commits {
        let stages: Vec<_> = arrival["stages"].as_array().unwrap().iter().collect();
        assert_eq!(
            stages
                .iter()
                .map(|at| at["stage"].as_str().unwrap())
                .collect::<Vec<_>>(),
            STAGES
        );
        let times: Vec<_> = stages
            .iter()
            .map(|at| at["seconds"].as_f64().unwrap())
            .collect();
        assert!(times.is_sorted(), "{times:?}");
    }
    let first = &commits[0]["commit"].as_str().unwrap()[..7];
    for stage in STAGES {
        let line = |line: &&str| line.starts_with(first) && line.contains(stage);
        assert!(
            told.lines().any(|text| line(&text)),
            "{first} {stage} is not in\n{told}"
        );
    }
    let second = &commits[1]["commit"].as_str().unwrap()[..7];
    let in_order = [
        format!("$ pathline wait workload/hello --for source={second} --live"),
        format!("source={second}  not seen yet"),
        format!("source={second}  in source, test, build, manifest; `manifest` rolls out"),
        "workload default/hello runs with what was asked for".to_owned(),
        format!("shows {second}"),
    ];
    let mut rest = told.as_str();
    for line in in_order {
        let at = rest.find(&line);
        let at = at.unwrap_or_else(|| panic!("`{line}` is missing, or too early, in\n{told}"));
        rest = &rest[at..];
    }
    assert_eq!(
        fs::read_dir(&temporary).unwrap().count(),
        0,
        "temporary files are gone"
    );
    #[cfg(target_os = "linux")]
    assert_eq!(
        processes_in(leash.directory()),
        Vec::<String>::new(),
        "nothing runs any more"
    );
}

#[test]
fn page_follows_the_commits_of_the_user_and_stays_when_one_fails() {
    let mut demo = Running::start(&["demo", "--dir", "here", "--output", "json"]);
    let summary: Value = demo.json();
    let text = |key: &str| summary[key].as_str().unwrap();
    let site = text("site").trim_start_matches("http://");
    let second = summary["commits"][1]["commit"].as_str().unwrap();
    assert!(
        get(site, "/").contains(second),
        "the page shows the second commit"
    );

    let broken = commit(text("app"), "two\nlines\n");
    demo.wait_for_stderr("FAIL  message.txt must hold exactly one line of text, it has 2");
    let told = demo.stderr();
    assert!(told.contains(&format!("{}  ", &broken[..7])), "{told}");
    assert!(
        get(site, "/").contains(second),
        "what fails its test does not run"
    );

    let third = commit(text("app"), "Third time lucky\n");
    demo.wait_for_stderr(&format!("shows {}", &third[..7]));
    let page = get(site, "/");
    assert!(
        page.contains(&third) && page.contains("Third time lucky"),
        "{page}"
    );
    let manifest = git(text("manifests"), &["show", "main:site.yaml"]);
    assert!(manifest.contains(&third), "{manifest}");

    demo.signal(Signal::INT);
    let Ended { code, leash, .. } = demo.wait();
    assert_eq!(code, Some(0));
    assert!(
        leash.directory().join("here/app/message.txt").exists(),
        "a named directory stays"
    );
}

#[test]
fn time_out_names_the_station_and_the_log() {
    let home = tempfile::tempdir().unwrap();
    let mut command = pathline();
    command
        .args(["demo", "--once", "--timeout", "1ms", "--dir", "here"])
        .current_dir(&home);
    let output = command.output().unwrap();
    let told = stderr(&output);
    assert_eq!(output.status.code(), Some(124), "{told}");
    assert!(told.contains("is still not fetched"), "{told}");
    assert!(told.contains("here/pathline.log"), "{told}");
    assert_eq!(stdout(&output), "");
}

#[test]
fn directory_with_something_in_it_is_refused() {
    let home = tempfile::tempdir().unwrap();
    fs::write(home.path().join("thesis.tex"), "").unwrap();
    let mut command = pathline();
    command
        .args(["demo", "--once", "--dir", "."])
        .current_dir(&home);
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(fs::read_dir(&home).unwrap().count(), 1, "nothing was made");
}

#[test]
fn missing_git_is_named() {
    let home = tempfile::tempdir().unwrap();
    let mut command = pathline();
    command
        .args(["demo", "--once"])
        .env("PATH", home.path())
        .env("TMPDIR", home.path());
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(
        stderr(&output).contains("hint: the demo needs git"),
        "{}",
        stderr(&output)
    );
}
