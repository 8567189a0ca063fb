//! Requests that are wrong, and what each of them is told.

use anyhow::Result;
use http::Method;
use serde_json::{Value, json};

use super::requests::{Answer, Raw};
use super::session::assert_recorded;
use super::target::Target;

conformance!(api:
    bad_paths_and_methods,
    bad_bodies,
    bad_objects,
    bad_patches,
    bad_options,
    nothing_bad_is_left_behind,
);

const MAPS: &str = "/api/v1/namespaces/NS/configmaps";
const SECRETS: &str = "/api/v1/namespaces/NS/secrets";
const WIDGETS: &str = "/apis/conformance.pathline.dev/v1/namespaces/NS/widgets";

/// How much of an answer has to be the same.
#[derive(Debug, Clone, Copy)]
enum Compare {
    /// Code, reason, message and the fields at fault.
    Words,
    /// Code and reason: the message is a parser's.
    Reason,
    /// The code: a real server answers some paths with plain text.
    Code,
}

fn told(t: &Target, what: &str, answer: &Answer, compare: Compare) -> String {
    let body = answer.json();
    let is_failure = body["kind"] == "Status" && body["status"] != "Success";
    match compare {
        Compare::Code => format!("{what}: {}\n", answer.code),
        _ if !is_failure => format!("{what}: {} {}\n", answer.code, body["kind"]),
        Compare::Reason => format!("{what}: {} {}\n", answer.code, body["reason"]),
        Compare::Words => format!("{what}: {}", failure(t, &body)),
    }
}

fn failure(t: &Target, status: &Value) -> String {
    let text = |value: &Value| {
        value
            .as_str()
            .unwrap_or_default()
            .replace(&t.namespace, "NAMESPACE")
    };
    let mut causes: Vec<_> = status["details"]["causes"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|cause| {
            format!(
                "    {} {} {}\n",
                cause["reason"],
                cause["field"],
                text(&cause["message"])
            )
        })
        .collect();
    // The message of several faults lists them in no particular order.
    causes.sort();
    let message = text(&status["message"]);
    let message = if causes.len() > 1 {
        message.split('[').next().unwrap_or_default()
    } else {
        &message
    };
    format!(
        "{} {} {message}\n{}",
        status["code"],
        status["reason"],
        causes.concat()
    )
}

async fn tell(t: &Target, compare: Compare, requests: Vec<(&str, Raw)>) -> Result<String> {
    let mut all = String::new();
    for (what, request) in requests {
        let answer = request.send(t).await?;
        all += &told(t, what, &answer, compare);
    }
    Ok(all)
}

fn map(name: &str) -> String {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}}).to_string()
}

fn widget(name: &str, spec: &Value) -> String {
    json!({"apiVersion": "conformance.pathline.dev/v1", "kind": "Widget", "metadata": {"name": name}, "spec": spec})
        .to_string()
}

