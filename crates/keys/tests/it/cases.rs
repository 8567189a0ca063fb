//! Cases shared beside the repository, and a line where they are not there.

use std::fs;
use std::io::Write as _;
use std::path::Path;

use pathline_keys::{ChangeSet, Key, KeySet, Metadata, Value};

/// Reads a file of shared cases, or says that the suite is skipped.
pub(crate) fn read(suite: &str, file: &str) -> Option<String> {
    let shared = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    if !shared.is_dir() {
        skip(suite, "no shared cases beside the repository");
        return None;
    }
    Some(fs::read_to_string(shared.join("cases").join(file)).expect("the cases are readable"))
}

/// Says what the test kit says. The kit itself would bring a Kubernetes client into every build and
/// benchmark of a crate that has no other use for one.
fn skip(suite: &str, why: &str) {
    let line = format!("skipped: {suite}: {why}\n");
    eprint!("{line}");
    #[expect(
        clippy::disallowed_methods,
        reason = "tests have no command line of their own"
    )]
    if let Ok(file) = std::env::var("PATHLINE_SKIPS") {
        let file = fs::OpenOptions::new().append(true).create(true).open(file);
        let written = file.and_then(|mut file| file.write_all(line.as_bytes()));
        written.expect("PATHLINE_SKIPS names a file");
    }
}

/// Reads a key in the notation of the shared cases.
pub(crate) fn key(json: &serde_json::Value) -> Key {
    let name = json["n"].as_str().expect("every key has a name");
    let mut metadata = Metadata::new();
    for (name, text) in json["m"].as_object().into_iter().flatten() {
        metadata
            .insert(name, text.as_str().unwrap_or_default())
            .expect("a metadata name");
    }
    let value = match (json.get("bin"), json["v"].as_str()) {
        (Some(hex), _) => Value::Binary(from_hex(hex.as_str().unwrap_or_default()).into()),
        (None, Some(text)) => text.into(),
        (None, None) => Value::Absent,
    };
    Key::new(name.parse().expect("a valid name"))
        .with_metadata(metadata)
        .with_value(value)
}

fn from_hex(hex: &str) -> Vec<u8> {
    let digit = |at: usize| u8::from_str_radix(&hex[at..at + 2], 16).expect("hexadecimal");
    (0..hex.len()).step_by(2).map(digit).collect()
}

pub(crate) fn keys(json: &serde_json::Value) -> Vec<Key> {
    json.as_array().into_iter().flatten().map(key).collect()
}

pub(crate) fn key_set(json: &serde_json::Value) -> KeySet {
    keys(json).into_iter().collect()
}

pub(crate) fn change_set(json: &serde_json::Value) -> ChangeSet {
    let modified = keys(&json["modified_old"])
        .into_iter()
        .zip(keys(&json["modified_new"]));
    ChangeSet::from_parts(keys(&json["added"]), keys(&json["removed"]), modified)
}
