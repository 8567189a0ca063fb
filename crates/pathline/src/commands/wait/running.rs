//! The running things, in words.

use pathline_client::api::{ContainerPort, RunningContainer, RunningObject};

/// Returns one line that says what runs, and how to get at it.
pub(super) fn line(object: &RunningObject) -> String {
    let RunningObject {
        kind,
        namespace,
        name,
        ..
    } = object;
    let details = details(object);
    let kind = kind.to_lowercase();
    format!("{kind} {namespace}/{name}: {}", details.join(", "))
}

fn details(object: &RunningObject) -> Vec<String> {
    let mut details: Vec<_> = object.containers.iter().map(container).collect();
    details.extend(object.node.as_ref().map(|node| format!("node {node}")));
    details.extend(
        object
            .pod_ip
            .as_ref()
            .map(|address| format!("IP {address}")),
    );
    details.extend(object.pid.map(|pid| format!("pid {pid}")));
    details.extend(object.address.clone());
    details.extend(object.log.as_ref().map(|log| format!("log {log}")));
    details
}

fn container(RunningContainer { name, image, ports }: &RunningContainer) -> String {
    let ports: Vec<_> = ports
        .iter()
        .map(|ContainerPort { port, protocol, .. }| format!("{port}/{protocol}"))
        .collect();
    match ports.as_slice() {
        [] => format!("container {name} ({image})"),
        ports => format!("container {name} ({image}, {})", ports.join(" ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_says_what_a_debugger_needs() {
        let process = RunningObject {
            kind: "Process".to_owned(),
            namespace: "default".to_owned(),
            name: "hello".to_owned(),
            pid: Some(4711),
            address: Some("127.0.0.1:7780".to_owned()),
            log: Some("/logs/hello.log".to_owned()),
            ..RunningObject::default()
        };
        assert_eq!(
            line(&process),
            "process default/hello: pid 4711, 127.0.0.1:7780, log /logs/hello.log"
        );
        let port = |port| ContainerPort {
            port,
            protocol: "TCP".to_owned(),
            name: None,
        };
        let container = |name: &str, ports| RunningContainer {
            name: name.to_owned(),
            image: format!("{name}:1"),
            ports,
        };
        let pod = RunningObject {
            kind: "Pod".to_owned(),
            namespace: "default".to_owned(),
            name: "web-1".to_owned(),
            containers: vec![
                container("web", vec![port(8080), port(5678)]),
                container("proxy", Vec::new()),
            ],
            node: Some("node-1".to_owned()),
            pod_ip: Some("10.0.0.7".to_owned()),
            ..RunningObject::default()
        };
        assert_eq!(
            line(&pod),
            "pod default/web-1: container web (web:1, 8080/TCP 5678/TCP), container proxy (proxy:1), node node-1, IP 10.0.0.7"
        );
    }
}
