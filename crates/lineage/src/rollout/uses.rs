//! The ConfigMaps and Secrets that the containers of a pod read.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Mounts that every pod has, put there by the cluster and not by whoever wrote the pod.
const MOUNTED_BY_THE_CLUSTER: [&str; 2] = ["kube-root-ca.crt", "openshift-service-ca.crt"];

/// The two kinds that pods read their configuration from.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, Ord, PartialEq, PartialOrd, Serialize)]
pub enum ConfigKind {
    /// `ConfigMap` of the core group.
    #[default]
    ConfigMap,
    /// `Secret` of the core group.
    Secret,
}

impl ConfigKind {
    /// Returns which of the two an object is of, if it is.
    pub fn of(object: &Value) -> Option<Self> {
        let mut kinds = [Self::ConfigMap, Self::Secret].into_iter();
        let kind = kinds.find(|it| object["kind"] == it.name());
        kind.filter(|_| object["apiVersion"] == "v1")
    }

    /// Returns its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::ConfigMap => "ConfigMap",
            Self::Secret => "Secret",
        }
    }
}

/// All that the containers of a pod read of ConfigMaps and Secrets.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Uses {
    /// The names of the containers that read something.
    pub(super) containers: Vec<String>,
    pub(super) all: Vec<ConfigUse>,
}

/// One container reads one ConfigMap or Secret.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ConfigUse {
    pub(super) kind: ConfigKind,
    pub(super) name: String,
    /// The only key that it reads; `None` if it may read all of them.
    pub(super) key: Option<String>,
    pub(super) by: ReadBy,
    /// Whether the container starts without it.
    pub(super) optional: bool,
    /// The index of the container.
    pub(super) container: usize,
}

/// The way in which a container reads a ConfigMap or Secret.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum ReadBy {
    /// Variables, which are read when the container starts.
    Env,
    /// A file that is mounted by itself, and stays as it was when the pod was made.
    SubPath,
    /// A directory, in which the node keeps the files up to date unless they are immutable.
    Volume,
}

/// A volume that holds a ConfigMap or Secret.
struct Source<'p> {
    volume: &'p str,
    kind: ConfigKind,
    name: &'p str,
    optional: bool,
}

impl Uses {
    /// Reads the spec of a pod.
    pub(super) fn of(pod: &Value) -> Self {
        let spec = &pod["spec"];
        let sources = sources(spec);
        let mut uses = Self::default();
        let containers = list(spec, "initContainers").chain(list(spec, "containers"));
        for container in containers {
            let index = uses.containers.len();
            let read = of_env(container).chain(of_mounts(container, &sources));
            let before = uses.all.len();
            uses.all.extend(read.map(|it| ConfigUse {
                container: index,
                ..it
            }));
            if uses.all.len() > before {
                let name = container["name"].as_str().unwrap_or_default();
                uses.containers.push(name.to_owned());
            }
        }
        uses
    }

    /// Returns all that is read.
    pub(super) fn names(self) -> BTreeSet<(ConfigKind, String)> {
        let all = self.all.into_iter();
        all.map(|it| (it.kind, it.name)).collect()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }
}

fn of_env(container: &Value) -> impl Iterator<Item = ConfigUse> {
    let whole = list(container, "envFrom").flat_map(|it| {
        [
            by_env(ConfigKind::ConfigMap, &it["configMapRef"]),
            by_env(ConfigKind::Secret, &it["secretRef"]),
        ]
    });
    let keys = list(container, "env").flat_map(|it| {
        let from = &it["valueFrom"];
        [
            by_env(ConfigKind::ConfigMap, &from["configMapKeyRef"]),
            by_env(ConfigKind::Secret, &from["secretKeyRef"]),
        ]
    });
    whole.chain(keys).flatten()
}

fn by_env(kind: ConfigKind, reference: &Value) -> Option<ConfigUse> {
    Some(ConfigUse {
        kind,
        name: reference["name"].as_str()?.to_owned(),
        key: reference["key"].as_str().map(str::to_owned),
        by: ReadBy::Env,
        optional: is_optional(reference),
        container: 0,
    })
}

