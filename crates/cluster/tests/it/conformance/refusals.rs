//! The answers to bad requests, in a form that can be compared.

use anyhow::Result;
use serde_json::Value;

use super::requests::{Answer, Raw};
use super::target::Target;

/// The part of an answer that has to be the same.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Compare {
    /// Code, reason, message and the fields at fault.
    Words,
    /// Code and reason: the message is a parser's.
    Reason,
    /// The code: a real server answers some paths with plain text.
    Code,
}

fn told(t: &Target, what: &str, answer: &Answer, compare: Compare) -> String {
    let body = answer.json();
    let is_failure = body["kind"] == "Status" && body["status"] != "Success";
    match compare {
        Compare::Code => format!("{what}: {}\n", answer.code),
        _ if !is_failure => format!("{what}: {} {}\n", answer.code, body["kind"]),
        Compare::Reason => format!("{what}: {} {}\n", answer.code, body["reason"]),
        Compare::Words => format!("{what}: {}", failure(t, &body)),
    }
}

fn failure(t: &Target, status: &Value) -> String {
    let text = |value: &Value| {
        value
            .as_str()
            .unwrap_or_default()
            .replace(&t.namespace, "NAMESPACE")
    };
    let mut causes: Vec<_> = status["details"]["causes"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|cause| {
            format!(
                "    {} {} {}\n",
                cause["reason"],
                cause["field"],
                text(&cause["message"])
            )
        })
        .collect();
    // The message of several faults lists them in no particular order.
    causes.sort();
    let message = text(&status["message"]);
    let message = if causes.len() > 1 {
        message.split('[').next().unwrap_or_default()
    } else {
        &message
    };
    format!(
        "{} {} {message}\n{}",
        status["code"],
        status["reason"],
        causes.concat()
    )
}

/// Sends each request and returns a line or more about each answer.
pub(crate) async fn tell(
    t: &Target,
    compare: Compare,
    requests: Vec<(&str, Raw)>,
) -> Result<String> {
    let mut all = String::new();
    for (what, request) in requests {
        let answer = request.send(t).await?;
        all += &told(t, what, &answer, compare);
    }
    Ok(all)
}
