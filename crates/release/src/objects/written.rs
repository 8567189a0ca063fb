//! Written: digests of what an owner was given, by which it is known later whether somebody has changed it.

use std::collections::BTreeMap;

use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::release::hex;

/// The annotation of an owner with digests of what was written to it.
pub const WRITTEN: &str = "pathline.dev/written";

/// The fields of a spec that a release is made of, beside params.
const FIELDS: [&str; 4] = ["image", "env", "resources", "serviceAccountName"];

/// The number of hexadecimal digits of a digest.
const DIGITS: usize = 16;

/// An object that an owner names: a ConfigMap or a Secret of its namespace.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Part {
    /// Whether it is a Secret.
    pub is_secret: bool,
    /// The name.
    pub name: String,
}

impl Part {
    /// Returns the kind of it.
    pub const fn kind(&self) -> &'static str {
        match self.is_secret {
            true => "Secret",
            false => "ConfigMap",
        }
    }
}

/// Returns digests of the spec of an owner as the API server has it, with what it adds by itself, and of labels.
pub fn written(spec: &Value, labels: &BTreeMap<String, String>) -> String {
    let digests: BTreeMap<String, String> = of_spec(spec).chain(of_labels(labels)).collect();
    serde_json::json!(digests).to_string()
}

/// Says which fields of an owner are not as they were written, by the annotation [`WRITTEN`]; labels that somebody has
/// added are not among them. Nothing if the annotation does not tell.
pub fn changed(
    annotations: &BTreeMap<String, String>,
    labels: &BTreeMap<String, String>,
    spec: &Value,
) -> Option<Vec<String>> {
    let before: BTreeMap<String, String> = serde_json::from_str(annotations.get(WRITTEN)?).ok()?;
    let spec: BTreeMap<String, String> = of_spec(spec).collect();
    let added = spec.keys().filter(|it| !before.contains_key(*it));
    let added: Vec<_> = added.map(|it| format!("`{it}` was added")).collect();
    let now: BTreeMap<String, String> = spec.into_iter().chain(of_labels(labels)).collect();
    let differing = before
        .iter()
        .filter_map(|(field, digest)| match now.get(field) {
            Some(now) if now == digest => None,
            Some(_) => Some(format!("`{field}` was changed")),
            None => Some(format!("`{field}` was removed")),
        });
    Some(differing.chain(added).collect())
}

/// Returns the objects that the spec of an owner names, each once.
pub fn parts(spec: &Value) -> Vec<Part> {
    let param = |name: &str| params(spec).find(|it| it["name"] == name);
    let list = |value: Option<&Value>| value.and_then(Value::as_array).cloned();
    let mounted = list(param("configMaps").map(|it| &it["value"])).unwrap_or_default();
    let env = list(spec.get("env").or(param("env").map(|it| &it["value"]))).unwrap_or_default();
    let mounted = mounted.iter().map(|it| (&it["name"], it["secret"] == true));
    let env = env.iter();
    let variables = env.map(|it| (&it["valueFrom"]["secretKeyRef"]["name"], true));
    let part = |(name, is_secret): (&Value, bool)| {
        let name = name.as_str()?.to_owned();
        Some(Part { is_secret, name })
    };
    let mut parts: Vec<_> = mounted.chain(variables).filter_map(part).collect();
    parts.sort();
    parts.dedup();
    parts
}

fn of_spec(spec: &Value) -> impl Iterator<Item = (String, String)> {
    let fields = FIELDS
        .into_iter()
        .filter_map(|field| Some((format!("spec.{field}"), digest(spec.get(field)?))));
    let params = params(spec).map(|it| {
        let name = it["name"].as_str().unwrap_or_default();
        (format!("spec.params[{name}]"), digest(&it["value"]))
    });
    fields.chain(params)
}

fn of_labels(labels: &BTreeMap<String, String>) -> impl Iterator<Item = (String, String)> {
    let labels = labels.iter();
    labels.map(|(name, value)| (format!("metadata.labels[{name}]"), hash(value)))
}

fn params(spec: &Value) -> impl Iterator<Item = &Value> {
    let params = spec.get("params").and_then(Value::as_array);
    params.into_iter().flatten()
}

fn digest(value: &Value) -> String {
    hash(&value.to_string())
}

fn hash(text: &str) -> String {
    let mut digest = hex(&Sha256::digest(text));
    digest.truncate(DIGITS);
    digest
}
