//! Pathline against the Go libraries that Cartographer is built on, on cases made up at random.

mod paths;
mod values;

use std::io::Write;
use std::process::{Command, Stdio};

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use pathline_blueprint::jsonpath;
use pathline_blueprint::output::Output;
use pathline_testkit::{go_tool, is_nightly, seed};
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use serde_json::{Value, json};

/// How many cases each question is asked about.
fn cases() -> usize {
    if is_nightly() { 100_000 } else { 10_000 }
}

/// Makes up cases; the same ones for the same seed.
fn draw<T>(suite: &str, strategy: &impl Strategy<Value = T>) -> Vec<T> {
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed(suite).to_le_bytes());
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
    let mut runner = TestRunner::new_with_rng(Config::default(), rng);
    let draw = |_| {
        let tree = strategy.new_tree(&mut runner);
        tree.expect("no strategy here rejects").current()
    };
    (0..cases()).map(draw).collect()
}

/// Asks the oracle about all cases at once; nothing if there is no oracle.
fn ask(suite: &str, topic: &str, questions: &[Value]) -> Option<Vec<Value>> {
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

/// Fails with the first few disagreements.
fn report(disagreements: &[String], asked: usize) {
    let shown: Vec<_> = disagreements.iter().take(20).map(String::as_str).collect();
    assert!(
        disagreements.is_empty(),
        "{} of {asked} differ:\n{}",
        disagreements.len(),
        shown.join("\n")
    );
}

#[test]
fn digests_and_previews_agree_with_yaml_v3() {
    let suite = "digests and previews agree with yaml.v3";
    let values = draw(suite, &values::value());
    let Some(answers) = ask(suite, "yaml", &values) else {
        return;
    };
    let epoch = Time(jiff::Timestamp::UNIX_EPOCH);
    let disagreements: Vec<_> = values
        .iter()
        .zip(&answers)
        .filter_map(|(value, theirs)| {
            let status = Output::Config(value.clone()).status(&[], &epoch);
            let ours = json!({"preview": status[0].preview, "digest": status[0].digest});
            (ours != *theirs).then(|| format!("{value}\n ours   {ours}\n theirs {theirs}"))
        })
        .collect();
    report(&disagreements, values.len());
}

#[test]
fn paths_lead_where_client_go_says() {
    let suite = "paths lead where client-go says";
    let searches = draw(suite, &paths::search());
    let questions: Vec<_> = searches
        .iter()
        .map(|(path, data)| json!({"path": path, "data": data}))
        .collect();
    let Some(answers) = ask(suite, "jsonpath", &questions) else {
        return;
    };
    let mut unstable = 0;
    let mut disagreements = Vec::new();
    for ((path, data), theirs) in searches.iter().zip(&answers) {
        if theirs["unstable"] == true {
            unstable += 1;
            continue;
        }
        let ours = found(path, data);
        if !same(&ours, theirs) {
            disagreements.push(format!(
                "{path} in {data}\n ours   {ours}\n theirs {theirs}"
            ));
        }
    }
    report(&disagreements, searches.len());
    assert!(
        unstable * 50 < searches.len(),
        "{unstable} answers depend on the order of maps"
    );
}

/// Answers as the oracle does.
fn found(path: &str, data: &Value) -> Value {
    let (value, missing, error) = match jsonpath::one(path, data) {
        Ok(Some(value)) => (value.into_owned(), false, String::new()),
        Ok(None) => (Value::Null, true, String::new()),
        Err(error) => (Value::Null, false, error.to_string()),
    };
    json!({"value": value, "missing": missing, "error": error})
}

fn same(ours: &Value, theirs: &Value) -> bool {
    ours["missing"] == theirs["missing"]
        && same_error(&ours["error"], &theirs["error"])
        && same_value(&ours["value"], &theirs["value"])
}

/// Compares messages, but not the type they give for what is not in the object: the bytes of a text,
/// and numbers of the path.
fn same_error(ours: &Value, theirs: &Value) -> bool {
    let without_type = |error: &Value| {
        let text = error.as_str().unwrap_or_default();
        text.replace(": uint8 is", ": int64 is")
            .replace(": int is", ": int64 is")
    };
    without_type(ours) == without_type(theirs)
}

/// Compares values, but not how numbers are written: Go prints `1.0` as `1`.
fn same_value(ours: &Value, theirs: &Value) -> bool {
    match (ours, theirs) {
        (Value::Number(ours), Value::Number(theirs)) => ours.as_f64() == theirs.as_f64(),
        (Value::Array(ours), Value::Array(theirs)) => {
            ours.len() == theirs.len()
                && ours
                    .iter()
                    .zip(theirs)
                    .all(|(ours, theirs)| same_value(ours, theirs))
        }
        (Value::Object(ours), Value::Object(theirs)) => {
            ours.len() == theirs.len()
                && ours.iter().all(|(key, value)| {
                    theirs
                        .get(key)
                        .is_some_and(|theirs| same_value(value, theirs))
                })
        }
        _ => ours == theirs,
    }
}
