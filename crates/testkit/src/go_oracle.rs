//! Answers of the Go libraries that Cartographer is built on, to compare ours with.

use std::io::Write;
use std::process::{Command, Stdio};

use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use serde_json::Value;

use crate::{go_tool, is_nightly, seed};

/// Draws random cases to compare on; the same ones for the same seed.
///
/// # Panics
/// Panics if the strategy rejects what it makes.
pub fn draw<T>(suite: &str, strategy: &impl Strategy<Value = T>) -> Vec<T> {
    let count = if is_nightly() { 100_000 } else { 10_000 };
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed(suite).to_le_bytes());
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
    let mut runner = TestRunner::new_with_rng(Config::default(), rng);
    let draw = |_| {
        let tree = strategy.new_tree(&mut runner);
        tree.expect("the strategy rejects nothing").current()
    };
    (0..count).map(draw).collect()
}

/// Asks `go-oracle` about all cases at once. Skips `suite` and returns nothing where it has not been
/// built.
///
/// # Panics
/// Panics if the oracle fails, or does not answer every question.
pub fn ask(suite: &str, topic: &str, questions: &[Value]) -> Option<Vec<Value>> {
    let program = go_tool(suite, "go-oracle")?;
    let mut oracle = Command::new(program)
        .arg(topic)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the oracle starts");
    let mut stdin = oracle.stdin.take().expect("a pipe");
    let lines: String = questions
        .iter()
        .map(|question| format!("{question}\n"))
        .collect();
    // On a thread of its own: the oracle answers while it is being asked.
    let asking = std::thread::spawn(move || stdin.write_all(lines.as_bytes()));
    let output = oracle.wait_with_output().expect("the oracle ends");
    asking
        .join()
        .expect("no panic")
        .expect("the oracle listens");
    assert!(
        output.status.success(),
        "the oracle ended with {}",
        output.status
    );
    let said = String::from_utf8(output.stdout).expect("the oracle writes JSON");
    let answers: Vec<Value> = said
        .lines()
        .map(|line| serde_json::from_str(line).expect("the oracle writes JSON"))
        .collect();
    assert_eq!(answers.len(), questions.len(), "every question is answered");
    Some(answers)
}

/// Fails with the first few disagreements, if there are any.
///
/// # Panics
/// Panics if there is a disagreement.
pub fn report(disagreements: &[String], asked: usize) {
    let shown: Vec<_> = disagreements.iter().take(20).map(String::as_str).collect();
    assert!(
        disagreements.is_empty(),
        "{} of {asked} differ:\n{}",
        disagreements.len(),
        shown.join("\n")
    );
}
