//! Answers of a server, as tests need them.

use std::io::{self, Write};

use pathline_client::api::{Artifact, Contains, ObjectLineage, Owner};
use pathline_lineage::Artifact as Content;
use serde_json::{Value, json};

use super::artifact::Explained;

const COMMIT: &str = "main@sha1:8f1c2e7d00000000000000000000000000000000";

/// Returns what is written, without styles.
pub(super) fn plain(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> String {
    let mut plain = anstream::StripStream::new(Vec::new());
    write(&mut plain).expect("memory takes it");
    String::from_utf8(plain.into_inner()).expect("it is text")
}

/// A pod of a revision that is on its way out.
pub(super) fn old_pod() -> ObjectLineage {
    let object =
        |kind: &str, name: &str| json!({"kind": kind, "namespace": "default", "name": name});
    let answer = json!({
        "object": object("Pod", "hello-7d4b9c-x2xql"),
        "above": [object("ReplicaSet", "hello-7d4b9c"), object("Deployment", "hello")],
        "owner": {"kind": "Workload", "namespace": "default", "name": "hello", "uid": "u1"},
        "resource": "manifest",
        "revision": "older",
        "made": owner_json()["outputs"][0],
        "rollout": "1 of 2 pods are ready",
    });
    serde_json::from_value(answer).expect("the types of the API read it")
}

fn json_of(content: &Content) -> Value {
    serde_json::to_value(Artifact::from(content)).expect("an artifact is JSON")
}

fn with(content: &Content, more: &Value) -> Value {
    let mut whole = json_of(content);
    let fields = whole.as_object_mut().expect("an artifact is an object");
    fields.extend(more.as_object().expect("a sample is an object").clone());
    whole
}

fn source() -> Content {
    Content::source("https://git.example/app", Some(COMMIT))
}

fn image() -> Content {
    let digest = "12".repeat(32);
    Content::image(&format!("registry.example/app@sha256:{digest}"))
}

fn url() -> Content {
    Content::field("spec.source.git.url", &json!("https://git.example/app"))
}

fn debug() -> Content {
    Content::param("debug", &json!("on"))
}

fn owner_json() -> Value {
    let url = with(
        &url(),
        &json!({"evidence": "generation", "passed": ["workload"]}),
    );
    let source_node = with(
        &source(),
        &json!({"evidence": "generation", "passed": ["source", "test"], "from": [url]}),
    );
    let debug_node = with(
        &debug(),
        &json!({"evidence": "rule", "passed": ["workload"]}),
    );
    let image_node = with(
        &image(),
        &json!({"evidence": "generation", "passed": ["build"], "from": [source_node, debug_node]}),
    );
    let object = Content::value(pathline_lineage::Kind::Object, &json!("manifest"));
    let output = with(
        &object,
        &json!({"passed": ["manifest"], "from": [image_node]}),
    );
    json!({
        "kind": "Workload", "namespace": "default", "name": "hello", "uid": "u1", "generation": 3,
        "live": "Unknown",
        "blueprint": {"kind": "ClusterSupplyChain", "name": "hello"},
        "ready": {"status": "True", "reason": "Ready", "message": ""},
        "path": [{"resource": "manifest", "state": "selected",
                  "object": {"kind": "GitCommit", "name": "hello"},
                  "ready": {"status": "True", "reason": "Ready", "message": ""}}],
        "inputs": [
            {"name": "param:colour", "artifact": json_of(&Content::param("colour", &json!("red"))),
             "arrived": false, "mixed": false, "unused": true,
             "missing": [{"reason": "unused", "message": "nothing on the path reads it"}]},
            {"name": "param:debug", "artifact": json_of(&debug()), "arrived": false, "mixed": false,
             "unused": false, "missing": [{"reason": "nothing", "resource": "manifest",
                                           "message": "manifest has made nothing yet"}]},
            {"name": "field:spec.source.git.url",
             "artifact": json_of(&Content::field("spec.source.git.url", &json!("https://git.example/app"))),
             "arrived": true, "mixed": false, "unused": false},
        ],
        "outputs": [output],
        "lineage": [],
    })
}

fn read<T: serde::de::DeserializeOwned>(value: Value) -> T {
    serde_json::from_value(value).expect("a sample is as the API has it")
}

/// A workload whose change has not arrived yet.
pub(super) fn owner() -> Owner {
    read(owner_json())
}

/// A workload with edges that nothing proves.
pub(super) fn doubtful() -> Owner {
    let mut owner = owner_json();
    let base = Content::image("registry.example/base:1");
    let assumed = |content: &Content, origin: &str| {
        with(content, &json!({"origin": origin, "evidence": "assumed"}))
    };
    owner["outputs"][0]["from"][0]["from"][0]["evidence"] = json!("assumed");
    owner["outputs"][0]["from"][0]["from"][1]["evidence"] = json!("assumed");
    owner["lineage"] = json!([{
        "resource": "build", "uid": "o1", "generation": 1, "time": "2026-11-16T02:10:33Z",
        "template": {"name": "ClusterImageTemplate/kpack", "generation": 2},
        "output": json_of(&image()),
        "from": [assumed(&source(), "resource test"), assumed(&debug(), "owner param:debug"),
                 assumed(&base, "resource base")],
    }]);
    read(owner)
}

/// A workload that has made nothing yet.
pub(super) fn waiting() -> Owner {
    let mut owner = owner_json();
    owner["outputs"] = json!([]);
    owner["inputs"] = json!([]);
    let ready =
        json!({"status": "False", "reason": "TemplateRejected", "message": "no kind Image"});
    owner["ready"] = ready.clone();
    owner["path"][0]["ready"] = ready;
    read(owner)
}

/// A workload that no blueprint selects.
pub(super) fn unselected() -> Owner {
    let mut owner = owner_json();
    for empty in ["outputs", "inputs", "path"] {
        owner[empty] = json!([]);
    }
    owner["blueprint"] = Value::Null;
    let message = "no supply chain found where full selector is satisfied by labels: map[app:hi]";
    owner["ready"] =
        json!({"status": "False", "reason": "SupplyChainNotFound", "message": message});
    owner["nearest"] = json!({"kind": "ClusterSupplyChain", "name": "hello",
                              "unmet": ["label `app` is `hi`, `hello` is wanted"]});
    read(owner)
}

fn owner_ref() -> Value {
    json!({"kind": "Workload", "namespace": "default", "name": "hello", "uid": "u1"})
}

/// The carriers of a commit.
pub(super) fn contains() -> Contains {
    let carrier = |resource: &str, artifact: Value, proven: bool, until: Option<&str>| {
        let mut carrier = json!({"owner": owner_ref(), "resource": resource, "artifact": artifact,
               "proven": proven, "current": until.is_none(), "since": "2026-11-16T02:10:33.25Z"});
        if let Some(until) = until {
            carrier["until"] = json!(until);
        }
        carrier
    };
    let deployment = Content::deployment("file:///artifacts/fed9870.tar.gz", Some("fed9870"));
    let mut running = carrier("run", json_of(&deployment), true, None);
    running["owner"] =
        json!({"kind": "Deliverable", "namespace": "default", "name": "hello", "uid": "u2"});
    running["object"] = json!({"kind": "Process", "name": "hello"});
    read(json!({
        "found": [json_of(&source())],
        "carriers": [
            running,
            carrier("build", json_of(&image()), true, None),
            carrier("manifest", Value::Null, false, Some("2026-11-16T02:11:00Z")),
        ],
    }))
}

/// A process that runs a commit which a workload wrote.
pub(super) fn delivered() -> ObjectLineage {
    let object = json!({"kind": "Process", "namespace": "default", "name": "hello"});
    let manifests = |url| Content::source(url, Some(&COMMIT.replace("8f1c2e7", "fed9870")));
    let mut image = owner_json()["outputs"][0]["from"][0].take();
    image["from"][1].take();
    image["from"].as_array_mut().map(Vec::pop);
    let written = with(
        &manifests("https://git.example/manifests"),
        &json!({"evidence": "git", "passed": ["manifest"], "owner": owner_ref(), "from": [image]}),
    );
    let found = with(
        &manifests("file:///artifacts/fed9870.tar.gz"),
        &json!({"evidence": "applied", "passed": ["manifests"], "from": [written]}),
    );
    let run = Content::value(pathline_lineage::Kind::Object, &json!("run"));
    read(json!({
        "object": object, "above": [], "resource": "run", "revision": "current",
        "owner": {"kind": "Deliverable", "namespace": "default", "name": "hello", "uid": "u2"},
        "made": with(&run, &json!({"passed": ["run"], "from": [found]})),
    }))
}

/// An image, with what it is made of.
pub(super) fn explained() -> Explained {
    let edge = |content: &Content, origin: &str| {
        with(
            content,
            &json!({"origin": origin, "evidence": "generation"}),
        )
    };
    let making = |resource: &str, template: &str, from: Value| {
        json!({"owner": owner_ref(), "resource": resource, "template": {"name": template},
               "from": from, "since": "2026-11-16T02:10:33Z", "current": true})
    };
    let used = json!([{"owner": owner_ref(), "resource": "manifest", "origin": "resource build",
                       "evidence": "assumed", "since": "2026-11-16T02:10:40Z", "current": false}]);
    let image_made = making(
        "build",
        "ClusterImageTemplate/kpack",
        json!([
            edge(&source(), "resource source"),
            edge(&debug(), "owner param:debug")
        ]),
    );
    let source_made = making(
        "source",
        "ClusterSourceTemplate/git",
        json!([edge(&url(), "owner field:spec.source.git.url")]),
    );
    let entry = |content: &Content, made: Value, used: Value| {
        let more = json!({"firstSeen": "2026-11-16T02:10:33Z", "made": [made], "used": used});
        read(with(content, &more))
    };
    Explained {
        artifacts: vec![entry(&image(), image_made, used)],
        ingredients: vec![entry(&source(), source_made, json!([]))],
    }
}
