//! Lints of a blueprint and its templates together: a config whose change restarts nothing.

use std::collections::BTreeSet;

use pathline_jsonpath::{FieldPath, Segment};
use pathline_kinds::lenient;
use serde_json::Value;

use super::{Finding, warning};
use crate::blueprint::{Blueprint, Resource};
use crate::interpolate;
use crate::owner::OwnerKind;

/// A template that a blueprint uses, as far as it can be read without an owner.
struct Used<'o> {
    /// The index of the object.
    index: usize,
    resource: &'o Resource,
    object: &'o Value,
    body: &'o Value,
}

/// Returns what was found in blueprints together with their templates, with the index of the object
/// that each finding is about.
pub fn lint_together(objects: &[&Value]) -> Vec<(usize, Finding)> {
    let mut findings: Vec<(usize, Finding)> = Vec::new();
    for blueprint in objects.iter().filter_map(|it| read(it)) {
        let used = used(&blueprint, objects);
        for config in used.iter().filter(|it| is_config(it.body)) {
            let readers = used.iter().filter(|it| it.resource != config.resource);
            let found = readers.filter_map(|reader| not_read_again(config, reader));
            for found in found {
                if !findings.contains(&found) {
                    findings.push(found);
                }
            }
        }
    }
    findings
}

fn read(object: &Value) -> Option<Blueprint> {
    let kind = object.get("kind")?.as_str()?;
    let mut kinds = OwnerKind::ALL.iter();
    kinds.find(|known| known.blueprint_kind() == kind)?;
    let mut object = object.clone();
    lenient::correct_blueprint(&mut object);
    Blueprint::read(object).ok()
}

fn used<'o>(blueprint: &'o Blueprint, objects: &[&'o Value]) -> Vec<Used<'o>> {
    let mut used = Vec::new();
    for (resource, name) in blueprint.templates() {
        let is_it = |it: &&Value| {
            it["kind"] == resource.template_kind.name() && it["metadata"]["name"] == name
        };
        let Some(index) = objects.iter().position(is_it) else {
            continue;
        };
        if let Some(body) = objects[index].pointer("/spec/template") {
            used.push(Used {
                index,
                resource,
                object: objects[index],
                body,
            });
        }
    }
    used
}

fn is_config(body: &Value) -> bool {
    body["apiVersion"] == "v1" && (body["kind"] == "ConfigMap" || body["kind"] == "Secret")
}

/// Finds that the pods of one template read what another one stamps, and are not made anew with it.
fn not_read_again(config: &Used<'_>, reader: &Used<'_>) -> Option<(usize, Finding)> {
    let kind = config.body["kind"].as_str()?;
    let name = config.body["metadata"]["name"].as_str()?;
    let pods = reader.body.pointer("/spec/template")?;
    if reader.body["kind"] == "Job" || !reads_at_start(&pods["spec"], kind, name) {
        return None;
    }
    let content = ["data", "stringData", "binaryData"].map(|it| config.body[it].clone());
    let made_of = interpolate::places(&Value::from(content.to_vec())).ok()?;
    let in_pods = interpolate::places(pods).ok()?;
    let unmentioned = |it: &&FieldPath| !in_pods.iter().any(|known| it.starts_with(known));
    let missing: Vec<String> = made_of
        .iter()
        .filter(unmentioned)
        .map(|it| format!("`$({it})$`"))
        .collect();
    if missing.is_empty() || takes_in(reader, config, &in_pods) {
        return None;
    }
    let (producer, resource) = (&config.resource.name, &reader.resource.name);
    let message = format!(
        "a change of {kind} `{name}`, which `{producer}` stamps, restarts no pod of `{resource}`, which read it only when they start: it is not live until somebody rolls it out again; put {} into the annotations of the pod template",
        missing.join(", ")
    );
    let path = ["spec", "template", "spec", "template"].into_iter();
    let path = path.fold(FieldPath::default(), |path, it| path.field(it));
    let found = Finding {
        resource: Some(resource.clone()),
        is_about_key: true,
        ..warning(reader.object, "config-not-read-again", message, path)
    };
    Some((reader.index, found))
}

/// Tells whether pods are made of what the resource of a config gives.
fn takes_in(reader: &Used<'_>, config: &Used<'_>, in_pods: &BTreeSet<FieldPath>) -> bool {
    let mut inputs = reader.resource.all_inputs();
    let takes = inputs.any(|it| it.producer == config.resource.name);
    let is_given = |it: &FieldPath| {
        let first = it.segments().first();
        matches!(first, Some(Segment::Field(name)) if name.starts_with("config"))
    };
    takes && in_pods.iter().any(is_given)
}

/// Tells whether containers read a config only when they start: as variables, or as files that are
/// mounted by themselves.
fn reads_at_start(spec: &Value, kind: &str, name: &str) -> bool {
    let of_key = if kind == "Secret" {
        ["secretRef", "secretKeyRef"]
    } else {
        ["configMapRef", "configMapKeyRef"]
    };
    let volumes = list(spec, "volumes").filter(|it| holds(it, kind, name));
    let volumes: Vec<_> = volumes.map(|it| &it["name"]).collect();
    let mut containers = list(spec, "initContainers").chain(list(spec, "containers"));
    containers.any(|container| {
        let whole = list(container, "envFrom").map(|it| &it[of_key[0]]);
        let keys = list(container, "env").map(|it| &it["valueFrom"][of_key[1]]);
        let mut mounts = list(container, "volumeMounts");
        let is_file = |it: &Value| it["subPath"].is_string() || it["subPathExpr"].is_string();
        whole.chain(keys).any(|it| it["name"] == name)
            || mounts.any(|it| is_file(it) && volumes.contains(&&it["name"]))
    })
}

/// Tells whether a volume holds a config.
fn holds(volume: &Value, kind: &str, name: &str) -> bool {
    let projected = list(&volume["projected"], "sources");
    let mut sources = projected.chain([volume]);
    sources.any(|it| match kind {
        "Secret" => it["secret"]["secretName"] == name || it["secret"]["name"] == name,
        _ => it["configMap"]["name"] == name,
    })
}

fn list<'v>(value: &'v Value, name: &str) -> impl Iterator<Item = &'v Value> {
    let list = value.get(name).and_then(Value::as_array);
    list.into_iter().flatten()
}

