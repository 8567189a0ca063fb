//! Findings as SARIF 2.1.0, which code scanning reads.

use serde::Serialize;
use serde_json::{Value, json};

use super::CATALOGUE;

const SCHEMA: &str =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

/// A finding and its place in a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LocatedFinding {
    /// `error` or `warning`.
    pub severity: &'static str,
    /// The code of the finding; see [`CATALOGUE`].
    pub code: &'static str,
    /// The resource it is about.
    pub resource: Option<String>,
    /// The option it is about, by its index.
    pub option: Option<usize>,
    /// The finding, for people.
    pub message: String,
    /// The name of the file.
    pub file: String,
    /// The line on which it begins, from 1.
    pub line: usize,
    /// The column in which it begins, from 1, in characters.
    pub column: usize,
    /// The line on which it ends.
    #[serde(skip)]
    pub end_line: usize,
    /// The column behind its end.
    #[serde(skip)]
    pub end_column: usize,
}

/// Returns findings as a SARIF log of one run, of this version of Pathline.
pub fn sarif<'f>(findings: impl IntoIterator<Item = &'f LocatedFinding>, version: &str) -> Value {
    let rules: Vec<Value> = CATALOGUE
        .iter()
        .map(|info| {
            json!({
                "id": info.code,
                "shortDescription": {"text": info.meaning},
                "help": {"text": info.advice},
            })
        })
        .collect();
    json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {
                "name": "pathline",
                "version": version,
                "rules": rules,
            }},
            "columnKind": "unicodeCodePoints",
            "results": findings.into_iter().map(result).collect::<Vec<_>>(),
        }],
    })
}

fn result(finding: &LocatedFinding) -> Value {
    let rule = CATALOGUE.iter().position(|info| info.code == finding.code);
    json!({
        "ruleId": finding.code,
        "ruleIndex": rule,
        "level": finding.severity,
        "message": {"text": finding.message},
        "locations": [{
            "physicalLocation": {
                "artifactLocation": {"uri": uri(&finding.file)},
                "region": {
                    "startLine": finding.line,
                    "startColumn": finding.column,
                    "endLine": finding.end_line,
                    "endColumn": finding.end_column,
                },
            },
        }],
        "properties": {"resource": finding.resource, "option": finding.option},
    })
}

/// Returns a file name as a relative reference, in which only some characters stand for themselves.
fn uri(file: &str) -> String {
    let mut uri = String::with_capacity(file.len());
    for byte in file.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'-' | b'_' | b'~' => {
                uri.push(char::from(byte));
            }
            _ => uri += &format!("%{byte:02X}"),
        }
    }
    uri
}
