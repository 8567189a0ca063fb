//! Cells of the tables of built-in kinds, worded as the API server prints them.

mod event;
mod pod;
mod workload;

use jiff::Timestamp;
use serde_json::Value;

pub(super) use event::{
    event_count, event_field, event_first_seen, event_last_seen, event_message, event_object,
    event_source,
};
pub(super) use pod::{pod_readiness_gates, pod_ready, pod_restarts, pod_status};
pub(super) use workload::{
    container_images, container_names, job_completions, job_duration, job_status, replicas_ready,
    selector,
};

use super::since::since;

const NONE: &str = "<none>";

/// The value at a pointer, or an empty string.
pub(super) fn at(object: &Value, pointer: &str) -> Value {
    object
        .pointer(pointer)
        .cloned()
        .unwrap_or_else(|| Value::from(""))
}

/// The number at a pointer, or 0.
pub(super) fn count_at(object: &Value, pointer: &str) -> Value {
    Value::from(number(object, pointer))
}

/// The value at a pointer, or `<none>`.
pub(super) fn or_none(object: &Value, pointer: &str) -> Value {
    let text = text(object, pointer);
    Value::from(if text.is_empty() { NONE } else { text })
}

pub(super) fn name(object: &Value, _now: Timestamp) -> Value {
    at(object, "/metadata/name")
}

pub(super) fn age(object: &Value, now: Timestamp) -> Value {
    Value::from(since(object.pointer("/metadata/creationTimestamp"), now))
}

pub(super) fn created_at(object: &Value, _now: Timestamp) -> Value {
    at(object, "/metadata/creationTimestamp")
}

/// Returns the number of keys that a ConfigMap or a Secret holds.
pub(super) fn data_count(object: &Value, _now: Timestamp) -> Value {
    let count = |name: &str| {
        object
            .get(name)
            .and_then(Value::as_object)
            .map_or(0, |map| map.len())
    };
    Value::from(count("data") + count("binaryData"))
}

/// Labels as `a=b,c=d`, or `<none>`.
pub(super) fn labels(labels: Option<&Value>) -> Value {
    let pairs: Vec<String> = labels
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
        .map(|(key, value)| format!("{key}={}", value.as_str().unwrap_or_default()))
        .collect();
    Value::from(if pairs.is_empty() {
        NONE.to_owned()
    } else {
        pairs.join(",")
    })
}

pub(super) fn service_external_ip(object: &Value, _now: Timestamp) -> Value {
    let listed = texts(object, "/spec/externalIPs");
    let shown = match text(object, "/spec/type") {
        "ExternalName" => text(object, "/spec/externalName").to_owned(),
        "LoadBalancer" => {
            let mut addresses = ingress_addresses(object);
            addresses.extend(listed);
            if addresses.is_empty() {
                "<pending>".to_owned()
            } else {
                addresses.join(",")
            }
        }
        _ if listed.is_empty() => NONE.to_owned(),
        _ => listed.join(","),
    };
    Value::from(shown)
}

fn ingress_addresses(service: &Value) -> Vec<&str> {
    let mut addresses: Vec<&str> = list(service, "/status/loadBalancer/ingress")
        .map(|ingress| match text(ingress, "/ip") {
            "" => text(ingress, "/hostname"),
            ip => ip,
        })
        .filter(|address| !address.is_empty())
        .collect();
    addresses.sort_unstable();
    addresses.dedup();
    addresses
}

pub(super) fn service_ports(object: &Value, _now: Timestamp) -> Value {
    let ports: Vec<String> = list(object, "/spec/ports")
        .map(|port| {
            let (number_, protocol) = (number(port, "/port"), text(port, "/protocol"));
            match number(port, "/nodePort") {
                0 => format!("{number_}/{protocol}"),
                node_port => format!("{number_}:{node_port}/{protocol}"),
            }
        })
        .collect();
    Value::from(if ports.is_empty() {
        NONE.to_owned()
    } else {
        ports.join(",")
    })
}

pub(super) fn node_status(object: &Value, _now: Timestamp) -> Value {
    let ready = list(object, "/status/conditions").find(|c| text(c, "/type") == "Ready");
    let mut status = match ready.map(|condition| text(condition, "/status")) {
        Some("True") => "Ready".to_owned(),
        Some(_) => "NotReady".to_owned(),
        None => "Unknown".to_owned(),
    };
    if object.pointer("/spec/unschedulable") == Some(&Value::Bool(true)) {
        status.push_str(",SchedulingDisabled");
    }
    Value::from(status)
}

pub(super) fn node_roles(object: &Value, _now: Timestamp) -> Value {
    let labels = object
        .pointer("/metadata/labels")
        .and_then(Value::as_object);
    let roles: Vec<&str> = labels
        .into_iter()
        .flatten()
        .filter_map(|(label, _)| label.strip_prefix("node-role.kubernetes.io/"))
        .collect();
    Value::from(if roles.is_empty() {
        NONE.to_owned()
    } else {
        roles.join(",")
    })
}

pub(super) fn role_ref(object: &Value, _now: Timestamp) -> Value {
    let (kind, name) = (text(object, "/roleRef/kind"), text(object, "/roleRef/name"));
    Value::from(format!("{kind}/{name}"))
}

/// The subjects of one kind of a role binding.
pub(super) fn subjects(object: &Value, kind: &str) -> Value {
    let names: Vec<String> = list(object, "/subjects")
        .filter(|subject| text(subject, "/kind") == kind)
        .map(|subject| match kind {
            "ServiceAccount" => {
                format!("{}/{}", text(subject, "/namespace"), text(subject, "/name"))
            }
            _ => text(subject, "/name").to_owned(),
        })
        .collect();
    Value::from(names.join(", "))
}

fn text<'a>(object: &'a Value, pointer: &str) -> &'a str {
    object
        .pointer(pointer)
        .and_then(Value::as_str)
        .unwrap_or_default()
}

fn number(object: &Value, pointer: &str) -> i64 {
    object
        .pointer(pointer)
        .and_then(Value::as_i64)
        .unwrap_or_default()
}

fn list<'a>(object: &'a Value, pointer: &str) -> std::slice::Iter<'a, Value> {
    object
        .pointer(pointer)
        .and_then(Value::as_array)
        .map(Vec::as_slice)
        .unwrap_or_default()
        .iter()
}

fn texts<'a>(object: &'a Value, pointer: &str) -> Vec<&'a str> {
    list(object, pointer).filter_map(Value::as_str).collect()
}
