//! Cells of pods: the status column tells a story of its own.

use jiff::Timestamp;
use serde_json::Value;

use super::super::since::{human_duration, parse};
use super::{NONE, list, number, text};

pub(in super::super) fn pod_ready(pod: &Value, _now: Timestamp) -> Value {
    let ready = running_statuses(pod)
        .filter(|status| status["ready"] == true)
        .count();
    let total = list(pod, "/spec/containers").count()
        + list(pod, "/spec/initContainers")
            .filter(|container| is_sidecar(container))
            .count();
    Value::from(format!("{ready}/{total}"))
}

/// The statuses of containers that are meant to keep running.
fn running_statuses(pod: &Value) -> impl Iterator<Item = &Value> {
    let sidecars = list(pod, "/status/initContainerStatuses")
        .filter(|status| sidecar_named(pod, text(status, "/name")));
    let running = |status: &&Value| status.pointer("/state/running").is_some();
    list(pod, "/status/containerStatuses")
        .chain(sidecars)
        .filter(running)
}

fn is_sidecar(init_container: &Value) -> bool {
    text(init_container, "/restartPolicy") == "Always"
}

fn sidecar_named(pod: &Value, name: &str) -> bool {
    list(pod, "/spec/initContainers")
        .any(|container| text(container, "/name") == name && is_sidecar(container))
}

pub(in super::super) fn pod_restarts(pod: &Value, now: Timestamp) -> Value {
    let statuses = || {
        let init = list(pod, "/status/initContainerStatuses");
        let counted = init.filter(|status| {
            initializing(pod).is_some() || sidecar_named(pod, text(status, "/name"))
        });
        list(pod, "/status/containerStatuses").chain(counted)
    };
    let restarts: i64 = statuses()
        .map(|status| number(status, "/restartCount"))
        .sum();
    let last = statuses()
        .filter_map(|status| parse(status.pointer("/lastState/terminated/finishedAt")))
        .max();
    Value::from(match last {
        Some(last) if restarts > 0 => {
            let ago = human_duration(now.as_second() - last.as_second());
            format!("{restarts} ({ago} ago)")
        }
        _ => restarts.to_string(),
    })
}

pub(in super::super) fn pod_status(pod: &Value, _now: Timestamp) -> Value {
    let phase = text(pod, "/status/phase");
    let deleted = pod.pointer("/metadata/deletionTimestamp").is_some();
    let status = if deleted && text(pod, "/status/reason") == "NodeLost" {
        "Unknown".to_owned()
    } else if deleted && !matches!(phase, "Succeeded" | "Failed") {
        "Terminating".to_owned()
    } else {
        initializing(pod).unwrap_or_else(|| settled_status(pod))
    };
    Value::from(status)
}

/// Returns what an init container that has not finished says, if one has not.
fn initializing(pod: &Value) -> Option<String> {
    if has_condition(pod, "Initialized") {
        return None;
    }
    let total = list(pod, "/spec/initContainers").count();
    list(pod, "/status/initContainerStatuses")
        .enumerate()
        .find_map(|(index, status)| {
            let sidecar = sidecar_named(pod, text(status, "/name"));
            if sidecar && status["started"] == true {
                return None;
            }
            let waiting = text(status, "/state/waiting/reason");
            match status.pointer("/state/terminated") {
                Some(terminated) if number(terminated, "/exitCode") == 0 => None,
                Some(terminated) => Some(format!("Init:{}", end_of(terminated))),
                None if !waiting.is_empty() && waiting != "PodInitializing" => {
                    Some(format!("Init:{waiting}"))
                }
                None => Some(format!("Init:{index}/{total}")),
            }
        })
}

