//! Whatever comes from outside may nest as deep, or follow on as long, as it likes: nothing recurses into
//! it without a limit.

use std::fs;
use std::os::unix::process::ExitStatusExt;

use axum::http::Request;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{DeleteParams, ListParams, PostParams};
use kube::{Api, Client};
use serde_json::{Value, json};

use crate::program::{pathline, stderr};
use crate::story::objects::await_object;
use crate::up::{client, start};

/// More levels than any stack has room for.
const LEVELS: usize = 200_000;
/// More objects, and more resources, in a row than a stack has room for if each takes a few frames.
const IN_A_ROW: usize = 1_500;

fn nested(opening: &str, closing: &str) -> String {
    format!("{}{}", opening.repeat(LEVELS), closing.repeat(LEVELS))
}

/// Returns a template whose object holds a value.
fn template_with(value: &str) -> String {
    format!(
        "{{\"apiVersion\": \"carto.run/v1alpha1\", \"kind\": \"ClusterTemplate\", \"metadata\": {{\"name\": \"deep\"}}, \
          \"spec\": {{\"template\": {{\"apiVersion\": \"v1\", \"kind\": \"ConfigMap\", \"data\": {value}}}}}}}"
    )
}

#[test]
fn hole_1_files_are_read_by_every_command_however_deep_they_are() {
    let directory = tempfile::tempdir().unwrap();
    let file = |name: &str, content: &str| {
        let path = directory.path().join(name);
        fs::write(&path, content).unwrap();
        path.to_str().expect("it is text").to_owned()
    };
    let objects = file("objects.json", &nested("{\"a\":", "}"));
    let lists = file("lists.yaml", &nested("[", "]"));
    let block = file("block.yaml", &"- ".repeat(LEVELS));
    let tables = file("tables.toml", &format!("a = {}", nested("[", "]")));
    let dotted = file("dotted.toml", &format!("{}a = 1", "a.".repeat(LEVELS)));
    let template = file("template.yaml", &template_with(&nested("[", "]")));
    let path = format!("$(params{})$", "[?(@.a".repeat(LEVELS));
    let filters = file("filters.yaml", &template_with(&json!(path).to_string()));
    let owner = file("owner.yaml", &nested("{a: ", "}"));
    let data = directory.path().to_str().expect("it is text");
    for arguments in [
        &["keys", "diff", &objects, &lists] as &[&str],
        &["keys", "diff", &block, &block],
        &["keys", "diff", &tables, &dotted],
        &["keys", "apply", &objects, &lists],
        &["keys", "compose", &objects, &lists],
        &["blueprint", "lint", "-f", &lists, "-f", &block],
        &["blueprint", "lint", "-f", &template, "-f", &filters],
        &["blueprint", "paths", "-f", &template],
        &["blueprint", "graph", "-f", &owner],
        &["blueprint", "path", "-f", &template, "-w", &owner],
        &["blueprint", "test", data],
        &["template", "test", data],
        &["lineage", "simulate", &objects],
        &["tracker", "simulate", &objects],
        &["apply", "-f", &template, "--kubeconfig", &lists],
        &["site", "--manifest", &objects],
    ] {
        let output = pathline().args(arguments).output().expect("it runs");
        let (signal, told) = (output.status.signal(), stderr(&output));
        assert_eq!(signal, None, "{arguments:?}: {told}");
        assert!(!told.contains("Usage:"), "{arguments:?}: {told}");
    }
}

/// Sends a body and returns the code of the answer.
async fn send(client: &Client, method: &str, path: &str, content: &str, body: String) -> u16 {
    let request = Request::builder()
        .method(method)
        .uri(path)
        .header("content-type", content)
        .body(body.into_bytes())
        .expect("a request");
    match client.request_text(request).await {
        Ok(_) => 200,
        Err(kube::Error::Api(status)) => status.code,
        Err(other) => panic!("{method} {path}: {other}"),
    }
}

