//! `pathline blueprint test`.

use insta::assert_snapshot;
use serde_json::json;

use super::{Scratch, chain, example, json_of, run_in};
use crate::program::{stderr, stdout};

#[test]
fn tests_of_the_example_pass() {
    let output = run_in(&example(), &["test", "."]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert_snapshot!(stdout(&output));
}

fn suite(test: &str) -> Scratch {
    let resources = "
  - name: build
    templateRef: {kind: ClusterImageTemplate, name: build}
  - name: test
    selector: {matchLabels: {has-tests: 'true'}}
    templateRef: {kind: ClusterTemplate, name: run-tests}
";
    let file = format!("blueprint: ../chain.yaml\ntests:\n{test}");
    Scratch::new(&[
        ("chain.yaml", &chain(resources)),
        ("tests/a.test.yaml", &file),
    ])
}

#[test]
fn what_is_not_as_expected_is_told_with_the_reason() {
    let scratch = suite(
        "- name: all is well\n  owner: {}\n  path: {build: ok}\n\
         - name: tests run\n  owner: {spec: {image: x}}\n  matches: true\n  path: {test: ok, build: {template: other}}\n",
    );
    let output = scratch.run(&["test", "tests"]);
    assert_eq!(output.status.code(), Some(1));
    assert_snapshot!(stdout(&output), @r#"
    ok    tests/a.test.yaml: all is well
    FAIL  tests/a.test.yaml:6: tests run
            expected the blueprint's selector matches, found does not match
            build: expected selected, template other, found selected, template build (it is on every path)
            test: expected selected, found skipped (label [has-tests] is not [true])
    1 passed, 1 failed
    "#);
    let report = json_of(&scratch.run(&["test", "tests", "-o", "json"]));
    assert_eq!(
        (&report["passed"], &report["failed"]),
        (&json!(1), &json!(1))
    );
    assert_eq!(
        report["tests"][1]["differences"][2],
        json!({
            "resource": "test", "expected": "selected", "found": "skipped",
            "reason": "label [has-tests] is not [true]",
        })
    );
    assert_eq!(report["tests"][1]["line"], 6);
}

#[test]
fn a_malformed_test_is_an_error_with_its_place() {
    for (test, message) in [
        (
            "- {owner: {}, path: {}}",
            "a.test.yaml:3:3: `name` is missing",
        ),
        (
            "- {name: n, path: {}}",
            "a.test.yaml:3:3: `owner` has to be a Workload",
        ),
        (
            "- {name: n, owner: {}}",
            "a.test.yaml:3:3: `path` has to say",
        ),
        (
            "- {name: n, owner: {}, path: {biuld: ok}}",
            "a.test.yaml:3:31: the blueprint has no resource `biuld`",
        ),
        (
            "- {name: n, owner: {}, path: {build: -1}}",
            "a.test.yaml:3:38: -1 is not the index of an option",
        ),
        (
            "- {name: n, owner: {}, path: {build: [ok]}}",
            "a.test.yaml:3:31: expected the index",
        ),
        (
            "- {name: n, owner: {}, path: {build: {optoin: 1}}}",
            "a.test.yaml:3:31: there is no `optoin` to expect",
        ),
        (
            "- {name: n, owners: {}}",
            "a.test.yaml:3:13: there is no `owners` here",
        ),
        (
            "- {name: n, owner: {kind: Deliverable}, path: {}}",
            "a.test.yaml:3:27: the supply chain `chain` is for a Workload",
        ),
        (
            "- {name: n, owner: {metadata: {labels: {a: true}}}, path: {}}",
            "a.test.yaml:3:44: metadata.labels.a is a boolean",
        ),
        (
            "- {name: n, owner: {}, matches: maybe, path: {}}",
            "a.test.yaml:3:33: `matches` is true or false",
        ),
        ("- name: [", "a.test.yaml:"),
        (
            "- {name: n, owner: gone.yaml, path: {}}",
            "cannot read tests/gone.yaml",
        ),
    ] {
        let output = suite(test).run(&["test", "tests"]);
        assert_eq!(output.status.code(), Some(3), "{test}");
        assert!(
            stderr(&output).contains(message),
            "{test}: {}",
            stderr(&output)
        );
        assert_eq!(stdout(&output), "");
    }
}

#[test]
fn a_directory_without_tests_is_not_called_a_success() {
    let scratch = Scratch::new(&[("blueprint.yaml", "")]);
    let output = scratch.run(&["test", "."]);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        stderr(&output).contains("there are no path tests in ."),
        "{}",
        stderr(&output)
    );
}