#[cfg(test)]
#[expect(
    clippy::needless_pass_by_value,
    reason = "a literal is given away at the call"
)]
mod tests {
    use serde_json::json;

    use super::*;

    fn blueprint() -> Value {
        let resource = |name: &str| json!({"name": name, "templateRef": {"kind": "ClusterTemplate", "name": name}});
        json!({
            "apiVersion": "carto.run/v1alpha1", "kind": "ClusterSupplyChain", "metadata": {"name": "b"},
            "spec": {"selector": {"a": "b"}, "resources": [resource("config"), resource("run")]},
        })
    }

    fn template(name: &str, body: Value) -> Value {
        json!({
            "apiVersion": "carto.run/v1alpha1", "kind": "ClusterTemplate", "metadata": {"name": name},
            "spec": {"template": body},
        })
    }

    fn config(name: &str, value: &str) -> Value {
        let body = json!({
            "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": {"debug": value},
        });
        template("config", body)
    }

    fn run(container: Value, annotation: &str) -> Value {
        let volumes =
            json!([{"name": "files", "configMap": {"name": "$(workload.metadata.name)$"}}]);
        let body = json!({
            "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "$(workload.metadata.name)$"},
            "spec": {"template": {
                "metadata": {"annotations": {"config": annotation}},
                "spec": {"containers": [container], "volumes": volumes},
            }},
        });
        template("run", body)
    }

    fn found(config: &Value, run: &Value) -> Vec<String> {
        let found = lint_together(&[run, &blueprint(), config]);
        found
            .into_iter()
            .map(|(index, found)| {
                assert_eq!((index, found.code), (0, "config-not-read-again"));
                assert!(!found.is_error());
                found.message
            })
            .collect()
    }

    const OWN: &str = "$(workload.metadata.name)$";

    fn env() -> Value {
        json!({"env": [{"valueFrom": {"configMapKeyRef": {"name": OWN, "key": "debug"}}}]})
    }

    #[test]
    fn point_17_an_author_is_told_that_a_config_restarts_nothing() {
        let config = config(OWN, "$(params.debug)$");
        let found_in = |container: Value| found(&config, &run(container, "constant"));
        let files = |sub_path: Value| {
            let mount = json!({"name": "files", "mountPath": "/a", "subPath": sub_path});
            json!({ "volumeMounts": [mount] })
        };
        let whole = json!({"envFrom": [{"configMapRef": {"name": OWN}}]});
        for container in [env(), whole, files(json!("debug"))] {
            let found = found_in(container.clone());
            assert_eq!(found.len(), 1, "{container}");
            assert!(found[0].contains("`$(params.debug)$`"), "{found:?}");
            assert!(found[0].contains("`config` stamps"), "{found:?}");
        }
        let other = json!({"envFrom": [{"configMapRef": {"name": "other"}}]});
        let secret = json!({"envFrom": [{"secretRef": {"name": OWN}}]});
        for container in [files(json!(null)), other, secret, json!({})] {
            assert_eq!(found_in(container.clone()), [""; 0], "{container}");
        }
    }

    #[test]
    fn point_17_pods_that_change_with_their_config_are_fine() {
        let changing = config(OWN, "$(params.debug)$ and more");
        assert_eq!(found(&changing, &run(env(), "$(params.debug)$")), [""; 0]);
        assert_eq!(found(&changing, &run(env(), "$(params)$")), [""; 0]);
        assert_eq!(found(&changing, &run(env(), "$(params.other)$")).len(), 1);
        assert_eq!(found(&config(OWN, "constant"), &run(env(), "x")), [""; 0]);
        let named = "app-$(params.debug)$";
        let whole = json!({"envFrom": [{"configMapRef": {"name": named}}]});
        let renamed = config(named, "$(params.debug)$");
        assert_eq!(found(&renamed, &run(whole, "x")), [""; 0]);
    }

    #[test]
    fn point_17_templates_that_make_no_sense_are_left_alone() {
        for body in [json!(null), json!({"kind": 7, "spec": {"template": [1]}})] {
            let broken = template("run", body);
            assert_eq!(
                lint_together(&[&config(OWN, "$(params.debug)$"), &broken, &blueprint()]),
                []
            );
        }
        assert_eq!(lint_together(&[&json!({"kind": "ClusterSupplyChain"})]), []);
    }
}