#[tokio::test]
async fn hole_1_requests_are_answered_however_deep_they_are() {
    let (mut up, ready) = start();
    let client = client(&ready).await;
    let maps = "/api/v1/namespaces/default/configmaps";
    let named = format!("{maps}/deep");
    let map = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "deep"}});
    let created = send(&client, "POST", maps, "application/json", map.to_string()).await;
    assert_eq!(created, 200);
    let copies = |levels: u32| {
        let path = "/metadata".repeat(2_usize.pow(levels) + 1);
        json!({"op": "copy", "from": "/metadata", "path": path})
    };
    let copies: Vec<_> = (0..16).map(copies).collect();
    for (method, path, content, body) in [
        ("POST", maps, "application/json", nested("{\"data\":", "}")),
        ("POST", maps, "application/yaml", nested("[", "]")),
        ("POST", maps, "application/yaml", "- ".repeat(LEVELS)),
        ("PUT", &named, "application/json", nested("[", "]")),
        (
            "PATCH",
            &named,
            "application/json-patch+json",
            nested("[", "]"),
        ),
        (
            "PATCH",
            &named,
            "application/json-patch+json",
            Value::from(copies).to_string(),
        ),
        (
            "PATCH",
            &named,
            "application/merge-patch+json",
            nested("{\"data\":", "}"),
        ),
        (
            "PATCH",
            &named,
            "application/strategic-merge-patch+json",
            nested("{\"data\":", "}"),
        ),
        (
            "PATCH",
            &format!("{named}?fieldManager=depth"),
            "application/apply-patch+yaml",
            nested("{data: ", "}"),
        ),
    ] {
        let code = send(&client, method, path, content, body).await;
        assert!((400..500).contains(&code), "{method} {content}: {code}");
    }
    up.assert_running();
}

#[tokio::test]
async fn hole_1_objects_that_own_each_other_in_a_row_are_collected() {
    let (mut up, ready) = start();
    let maps: Api<ConfigMap> = Api::default_namespaced(client(&ready).await);
    let mut owner: Option<ConfigMap> = None;
    for index in 0..IN_A_ROW / 3 {
        let references = owner.iter().map(|it| {
            json!({"apiVersion": "v1", "kind": "ConfigMap", "name": it.metadata.name, "uid": it.metadata.uid})
        });
        let map = json!({"metadata": {
            "name": format!("c{index}"), "labels": {"row": "yes"},
            "ownerReferences": references.collect::<Vec<_>>(),
        }});
        let map = serde_json::from_value(map).expect("a ConfigMap");
        let created = maps.create(&PostParams::default(), &map).await;
        owner = Some(created.expect("it is created"));
    }
    let first = maps.delete("c0", &DeleteParams::background()).await;
    first.expect("it is deleted");
    let row = ListParams::default().labels("row=yes");
    while !maps.list(&row).await.expect("a list").items.is_empty() {
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }
    up.assert_running();
}

/// A supply chain in which every resource takes what the one before it gives.
fn long_chain() -> Value {
    let resource = |index: usize| {
        let sources = index
            .checked_sub(1)
            .map(|before| json!([{"name": "source", "resource": format!("r{before}")}]));
        json!({
            "name": format!("r{index}"), "sources": sources.unwrap_or(json!([])),
            "templateRef": {"kind": "ClusterSourceTemplate", "name": "hand-on"},
        })
    };
    let resources: Vec<_> = (0..IN_A_ROW).map(resource).collect();
    json!({
        "apiVersion": "carto.run/v1alpha1", "kind": "ClusterSupplyChain", "metadata": {"name": "long"},
        "spec": {"selector": {"kind": "long"}, "resources": resources},
    })
}

#[tokio::test]
async fn hole_1_supply_chain_of_many_resources_is_followed() {
    let (mut up, ready) = start();
    let client = client(&ready).await;
    let template = json!({
        "apiVersion": "carto.run/v1alpha1", "kind": "ClusterSourceTemplate", "metadata": {"name": "hand-on"},
        "spec": {
            "urlPath": ".data.url", "revisionPath": ".data.revision",
            "template": {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"generateName": "step-"},
                         "data": {"url": "$(workload.spec.source.git.url)$", "revision": "1"}},
        },
    });
    let workload = json!({
        "apiVersion": "carto.run/v1alpha1", "kind": "Workload",
        "metadata": {"name": "long", "labels": {"kind": "long"}},
        "spec": {"source": {"git": {"url": "file:///nowhere", "ref": {"branch": "main"}}}},
    });
    let api = "/apis/carto.run/v1alpha1";
    for (path, object) in [
        (format!("{api}/clustersourcetemplates"), template),
        (format!("{api}/clustersupplychains"), long_chain()),
        (format!("{api}/namespaces/default/workloads"), workload),
    ] {
        let code = send(
            &client,
            "POST",
            &path,
            "application/json",
            object.to_string(),
        )
        .await;
        assert_eq!(code, 200, "{path}");
    }
    let workloads = ("carto.run/v1alpha1", "Workload");
    await_object(&client, workloads, "long", |it| {
        let resources = it["status"]["resources"].as_array();
        resources.is_some_and(|it| it.len() == IN_A_ROW)
    })
    .await;
    up.assert_running();
}
