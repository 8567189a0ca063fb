//! `pathline keys`, as a user types it.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Output, Stdio};

use insta::assert_snapshot;
use pathline_testkit::{git, shared_dir, skip};
use serde_json::{Value, json};

use crate::program::{pathline, stderr, stdout};

fn run(dir: &Path, arguments: &[&str]) -> Output {
    pathline()
        .current_dir(dir)
        .arg("keys")
        .args(arguments)
        .output()
        .expect("the binary runs")
}

fn json(output: &Output) -> Value {
    assert!(output.status.success(), "{output:?}");
    serde_json::from_slice(&output.stdout).expect("stdout holds nothing but JSON")
}

fn write(dir: &Path, name: &str, content: impl AsRef<[u8]>) {
    fs::write(dir.join(name), content).expect("a scratch file");
}

fn scratch() -> tempfile::TempDir {
    tempfile::tempdir().expect("a scratch directory")
}

fn canon(input: &[u8]) -> Vec<u8> {
    let mut command = pathline();
    command
        .args(["keys", "canon"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    let mut child = command.spawn().expect("the binary runs");
    let mut stdin = child.stdin.take().expect("a pipe");
    stdin.write_all(input).expect("the binary reads");
    drop(stdin);
    let output = child.wait_with_output().expect("the binary ends");
    assert!(output.status.success());
    output.stdout
}

const OLD: &str = "image: app:1.0\nversion: 1.10\nenv:\n- LOG=debug\ngone: true\n";
const NEW: &str = "image: app:1.1\nversion: '1.10'\nenv:\n- LOG=debug\n- \"\\e[31m\"\n";

#[test]
fn diff_reads_well() {
    let dir = scratch();
    write(dir.path(), "old.yaml", OLD);
    write(dir.path(), "new.yaml", NEW);
    let output = run(dir.path(), &["diff", "old.yaml", "new.yaml"]);
    assert_eq!(output.status.code(), Some(0));
    assert_snapshot!(stdout(&output), @r#"
    + user:/env/#1 = "\u{1b}[31m"
    - user:/gone = true {type: boolean}
    ~ user:/image = app:1.0 -> app:1.1
    ~ user:/version = 1.1 -> 1.10
        - type = float
    1 added, 1 removed, 2 modified
    "#);
    let same = run(dir.path(), &["diff", "old.yaml", "old.yaml", "--exit-code"]);
    assert_eq!(
        (same.status.code(), stdout(&same).as_str()),
        (Some(0), "no changes\n")
    );
    let changed = run(dir.path(), &["diff", "old.yaml", "new.yaml", "--exit-code"]);
    assert_eq!(changed.status.code(), Some(1));
}

#[test]
fn diff_compares_formats_and_limits_itself_to_a_name() {
    let dir = scratch();
    write(
        dir.path(),
        "old.toml",
        "replicas = 2\n[image]\ntag = \"1\"\n",
    );
    write(
        dir.path(),
        "new.json",
        r#"{"replicas": 3, "image": {"tag": "2"}}"#,
    );
    let below = [
        "diff",
        "old.toml",
        "new.json",
        "--below",
        "user:/image",
        "-o",
        "json",
    ];
    let side = |value: &str| json!({"value": value, "meta": {}});
    let expected = json!({
        "added": [], "removed": [],
        "modified": [{
            "name": "user:/image/tag", "old": side("1"), "new": side("2"),
            "meta": {"added": {}, "removed": {}, "modified": {}},
        }],
    });
    assert_eq!(json(&run(dir.path(), &below)), expected);
    let wrong = run(
        dir.path(),
        &["diff", "old.toml", "new.json", "--below", "user"],
    );
    assert_eq!(wrong.status.code(), Some(2));
}

#[test]
fn diff_reads_revisions_of_a_repository() {
    let dir = scratch();
    git(dir.path(), &["init", "-q", "-b", "main"]);
    fs::create_dir(dir.path().join("deploy")).expect("a directory");
    for content in ["a: 1\n", "a: 2\n"] {
        write(dir.path(), "deploy/values.yaml", content);
        git(dir.path(), &["add", "."]);
        git(dir.path(), &["commit", "-q", "-m", "change"]);
    }
    write(dir.path(), "deploy/values.yaml", "a: 3\n");
    let deploy = dir.path().join("deploy");
    for (dir, old, new, before, after) in [
        (
            dir.path(),
            "HEAD~1:deploy/values.yaml",
            "HEAD:deploy/values.yaml",
            "1",
            "2",
        ),
        (
            dir.path(),
            "main:deploy/values.yaml",
            "deploy/values.yaml",
            "2",
            "3",
        ),
        (&deploy, "HEAD~1:./values.yaml", "values.yaml", "1", "3"),
    ] {
        let changes = json(&run(dir, &["diff", old, new, "-o", "json"]));
        let modified = &changes["modified"][0];
        assert_eq!(
            (&modified["old"]["value"], &modified["new"]["value"]),
            (&json!(before), &json!(after))
        );
    }
    for (missing, reason) in [
        ("HEAD:nowhere.yaml", "there is no"),
        ("nothing:a.yaml", "from git"),
    ] {
        let output = run(dir.path(), &["diff", missing, "deploy/values.yaml"]);
        assert_eq!(output.status.code(), Some(3));
        assert!(stderr(&output).contains(reason), "{}", stderr(&output));
    }
}

#[test]
fn what_cannot_be_read_says_where_and_is_not_called_unchanged() {
    let dir = scratch();
    write(dir.path(), "good.yaml", "a: 1\n");
    for (name, content, reason) in [
        ("broken.yaml", &b"a: 1\nb: [1"[..], "line 2, column 4"),
        (
            "twice.json",
            b"{\"a\": 1,\n \"a\": 2}",
            "line 2, column 2: the key `a` is there twice",
        ),
        ("bytes.yaml", b"a: \xff", "line 1, column 4: not UTF-8"),
        ("broken.toml", b"a = ", "line 1, column 5"),
    ] {
        write(dir.path(), name, content);
        let output = run(dir.path(), &["diff", "good.yaml", name, "-o", "json"]);
        assert_eq!(output.status.code(), Some(3), "{name}");
        assert!(stderr(&output).contains(reason), "{}", stderr(&output));
        assert!(stdout(&output).starts_with("{\"error\":"), "{name}");
    }
    let output = run(dir.path(), &["diff", "good.yaml", "missing.yaml"]);
    assert_eq!(output.status.code(), Some(3));
}

#[test]
fn changes_compose_apply_and_are_undone() {
    let dir = scratch();
    let path = dir.path();
    let sets = [
        json!([{"n": "user:/a", "v": "1"}, {"n": "user:/b", "bin": "00ff"}]),
        json!([{"n": "user:/a", "v": "2", "m": {"unit": "s"}}]),
        json!([{"n": "user:/a", "v": "2"}, {"n": "user:/c", "v": null}]),
    ];
    for (number, set) in sets.iter().enumerate() {
        write(path, &format!("{number}.json"), set.to_string());
    }
    for (old, new, name) in [(0, 1, "first"), (1, 2, "second"), (0, 2, "both")] {
        let (old, new) = (format!("{old}.json"), format!("{new}.json"));
        let output = run(path, &["diff", "--keys", &old, &new, "-o", "json"]);
        write(path, &format!("{name}.json"), json(&output).to_string());
    }
    let composed = json(&run(path, &["compose", "first.json", "second.json"]));
    let both = fs::read_to_string(path.join("both.json")).expect("just written");
    assert_eq!(composed.to_string(), both);
    assert_eq!(json(&run(path, &["apply", "both.json", "0.json"])), sets[2]);
    assert_eq!(
        json(&run(path, &["apply", "--reverse", "both.json", "2.json"])),
        sets[0]
    );

    let refused = run(path, &["compose", "first.json", "first.json"]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(
        stderr(&refused).contains("user:/b: removed, so it cannot be removed"),
        "{}",
        stderr(&refused)
    );
    let refused = run(path, &["apply", "first.json", "1.json"]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(
        stderr(&refused).contains("user:/b: cannot be removed"),
        "{}",
        stderr(&refused)
    );
}

#[test]
fn names_are_canonicalised_line_by_line() {
    assert_eq!(canon(b"user://a\n\n/%\n/x\xff"), b"user:/a\nINVALID the name is empty\nINVALID an empty part directly below a root cannot be told from the root\n/x\xff\n");
}

#[test]
fn shared_cases_hold_on_the_command_line() {
    let Some(shared) = shared_dir() else {
        return skip(
            "keys on the command line",
            "no shared cases beside the repository",
        );
    };
    let names = fs::read_to_string(shared.join("cases/elektra-names.tsv")).expect("the cases");
    let cases: Vec<_> = names
        .lines()
        .map(|line| line.split('\t').collect::<Vec<_>>())
        .filter(|fields| fields[0] == "new")
        .collect();
    let input: String = cases
        .iter()
        .map(|fields| format!("{}\n", fields[1]))
        .collect();
    let answers = String::from_utf8(canon(input.as_bytes())).expect("the cases are text");
    assert_eq!(answers.lines().count(), cases.len());
    for (fields, answer) in cases.iter().zip(answers.lines()) {
        let refused = fields[2] == "INVALID" || fields[2].ends_with(":/%") || fields[2] == "/%";
        let holds = if refused {
            answer.starts_with("INVALID ")
        } else {
            answer == fields[2]
        };
        assert!(holds, "{fields:?}: {answer}");
    }

    let dir = scratch();
    let cases = fs::read_to_string(shared.join("cases/elektra-diff.jsonl")).expect("the cases");
    for line in cases.lines() {
        let case: Value = serde_json::from_str(line).expect("a case a line");
        if case["op"] != "calculate" || case["id"] == "D021" {
            continue;
        }
        write(dir.path(), "old.json", case["old"].to_string());
        write(dir.path(), "new.json", case["new"].to_string());
        let mut arguments = vec!["diff", "--keys", "old.json", "new.json", "-o", "json"];
        arguments.extend(case["parent"].as_str().map(|_| "--below"));
        arguments.extend(case["parent"].as_str());
        let changes = json(&run(dir.path(), &arguments));
        for (kind, side) in [
            ("added", "added"),
            ("removed", "removed"),
            ("modified", "modified_old"),
        ] {
            let names = |list: &Value, field: &str| -> Vec<_> {
                let list = list.as_array().expect("a list");
                list.iter().map(|key| key[field].clone()).collect()
            };
            let expected = names(&case["expect"][side], "n");
            assert_eq!(
                names(&changes[kind], "name"),
                expected,
                "{} {kind}",
                case["id"]
            );
        }
    }
}