fn settled_status(pod: &Value) -> String {
    let mut status = base_status(pod).to_owned();
    let mut failure = None;
    let mut has_running = false;
    for container in list(pod, "/status/containerStatuses").rev() {
        let waiting = text(container, "/state/waiting/reason");
        if !waiting.is_empty() {
            status = waiting.to_owned();
        } else if let Some(terminated) = container.pointer("/state/terminated") {
            status = end_of(terminated);
            if number(terminated, "/exitCode") != 0 {
                failure = Some(status.clone());
            }
        } else if container["ready"] == true && container.pointer("/state/running").is_some() {
            has_running = true;
        }
    }
    match (status.as_str(), has_running) {
        ("Completed", true) if has_condition(pod, "Ready") => "Running".to_owned(),
        ("Completed", true) => failure.unwrap_or_else(|| "NotReady".to_owned()),
        ("Completed", false) => failure.unwrap_or(status),
        _ => status,
    }
}

fn base_status(pod: &Value) -> &str {
    let gated = list(pod, "/status/conditions").any(|condition| {
        text(condition, "/type") == "PodScheduled"
            && text(condition, "/reason") == "SchedulingGated"
    });
    match text(pod, "/status/reason") {
        _ if gated => "SchedulingGated",
        "" => text(pod, "/status/phase"),
        reason => reason,
    }
}

fn end_of(terminated: &Value) -> String {
    match (text(terminated, "/reason"), number(terminated, "/signal")) {
        ("", 0) => format!("ExitCode:{}", number(terminated, "/exitCode")),
        ("", signal) => format!("Signal:{signal}"),
        (reason, _) => reason.to_owned(),
    }
}

pub(in super::super) fn pod_readiness_gates(pod: &Value, _now: Timestamp) -> Value {
    let gates = list(pod, "/spec/readinessGates");
    let total = gates.len();
    if total == 0 {
        return Value::from(NONE);
    }
    let open = gates
        .filter(|gate| has_condition(pod, text(gate, "/conditionType")))
        .count();
    Value::from(format!("{open}/{total}"))
}

fn has_condition(pod: &Value, kind: &str) -> bool {
    list(pod, "/status/conditions")
        .any(|condition| text(condition, "/type") == kind && text(condition, "/status") == "True")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn status_tells_what_the_containers_do() {
        let cases = [
            (json!({"status": {"phase": "Pending"}}), "Pending"),
            (
                json!({"status": {"phase": "Running", "containerStatuses": [
                    {"state": {"waiting": {"reason": "CrashLoopBackOff"}}}]}}),
                "CrashLoopBackOff",
            ),
            (
                json!({"status": {"phase": "Failed", "containerStatuses": [
                    {"state": {"terminated": {"exitCode": 3}}}]}}),
                "ExitCode:3",
            ),
            (
                json!({"spec": {"initContainers": [{}, {}]}, "status": {"phase": "Pending",
                    "initContainerStatuses": [
                        {"state": {"terminated": {"exitCode": 0}}}, {"state": {"running": {}}}]}}),
                "Init:1/2",
            ),
            (
                json!({"metadata": {"deletionTimestamp": "2026-01-01T00:00:00Z"},
                    "status": {"phase": "Running"}}),
                "Terminating",
            ),
            (
                json!({"status": {"phase": "Running",
                    "conditions": [{"type": "Ready", "status": "True"}],
                    "containerStatuses": [
                        {"state": {"terminated": {"exitCode": 0, "reason": "Completed"}}},
                        {"ready": true, "state": {"running": {}}}]}}),
                "Running",
            ),
        ];
        for (pod, expected) in cases {
            assert_eq!(pod_status(&pod, Timestamp::UNIX_EPOCH), expected, "{pod}");
        }
    }

    #[test]
    fn restarts_say_when_the_last_one_was() {
        let now: Timestamp = "2026-01-01T00:10:00Z".parse().unwrap();
        let pod = json!({"status": {"containerStatuses": [{
            "restartCount": 2,
            "lastState": {"terminated": {"finishedAt": "2026-01-01T00:08:00Z"}}
        }]}});
        assert_eq!(pod_restarts(&pod, now), "2 (2m ago)");
        assert_eq!(pod_restarts(&json!({}), now), "0");
    }
}
