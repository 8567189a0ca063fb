//! Cells of the kinds that run pods.

use jiff::Timestamp;
use serde_json::Value;

use super::super::since::{human_duration, parse};
use super::{NONE, list, number, text};

pub(in super::super) fn replicas_ready(object: &Value, _now: Timestamp) -> Value {
    let (ready, desired) = (
        number(object, "/status/readyReplicas"),
        number(object, "/spec/replicas"),
    );
    Value::from(format!("{ready}/{desired}"))
}

pub(in super::super) fn container_names(object: &Value, _now: Timestamp) -> Value {
    containers(object, "/name")
}

pub(in super::super) fn container_images(object: &Value, _now: Timestamp) -> Value {
    containers(object, "/image")
}

fn containers(object: &Value, field: &str) -> Value {
    let shown: Vec<&str> = list(object, "/spec/template/spec/containers")
        .map(|item| text(item, field))
        .collect();
    Value::from(shown.join(","))
}

/// The label selector of a workload in the form that `kubectl get -l` takes.
pub(in super::super) fn selector(object: &Value, _now: Timestamp) -> Value {
    let Some(selector) = object.pointer("/spec/selector") else {
        return Value::from(NONE);
    };
    let mut terms: Vec<String> = Vec::new();
    let labels = selector.get("matchLabels").and_then(Value::as_object);
    for (key, value) in labels.into_iter().flatten() {
        terms.push(format!("{key}={}", value.as_str().unwrap_or_default()));
    }
    terms.extend(list(selector, "/matchExpressions").map(expression));
    Value::from(if terms.is_empty() {
        NONE.to_owned()
    } else {
        terms.join(",")
    })
}

fn expression(expression: &Value) -> String {
    let key = text(expression, "/key");
    let values: Vec<&str> = super::texts(expression, "/values");
    match text(expression, "/operator") {
        "Exists" => key.to_owned(),
        "DoesNotExist" => format!("!{key}"),
        operator => format!("{key} {} ({})", operator.to_lowercase(), values.join(",")),
    }
}

pub(in super::super) fn job_status(object: &Value, _now: Timestamp) -> Value {
    let has = |kind: &str| {
        list(object, "/status/conditions").any(|condition| {
            text(condition, "/type") == kind && text(condition, "/status") == "True"
        })
    };
    let status = if has("Complete") {
        "Complete"
    } else if has("Failed") {
        "Failed"
    } else if object.pointer("/metadata/deletionTimestamp").is_some() {
        "Terminating"
    } else {
        let others = ["Suspended", "FailureTarget", "SuccessCriteriaMet"];
        others
            .into_iter()
            .find(|kind| has(kind))
            .unwrap_or("Running")
    };
    Value::from(status)
}

pub(in super::super) fn job_completions(object: &Value, _now: Timestamp) -> Value {
    let done = number(object, "/status/succeeded");
    let parallelism = number(object, "/spec/parallelism");
    Value::from(
        match object.pointer("/spec/completions").and_then(Value::as_i64) {
            Some(wanted) => format!("{done}/{wanted}"),
            None if parallelism > 1 => format!("{done}/1 of {parallelism}"),
            None => format!("{done}/1"),
        },
    )
}

pub(in super::super) fn job_duration(object: &Value, now: Timestamp) -> Value {
    let Some(start) = parse(object.pointer("/status/startTime")) else {
        return Value::from("");
    };
    let end = parse(object.pointer("/status/completionTime")).unwrap_or(now);
    Value::from(human_duration(end.as_second() - start.as_second()))
}
