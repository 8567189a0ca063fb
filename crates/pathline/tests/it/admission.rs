//! Blueprints and templates that break a rule, as kubectl applies them to `up`.

use std::path::Path;

use serde_json::Value;

use crate::kubectl::{BAD_CHAIN, Kubectl, binaries};
use crate::program::Running;

fn start_up(admission: &str) -> (Running, Value) {
    let address = "127.0.0.1:0";
    let mut up = Running::start(&[
        "up",
        "--listen",
        address,
        "--kube-listen",
        address,
        "-o",
        "json",
        "--admission",
        admission,
    ]);
    let ready = up.json();
    (up, ready)
}

#[test]
fn the_embedded_cluster_refuses_what_breaks_a_rule() {
    let Some(binaries) = binaries() else { return };
    let (_up, ready) = start_up("enforce");
    let kubectl = Kubectl {
        binaries: &binaries,
        kubeconfig: Path::new(ready["kubeconfig"].as_str().unwrap()),
    };
    kubectl.assert_installs_the_kinds();
    kubectl.assert_refuses(BAD_CHAIN);
}

#[test]
fn the_embedded_cluster_warns_if_it_is_told_to() {
    let Some(binaries) = binaries() else { return };
    let (_up, ready) = start_up("warn");
    let kubectl = Kubectl {
        binaries: &binaries,
        kubeconfig: Path::new(ready["kubeconfig"].as_str().unwrap()),
    };
    kubectl.assert_warns(BAD_CHAIN);
}