fn of_mounts(container: &Value, sources: &[Source<'_>]) -> impl Iterator<Item = ConfigUse> {
    list(container, "volumeMounts").flat_map(|mount| {
        let is_file = ["subPath", "subPathExpr"].iter().any(|field| {
            let path = mount[*field].as_str();
            path.is_some_and(|it| !it.is_empty())
        });
        let by = if is_file {
            ReadBy::SubPath
        } else {
            ReadBy::Volume
        };
        let mounted = sources.iter().filter(|it| mount["name"] == it.volume);
        mounted.map(move |source| ConfigUse {
            kind: source.kind,
            name: source.name.to_owned(),
            key: None,
            by,
            optional: source.optional,
            container: 0,
        })
    })
}

fn sources(spec: &Value) -> Vec<Source<'_>> {
    let volumes = list(spec, "volumes");
    let sources = volumes.flat_map(|volume| {
        let name = volume["name"].as_str().unwrap_or_default();
        let own = [
            source(name, ConfigKind::ConfigMap, &volume["configMap"], "name"),
            source(name, ConfigKind::Secret, &volume["secret"], "secretName"),
        ];
        let projected = list(&volume["projected"], "sources").flat_map(move |it| {
            [
                source(name, ConfigKind::ConfigMap, &it["configMap"], "name"),
                source(name, ConfigKind::Secret, &it["secret"], "name"),
            ]
        });
        own.into_iter().chain(projected).flatten()
    });
    sources
        .filter(|it| !MOUNTED_BY_THE_CLUSTER.contains(&it.name))
        .collect()
}

fn source<'p>(
    volume: &'p str,
    kind: ConfigKind,
    reference: &'p Value,
    field: &str,
) -> Option<Source<'p>> {
    Some(Source {
        volume,
        kind,
        name: reference[field].as_str()?,
        optional: is_optional(reference),
    })
}

fn is_optional(reference: &Value) -> bool {
    reference["optional"] == true
}

fn list<'v>(value: &'v Value, name: &str) -> impl Iterator<Item = &'v Value> {
    let list = value.get(name).and_then(Value::as_array);
    list.into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn uses_of(spec: &Value) -> Vec<String> {
        let uses = Uses::of(&json!({ "spec": spec }));
        let told = uses.all.iter().map(|it| {
            let container = &uses.containers[it.container];
            let key = it.key.as_deref().unwrap_or("*");
            let optional = if it.optional { " if it is there" } else { "" };
            let kind = it.kind.name();
            format!(
                "{container}: {kind} {} {key} {:?}{optional}",
                it.name, it.by
            )
        });
        told.collect()
    }

    #[test]
    fn point_17_all_ways_to_read_a_config_are_known() {
        let spec = json!({
            "initContainers": [{"name": "init", "envFrom": [{"secretRef": {"name": "s"}}]}],
            "containers": [
                {"name": "plain", "env": [{"name": "A", "value": "x"}]},
                {
                    "name": "app",
                    "envFrom": [{"configMapRef": {"name": "c", "optional": true}}],
                    "env": [
                        {"name": "A", "valueFrom": {"configMapKeyRef": {"name": "c", "key": "a"}}},
                        {"name": "B", "valueFrom": {"secretKeyRef": {"name": "s", "key": "b"}}},
                        {"name": "C", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}},
                    ],
                    "volumeMounts": [
                        {"name": "files", "mountPath": "/etc/files"},
                        {"name": "files", "mountPath": "/etc/one", "subPath": "one"},
                        {"name": "all", "mountPath": "/etc/all", "subPathExpr": "$(A)"},
                        {"name": "kube-api-access", "mountPath": "/var/run"},
                    ],
                },
            ],
            "volumes": [
                {"name": "files", "configMap": {"name": "f"}},
                {"name": "all", "projected": {"sources": [
                    {"secret": {"name": "p", "optional": true}}, {"configMap": {"name": "q"}},
                ]}},
                {"name": "unused", "secret": {"secretName": "u"}},
                {"name": "kube-api-access", "projected": {"sources": [
                    {"configMap": {"name": "kube-root-ca.crt"}},
                ]}},
            ],
        });
        assert_eq!(
            uses_of(&spec),
            [
                "init: Secret s * Env",
                "app: ConfigMap c * Env if it is there",
                "app: ConfigMap c a Env",
                "app: Secret s b Env",
                "app: ConfigMap f * Volume",
                "app: ConfigMap f * SubPath",
                "app: Secret p * SubPath if it is there",
                "app: ConfigMap q * SubPath",
            ]
        );
    }

    #[test]
    fn point_17_a_pod_that_makes_no_sense_reads_nothing() {
        for spec in [
            json!(null),
            json!({"containers": 7, "volumes": {}}),
            json!({"containers": [{"env": [{"valueFrom": 3}], "envFrom": [null], "volumeMounts": [[]]}]}),
        ] {
            assert!(uses_of(&spec).is_empty(), "{spec}");
        }
    }
}