async fn bad_paths_and_methods(t: &Target) -> Result<()> {
    let mut answers = String::new();
    answers += &tell(
        t,
        Compare::Words,
        vec![
            ("unknown resource", Raw::get("/api/v1/namespaces/NS/nopes")),
            ("missing object", Raw::get(format!("{MAPS}/nope"))),
            ("missing custom object", Raw::get(format!("{WIDGETS}/nope"))),
            (
                "unknown subresource",
                Raw::get(format!("{MAPS}/nope/status")),
            ),
            (
                "status of a missing object",
                Raw::get(format!("{WIDGETS}/nope/status")),
            ),
            (
                "cluster resource in a namespace",
                Raw::get("/api/v1/namespaces/NS/namespaces"),
            ),
            (
                "post to an object",
                Raw::post(format!("{MAPS}/a"), map("a")),
            ),
            ("put to a collection", Raw::put(MAPS, map("a"))),
            (
                "patch to a collection",
                Raw::patch(MAPS, "merge-patch+json", "{}"),
            ),
            ("delete of the missing", Raw::delete(format!("{MAPS}/nope"))),
            (
                "put of the missing",
                Raw::put(format!("{MAPS}/nope"), map("nope")),
            ),
            (
                "patch of the missing",
                Raw::patch(format!("{MAPS}/nope"), "merge-patch+json", "{}"),
            ),
            (
                "create in a missing namespace",
                Raw::post("/api/v1/namespaces/nowhere/configmaps", map("a")),
            ),
            (
                "custom object in a missing namespace",
                Raw::post(
                    "/apis/conformance.pathline.dev/v1/namespaces/nowhere/widgets",
                    widget("a", &json!({"color": "red"})),
                ),
            ),
            (
                "list of a missing namespace",
                Raw::get("/api/v1/namespaces/nowhere/pods?limit=1")
                    .header("accept", "application/json;as=Table;v=v1;g=meta.k8s.io"),
            ),
        ],
    )
    .await?;
    answers += &tell(
        t,
        Compare::Reason,
        vec![
            ("unknown core version", Raw::get("/api/v9/pods")),
            (
                "unknown subresource of a custom object",
                Raw::get(format!("{WIDGETS}/nope/scale")),
            ),
            ("NUL in a name", Raw::get(format!("{MAPS}/a%00b"))),
        ],
    )
    .await?;
    answers += &tell(
        t,
        Compare::Code,
        vec![
            ("unknown root", Raw::get("/nope")),
            (
                "unknown group",
                Raw::get("/apis/nope.example.com/v1/things"),
            ),
            (
                "unknown version",
                Raw::get("/apis/conformance.pathline.dev/v9/widgets"),
            ),
            (
                "unknown custom resource",
                Raw::get("/apis/conformance.pathline.dev/v1/namespaces/NS/nopes"),
            ),
            (
                "namespaced resource without one",
                Raw::post("/api/v1/configmaps", map("a")),
            ),
            (
                "custom resource without namespace",
                Raw::post(
                    "/apis/conformance.pathline.dev/v1/widgets",
                    widget("a", &json!({"color": "red"})),
                ),
            ),
            ("odd method", Raw::new(&Method::from_bytes(b"BREW")?, MAPS)),
            ("encoded slash in a name", Raw::get(format!("{MAPS}/a%2Fb"))),
        ],
    )
    .await?;
    assert_recorded!("paths_and_methods", answers);
    Ok(())
}

