//! Objects and patches that several files of the suite make.

use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::api::Patch;
use serde_json::{Value, json};

/// Makes a config map with one entry, `key`.
pub(crate) fn mk_map(name: &str, value: &str) -> ConfigMap {
    serde_json::from_value(json!({"metadata": {"name": name}, "data": {"key": value}}))
        .expect("a config map")
}

/// Makes an empty secret with a label, `tier`. Unlike config maps there are no others in a
/// namespace, so tests that look at whole lists use these.
pub(crate) fn mk_secret(name: &str, tier: &str) -> Secret {
    serde_json::from_value(json!({"metadata": {"name": name, "labels": {"tier": tier}}}))
        .expect("a secret")
}

/// Makes a JSON merge patch.
pub(crate) fn merge(value: Value) -> Patch<Value> {
    Patch::Merge(value)
}
