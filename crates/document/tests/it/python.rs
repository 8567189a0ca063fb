//! Python's own readers of TOML and JSON agree about edited texts.

use std::io::Write as _;
use std::process::{Command, Stdio};

use pathline_document::{Document, Format};
use pathline_testkit::skip;
use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::TestRunner;
use serde_json::Value;

use crate::edit_laws::{any_path, any_value};

const READER: &str = "
import json, sys, tomllib
texts = json.load(sys.stdin)
print(json.dumps([[tomllib.loads(t) for t in texts[0]], [json.loads(t) for t in texts[1]]]))
";

#[test]
fn python_reads_edited_texts_as_we_do() {
    if Command::new("python3")
        .args(["-c", "import tomllib"])
        .status()
        .is_ok_and(|it| it.success())
    {
        let texts = [edited(Format::Toml), edited(Format::Json)];
        let read = read_by_python(&texts);
        for ((format, texts), others) in [Format::Toml, Format::Json]
            .into_iter()
            .zip(&texts)
            .zip(&read)
        {
            for (text, other) in texts.iter().zip(others) {
                let ours = format.read(text).expect("it was just edited")[0].to_json();
                assert_eq!(&ours, other, "{text}");
            }
        }
    } else {
        skip(
            "documents by Python",
            "python3 with tomllib is not installed",
        );
    }
}

fn edited(format: Format) -> Vec<String> {
    let mut runner = TestRunner::deterministic();
    let strategy = (any_value(3), any_path(), proptest::option::of(any_value(2)));
    let mut texts = Vec::new();
    while texts.len() < 300 {
        let (value, path, new) = strategy.new_tree(&mut runner).expect("a case").current();
        let Ok(text) = format.write(&Document::from(&value)) else {
            continue;
        };
        let edits = [(path, new.map(Document::from))];
        texts.extend(format.edit(&text, &edits).map(|edited| edited.text));
    }
    texts
}

fn read_by_python(texts: &[Vec<String>; 2]) -> Vec<Vec<Value>> {
    let mut python = Command::new("python3")
        .args(["-c", READER])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("python3 has just run");
    let input = serde_json::to_vec(&texts).expect("texts");
    let mut stdin = python.stdin.take().expect("it is piped");
    stdin.write_all(&input).expect("python3 reads all of it");
    drop(stdin);
    let output = python.wait_with_output().expect("python3 ends");
    assert!(
        output.status.success(),
        "python3 cannot read an edited text"
    );
    serde_json::from_slice(&output.stdout).expect("it prints JSON")
}
