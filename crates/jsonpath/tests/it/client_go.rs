//! Paths against client-go, on paths and objects made up at random.

mod paths;

use pathline_testkit::go_oracle;
use serde_json::{Value, json};

#[test]
fn paths_lead_where_client_go_says() {
    let suite = "paths lead where client-go says";
    let searches = go_oracle::draw(suite, &paths::search());
    let questions: Vec<_> = searches
        .iter()
        .map(|(path, data)| json!({"path": path, "data": data}))
        .collect();
    let Some(answers) = go_oracle::ask(suite, "jsonpath", &questions) else {
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
    go_oracle::report(&disagreements, searches.len());
    assert!(
        unstable * 50 < searches.len(),
        "{unstable} answers depend on the order of maps"
    );
}

/// Answers as the oracle does.
fn found(path: &str, data: &Value) -> Value {
    let (value, missing, error) = match pathline_jsonpath::one(path, data) {
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
