//! Describes what runs, from the objects of the cluster.

use pathline_client::api::{ContainerPort, RunningContainer, RunningObject};
use serde_json::Value;

/// Describes a pod; none unless it is ready and stays.
pub(super) fn pod(pod: &Value) -> Option<RunningObject> {
    let conditions = pod.pointer("/status/conditions").and_then(Value::as_array);
    let mut conditions = conditions.into_iter().flatten();
    let is_ready = conditions.any(|it| it["type"] == "Ready" && it["status"] == "True");
    if !is_ready || is_being_deleted(pod) {
        return None;
    }
    let containers = pod.pointer("/spec/containers").and_then(Value::as_array);
    Some(RunningObject {
        containers: containers.into_iter().flatten().map(container).collect(),
        node: text(pod, "/spec/nodeName"),
        pod_ip: text(pod, "/status/podIP"),
        ..named(pod, "Pod")
    })
}

fn container(container: &Value) -> RunningContainer {
    let ports = container["ports"].as_array().into_iter().flatten();
    let port = |port: &Value| {
        Some(ContainerPort {
            port: port["containerPort"].as_i64()?.try_into().ok()?,
            protocol: text(port, "/protocol").unwrap_or_else(|| "TCP".to_owned()),
            name: text(port, "/name"),
        })
    };
    RunningContainer {
        name: text(container, "/name").unwrap_or_default(),
        image: text(container, "/image").unwrap_or_default(),
        ports: ports.filter_map(port).collect(),
    }
}

/// Describes a `Process`; none unless it runs and stays.
pub(super) fn process(process: &Value) -> Option<RunningObject> {
    let pid = process.pointer("/status/pid").and_then(Value::as_i64)?;
    if is_being_deleted(process) {
        return None;
    }
    let port = process.pointer("/spec/readiness/httpGet/port");
    let port = port.and_then(Value::as_u64);
    Some(RunningObject {
        pid: Some(pid),
        address: port.map(|port| format!("127.0.0.1:{port}")),
        log: text(process, "/status/logPath"),
        ..named(process, "Process")
    })
}

fn named(object: &Value, kind: &str) -> RunningObject {
    RunningObject {
        kind: kind.to_owned(),
        namespace: text(object, "/metadata/namespace").unwrap_or_default(),
        name: text(object, "/metadata/name").unwrap_or_default(),
        ..RunningObject::default()
    }
}

fn is_being_deleted(object: &Value) -> bool {
    object.pointer("/metadata/deletionTimestamp").is_some()
}

fn text(object: &Value, pointer: &str) -> Option<String> {
    let text = object.pointer(pointer).and_then(Value::as_str);
    text.map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn mk_pod() -> Value {
        json!({
            "metadata": {"namespace": "dev", "name": "web-1"},
            "spec": {"nodeName": "node-1", "containers": [
                {"name": "web", "image": "web@sha256:1", "ports": [
                    {"containerPort": 8080, "protocol": "TCP", "name": "http"},
                    {"containerPort": 5678},
                ]},
                {"name": "proxy", "image": "proxy:2"},
            ]},
            "status": {"podIP": "10.0.0.7", "conditions": [{"type": "Ready", "status": "True"}]},
        })
    }

    #[test]
    fn a_ready_pod_has_its_containers_with_images_and_ports() {
        let found = serde_json::to_value(pod(&mk_pod())).unwrap();
        let expected = json!({
            "kind": "Pod", "namespace": "dev", "name": "web-1",
            "node": "node-1", "podIP": "10.0.0.7",
            "containers": [
                {"name": "web", "image": "web@sha256:1", "ports": [
                    {"port": 8080, "protocol": "TCP", "name": "http"},
                    {"port": 5678, "protocol": "TCP"},
                ]},
                {"name": "proxy", "image": "proxy:2"},
            ],
        });
        assert_eq!(found, expected);
    }

    #[test]
    fn a_pod_that_is_not_ready_or_goes_away_is_nothing_to_attach_to() {
        let mut waiting = mk_pod();
        waiting["status"]["conditions"][0]["status"] = "False".into();
        let mut leaving = mk_pod();
        leaving["metadata"]["deletionTimestamp"] = "2027-01-01T00:00:00Z".into();
        for object in [waiting, leaving, json!({}), json!(null)] {
            assert_eq!(pod(&object), None, "{object}");
        }
    }

    #[test]
    fn a_process_has_its_pid_address_and_log() {
        let mut object = json!({
            "metadata": {"namespace": "dev", "name": "web"},
            "spec": {"readiness": {"httpGet": {"port": 8080, "path": "/"}}},
            "status": {"pid": 4711, "logPath": "/logs/web.log"},
        });
        let found = serde_json::to_value(process(&object)).unwrap();
        let expected = json!({
            "kind": "Process", "namespace": "dev", "name": "web",
            "pid": 4711, "address": "127.0.0.1:8080", "log": "/logs/web.log",
        });
        assert_eq!(found, expected);
        object["spec"] = json!({"command": ["sleep"]});
        assert_eq!(process(&object).unwrap().address, None);
        object["status"] = json!({});
        assert_eq!(process(&object), None, "it does not run");
    }
}
