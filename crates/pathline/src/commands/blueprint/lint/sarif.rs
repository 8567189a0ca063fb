//! Findings as SARIF 2.1.0, which code scanning reads.

use pathline_blueprint::lint::CATALOGUE;
use serde_json::{Value, json};

use super::{LintReport, Located};

const SCHEMA: &str =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

pub(super) fn write(report: &LintReport) -> String {
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
    let log = json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {
                "name": "pathline",
                "version": env!("CARGO_PKG_VERSION"),
                "rules": rules,
            }},
            "columnKind": "unicodeCodePoints",
            "results": report.findings.iter().map(result).collect::<Vec<_>>(),
        }],
    });
    format!("{log}\n")
}

fn result(finding: &Located) -> Value {
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
                    "endLine": finding.end.line,
                    "endColumn": finding.end.column,
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