async fn bad_bodies(t: &Target) -> Result<()> {
    let deep = format!("{}{}", "[".repeat(20_000), "]".repeat(20_000));
    let nested = format!(
        "{{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{{\"name\":\"deep\"}},\"data\":{deep}}}"
    );
    let large = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "large"}, "data": {"a": "x".repeat(4 << 20)}});
    let mut answers = String::new();
    answers += &tell(t, Compare::Reason, vec![
        ("empty", Raw::post(MAPS, "")),
        ("not JSON", Raw::post(MAPS, "{nope")),
        ("cut short", Raw::post(MAPS, "{\"kind\": \"ConfigMap\", ")),
        ("two documents", Raw::post(MAPS, format!("{}{}", map("a"), map("b")))),
        ("an array", Raw::post(MAPS, "[]")),
        ("a string", Raw::post(MAPS, "\"text\"")),
        ("null", Raw::post(MAPS, "null")),
        ("no kind", Raw::post(MAPS, r#"{"metadata":{"name":"a"}}"#)),
        ("no kind of a custom object", Raw::post(WIDGETS, r#"{"metadata":{"name":"a"}}"#)),
        ("another kind", Raw::post(MAPS, r#"{"apiVersion":"v1","kind":"Secret","metadata":{"name":"a"}}"#)),
        ("another version", Raw::post(MAPS, r#"{"apiVersion":"v2","kind":"ConfigMap","metadata":{"name":"a"}}"#)),
        ("another kind of custom object", Raw::post(WIDGETS, r#"{"apiVersion":"conformance.pathline.dev/v1","kind":"Gadget","metadata":{"name":"a"}}"#)),
        ("another group", Raw::post(WIDGETS, r#"{"apiVersion":"v1","kind":"Widget","metadata":{"name":"a"}}"#)),
        ("kind is a number", Raw::post(MAPS, r#"{"apiVersion":"v1","kind":7,"metadata":{"name":"a"}}"#)),
        ("metadata is a list", Raw::post(WIDGETS, r#"{"apiVersion":"conformance.pathline.dev/v1","kind":"Widget","metadata":[]}"#)),
        ("labels are numbers", Raw::post(WIDGETS, r#"{"apiVersion":"conformance.pathline.dev/v1","kind":"Widget","metadata":{"name":"a","labels":{"a":1}},"spec":{"color":"red"}}"#)),
        ("unknown content type", Raw::new(&Method::POST, MAPS).body("text/plain", map("a"))),
        ("unreadable content type", Raw::new(&Method::POST, MAPS).body("json", map("a"))),
        ("YAML", Raw::new(&Method::POST, MAPS).body("application/yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: from-yaml}\n")),
        ("broken YAML", Raw::new(&Method::POST, MAPS).body("application/yaml", "a: b: c")),
        ("invalid UTF-8", Raw::post(MAPS, b"{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"a\xff\"}}".to_vec())),
        ("NUL in a value", Raw::post(MAPS, "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"nul\"},\"data\":{\"a\":\"x\\u0000y\"}}")),
        ("NUL in a name", Raw::post(MAPS, "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"x\\u0000y\"}}")),
        ("20 000 levels", Raw::post(MAPS, nested)),
        ("4 MiB", Raw::post(MAPS, large.to_string())),
    ])
    .await?;
    assert_recorded!("bodies", answers);
    Ok(())
}

async fn bad_objects(t: &Target) -> Result<()> {
    let strict = |path: &str| format!("{path}?fieldValidation=Strict");
    let long = "x".repeat(300);
    let labelled = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "labels": {"a": long, "b c": "d"}}});
    let mut answers = String::new();
    answers += &tell(t, Compare::Words, vec![
        ("no name", Raw::post(MAPS, r#"{"apiVersion":"v1","kind":"ConfigMap","metadata":{}}"#)),
        ("invalid name", Raw::post(MAPS, map("Not_A_Name"))),
        ("invalid custom name", Raw::post(WIDGETS, widget("Not_A_Name", &json!({"color": "red"})))),
        ("long name", Raw::post(MAPS, map(&long))),
        ("invalid labels", Raw::post(MAPS, labelled.to_string())),
        ("another namespace", Raw::post(MAPS, r#"{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","namespace":"other"}}"#)),
        ("unknown field", Raw::post(strict(MAPS), r#"{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"date":{}}"#)),
        ("unknown custom fields", Raw::post(strict(WIDGETS), widget("a", &json!({"color": "red", "x": 1, "ports": [{"name": "a", "port": 1, "y": 2}]})))),
        ("unknown metadata of a custom object", Raw::post(strict(WIDGETS), r#"{"apiVersion":"conformance.pathline.dev/v1","kind":"Widget","metadata":{"name":"a","nam":"b"},"spec":{"color":"red"}}"#)),
        ("doubled custom field", Raw::post(strict(WIDGETS), r#"{"apiVersion":"conformance.pathline.dev/v1","kind":"Widget","metadata":{"name":"a"},"spec":{"color":"red","color":"blue"}}"#)),
        ("wrong custom type", Raw::post(WIDGETS, widget("a", &json!({"color": 7, "size": "big", "tags": {}})))),
        ("required", Raw::post(WIDGETS, widget("a", &json!({})))),
        ("no spec", Raw::post(WIDGETS, r#"{"apiVersion":"conformance.pathline.dev/v1","kind":"Widget","metadata":{"name":"a"}}"#)),
        ("many faults", Raw::post(WIDGETS, widget("a", &json!({"color": "mauve", "size": -1, "note": "UPPER CASE and too long", "tags": ["a", "a"]})))),
        ("int32 overflow", Raw::post(WIDGETS, widget("a", &json!({"color": "red", "ports": [{"name": "a", "port": 1_i64 << 40}]})))),
        ("bad key of data", Raw::post(MAPS, r#"{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"a b":"c"}}"#)),
        ("key in both", Raw::post(MAPS, r#"{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"k":"c"},"binaryData":{"k":""}}"#)),
        ("put under another name", Raw::put(format!("{MAPS}/a"), map("b"))),
        ("put of a custom object under another name", Raw::put(format!("{WIDGETS}/a"), widget("b", &json!({"color": "red"})))),
        ("invalid definition", Raw::post("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", r#"{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"a"},"spec":{}}"#)),
        ("namespace with a bad name", Raw::post("/api/v1/namespaces", r#"{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"a.b"}}"#)),
    ])
    .await?;
    answers += &tell(t, Compare::Reason, vec![
        ("unknown and doubled fields", Raw::post(strict(MAPS), r#"{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","nam":"b"},"data":{"k":"1","k":"2"}}"#)),
        ("wrong type", Raw::post(MAPS, r#"{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"k":1}}"#)),
        ("fraction for an integer", Raw::post(WIDGETS, widget("a", &json!({"color": "red", "size": 1.5})))),
        ("bad base64", Raw::post("/api/v1/namespaces/NS/secrets", r#"{"apiVersion":"v1","kind":"Secret","metadata":{"name":"a"},"data":{"k":"%%"}}"#)),
    ])
    .await?;
    assert_recorded!("objects", answers);
    Ok(())
}

async fn bad_patches(t: &Target) -> Result<()> {
    Raw::post(MAPS, map("a")).send(t).await?;
    Raw::post(WIDGETS, widget("a", &json!({"color": "red"})))
        .send(t)
        .await?;
    let (a, w) = (format!("{MAPS}/a"), format!("{WIDGETS}/a"));
    let many = vec![json!({"op": "test", "path": "/kind", "value": "ConfigMap"}); 10_001];
    let mut answers = String::new();
    answers += &tell(
        t,
        Compare::Words,
        vec![
            (
                "strategic patch of a custom object",
                Raw::patch(&w, "strategic-merge-patch+json", "{}"),
            ),
            (
                "unknown operation",
                Raw::patch(&a, "json-patch+json", r#"[{"op":"frob","path":"/a"}]"#),
            ),
            (
                "missing path",
                Raw::patch(
                    &a,
                    "json-patch+json",
                    r#"[{"op":"remove","path":"/data/x"}]"#,
                ),
            ),
            (
                "too many operations",
                Raw::patch(&a, "json-patch+json", Value::from(many).to_string()),
            ),
            (
                "patch of the name",
                Raw::patch(&a, "merge-patch+json", r#"{"metadata":{"name":"b"}}"#),
            ),
            (
                "patch of the namespace",
                Raw::patch(&a, "merge-patch+json", r#"{"metadata":{"namespace":"b"}}"#),
            ),
            (
                "patch of a custom name",
                Raw::patch(&w, "merge-patch+json", r#"{"metadata":{"name":"b"}}"#),
            ),
            (
                "patch of a custom kind",
                Raw::patch(&w, "merge-patch+json", r#"{"kind":"Gadget"}"#),
            ),
            (
                "patch to a wrong custom type",
                Raw::patch(&w, "merge-patch+json", r#"{"spec":{"color":1}}"#),
            ),
            (
                "patch of a bad label",
                Raw::patch(
                    &a,
                    "merge-patch+json",
                    r#"{"metadata":{"labels":{"a b":"c"}}}"#,
                ),
            ),
        ],
    )
    .await?;
    answers += &tell(
        t,
        Compare::Reason,
        vec![
            ("unknown type", Raw::patch(&a, "json", "{}")),
            ("no type", Raw::new(&Method::PATCH, &*a)),
            (
                "merge patch is no JSON",
                Raw::patch(&a, "merge-patch+json", "{nope"),
            ),
            (
                "merge patch is a list",
                Raw::patch(&a, "merge-patch+json", "[]"),
            ),
            (
                "merge patch is a string",
                Raw::patch(&w, "merge-patch+json", "\"x\""),
            ),
            (
                "JSON patch is an object",
                Raw::patch(&a, "json-patch+json", "{}"),
            ),
            (
                "JSON patch is no JSON",
                Raw::patch(&a, "json-patch+json", "[nope"),
            ),
            (
                "patch of the kind",
                Raw::patch(&a, "merge-patch+json", r#"{"kind":"Secret"}"#),
            ),
            (
                "patch to a wrong type",
                Raw::patch(&a, "merge-patch+json", r#"{"data":{"k":1}}"#),
            ),
            (
                "strict patch",
                Raw::patch(
                    format!("{w}?fieldValidation=Strict"),
                    "merge-patch+json",
                    r#"{"spec":{"x":1}}"#,
                ),
            ),
            (
                "strict patch of a map",
                Raw::patch(
                    format!("{a}?fieldValidation=Strict"),
                    "merge-patch+json",
                    r#"{"date":{}}"#,
                ),
            ),
            (
                "patch of the version",
                Raw::patch(
                    &a,
                    "merge-patch+json",
                    r#"{"metadata":{"resourceVersion":"nope"}}"#,
                ),
            ),
            (
                "patch makes metadata a list",
                Raw::patch(&a, "merge-patch+json", r#"{"metadata":[]}"#),
            ),
            (
                "patch removes everything",
                Raw::patch(&a, "json-patch+json", r#"[{"op":"remove","path":""}]"#),
            ),
        ],
    )
    .await?;
    assert_recorded!("patches", answers);
    Ok(())
}

async fn bad_options(t: &Target) -> Result<()> {
    Raw::post(MAPS, map("a")).send(t).await?;
    let a = format!("{MAPS}/a");
    let delete = |body: &str| Raw::delete(&a).body("application/json", body);
    let mut answers = String::new();
    answers += &tell(
        t,
        Compare::Words,
        vec![
            (
                "dry run of a part",
                Raw::post(format!("{MAPS}?dryRun=Some"), map("b")),
            ),
            (
                "unknown validation",
                Raw::post(format!("{MAPS}?fieldValidation=Perhaps"), map("b")),
            ),
            (
                "long manager",
                Raw::post(format!("{MAPS}?fieldManager={}", "m".repeat(200)), map("b")),
            ),
            (
                "unreadable label selector",
                Raw::get(format!("{MAPS}?labelSelector=a%20b%20c")),
            ),
            (
                "unreadable field selector",
                Raw::get(format!("{MAPS}?fieldSelector=name")),
            ),
            (
                "unknown field selector",
                Raw::get(format!("{MAPS}?fieldSelector=spec.x%3Dy")),
            ),
            (
                "unknown field selector of a custom object",
                Raw::get(format!("{WIDGETS}?fieldSelector=spec.x%3Dy")),
            ),
            (
                "delete with an unknown policy",
                delete(r#"{"propagationPolicy":"Sideways"}"#),
            ),
            (
                "delete with two policies",
                delete(r#"{"propagationPolicy":"Orphan","orphanDependents":true}"#),
            ),
            (
                "delete with a negative grace",
                delete(r#"{"gracePeriodSeconds":-1}"#),
            ),
            (
                "delete with an unknown dry run",
                delete(r#"{"dryRun":["Some"]}"#),
            ),
        ],
    )
    .await?;
    answers += &tell(
        t,
        Compare::Reason,
        vec![
            (
                "nothing acceptable",
                Raw::get(&a).header("accept", "text/html"),
            ),
            (
                "nothing acceptable of a custom object",
                Raw::get(WIDGETS).header("accept", "image/png"),
            ),
            ("delete with a broken body", delete("{nope")),
            (
                "delete with another kind",
                delete(r#"{"kind":"ConfigMap","apiVersion":"v1"}"#),
            ),
        ],
    )
    .await?;
    assert_recorded!("options", answers);
    Ok(())
}

async fn nothing_bad_is_left_behind(t: &Target) -> Result<()> {
    for body in [
        "{nope",
        "[]",
        r#"{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"}}"#,
    ] {
        let code = Raw::post(SECRETS, body).send(t).await?.code;
        assert_eq!(code, 400, "{body}");
    }
    let before = Raw::get(SECRETS).send(t).await?;
    let huge = vec![b'x'; 100 << 20];
    // The server may answer before it has read all of this, and close.
    if let Ok(answer) = Raw::post(SECRETS, huge).send(t).await {
        assert_eq!(answer.code, 413, "{}", answer.text);
        assert_eq!(answer.json()["reason"], "RequestEntityTooLarge");
    }
    let after = Raw::get(SECRETS).send(t).await?;
    assert_eq!(after.json()["items"], before.json()["items"]);
    assert_eq!(after.json()["items"], json!([]));
    assert!(!before.resource_version().is_empty());
    Ok(())
}
