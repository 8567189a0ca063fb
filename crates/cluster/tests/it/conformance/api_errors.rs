//! Requests that are wrong, and what each of them is told.

use anyhow::Result;
use http::Method;
use serde_json::{Value, json};

use super::refusals::{Compare, tell};
use super::requests::Raw;
use super::session::assert_recorded;
use super::target::Target;

conformance!(api: bad_paths, bad_methods, bad_bodies, bad_objects, nothing_bad_is_left_behind);

const MAPS: &str = "/api/v1/namespaces/NS/configmaps";
const SECRETS: &str = "/api/v1/namespaces/NS/secrets";
const WIDGETS: &str = "/apis/conformance.pathline.dev/v1/namespaces/NS/widgets";
const GROUP: &str = "/apis/conformance.pathline.dev";

fn map(name: &str) -> String {
    map_with(json!({"metadata": {"name": name}}))
}

fn map_with(fields: Value) -> String {
    object("v1", "ConfigMap", fields)
}

fn widget(name: &str, spec: &Value) -> String {
    object(
        "conformance.pathline.dev/v1",
        "Widget",
        json!({"metadata": {"name": name}, "spec": spec}),
    )
}

fn object(api_version: &str, kind: &str, mut fields: Value) -> String {
    fields["apiVersion"] = api_version.into();
    fields["kind"] = kind.into();
    fields.to_string()
}

async fn bad_paths(t: &Target) -> Result<()> {
    let elsewhere = |path: &str| {
        Raw::get(path).header("accept", "application/json;as=Table;v=v1;g=meta.k8s.io")
    };
    let words = vec![
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
            "create in a missing namespace",
            Raw::post("/api/v1/namespaces/nowhere/configmaps", map("a")),
        ),
        (
            "custom object in a missing namespace",
            Raw::post(
                format!("{GROUP}/v1/namespaces/nowhere/widgets"),
                widget("a", &json!({"color": "red"})),
            ),
        ),
        (
            "list of a missing namespace",
            elsewhere("/api/v1/namespaces/nowhere/pods?limit=1"),
        ),
    ];
    let reasons = vec![
        ("unknown core version", Raw::get("/api/v9/pods")),
        (
            "unknown subresource of a custom object",
            Raw::get(format!("{WIDGETS}/nope/scale")),
        ),
        ("NUL in a name", Raw::get(format!("{MAPS}/a%00b"))),
    ];
    let codes = vec![
        ("unknown root", Raw::get("/nope")),
        (
            "unknown group",
            Raw::get("/apis/nope.example.com/v1/things"),
        ),
        ("unknown version", Raw::get(format!("{GROUP}/v9/widgets"))),
        (
            "unknown custom resource",
            Raw::get(format!("{GROUP}/v1/namespaces/NS/nopes")),
        ),
        ("encoded slash in a name", Raw::get(format!("{MAPS}/a%2Fb"))),
    ];
    let mut answers = tell(t, Compare::Words, words).await?;
    answers += &tell(t, Compare::Reason, reasons).await?;
    answers += &tell(t, Compare::Code, codes).await?;
    assert_recorded!("paths", answers);
    Ok(())
}

async fn bad_methods(t: &Target) -> Result<()> {
    let words = vec![
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
    ];
    let codes = vec![
        (
            "create without a namespace",
            Raw::post("/api/v1/configmaps", map("a")),
        ),
        ("odd method", Raw::new(&Method::from_bytes(b"BREW")?, MAPS)),
    ];
    let mut answers = tell(t, Compare::Words, words).await?;
    answers += &tell(t, Compare::Code, codes).await?;
    assert_recorded!("methods", answers);
    Ok(())
}

async fn bad_bodies(t: &Target) -> Result<()> {
    let named = json!({"metadata": {"name": "a"}});
    let typed = |content_type, body: &str| Raw::new(&Method::POST, MAPS).body(content_type, body);
    let deep = format!(
        r#"{{"kind": "ConfigMap", "data": {}{}}}"#,
        "[".repeat(20_000),
        "]".repeat(20_000)
    );
    let large =
        map_with(json!({"metadata": {"name": "large"}, "data": {"a": "x".repeat(4 << 20)}}));
    let of_widget = |fields| object("conformance.pathline.dev/v1", "Widget", fields);
    let answers = tell(t, Compare::Reason, vec![
        ("empty", Raw::post(MAPS, "")),
        ("not JSON", Raw::post(MAPS, "{nope")),
        ("cut short", Raw::post(MAPS, "{\"kind\": \"ConfigMap\", ")),
        ("two documents", Raw::post(MAPS, map("a") + &map("b"))),
        ("an array", Raw::post(MAPS, "[]")),
        ("a string", Raw::post(MAPS, "\"text\"")),
        ("null", Raw::post(MAPS, "null")),
        ("no kind", Raw::post(MAPS, named.to_string())),
        ("no kind of a custom object", Raw::post(WIDGETS, named.to_string())),
        ("another kind", Raw::post(MAPS, object("v1", "Secret", named.clone()))),
        ("another version", Raw::post(MAPS, object("v2", "ConfigMap", named.clone()))),
        ("another kind of custom object", Raw::post(
            WIDGETS,
            object("conformance.pathline.dev/v1", "Gadget", named.clone()),
        )),
        ("another group", Raw::post(WIDGETS, object("v1", "Widget", named))),
        ("kind is a number", Raw::post(MAPS, r#"{"apiVersion": "v1", "kind": 7}"#)),
        ("metadata is a list", Raw::post(WIDGETS, of_widget(json!({"metadata": []})))),
        ("labels are numbers", Raw::post(
            WIDGETS,
            of_widget(json!({"metadata": {"name": "a", "labels": {"a": 1}}, "spec": {"color": "red"}})),
        )),
        ("unknown content type", typed("text/plain", &map("a"))),
        ("unreadable content type", typed("json", &map("a"))),
        ("YAML", typed("application/yaml", "{apiVersion: v1, kind: ConfigMap, metadata: {name: y}}")),
        ("broken YAML", typed("application/yaml", "a: b: c")),
        ("NUL in a value", Raw::post(
            MAPS,
            map_with(json!({"metadata": {"name": "nul"}, "data": {"a": "x\0y"}})),
        )),
        ("NUL in a name", Raw::post(MAPS, map("x\0y"))),
        ("20 000 levels", Raw::post(MAPS, deep)),
        ("4 MiB", Raw::post(MAPS, large)),
    ])
    .await?;
    assert_recorded!("bodies", answers);
    Ok(())
}

async fn bad_objects(t: &Target) -> Result<()> {
    let strictly =
        |path: &str, body: String| Raw::post(format!("{path}?fieldValidation=Strict"), body);
    let make_map = |fields| Raw::post(MAPS, map_with(fields));
    let make_widget = |spec: Value| Raw::post(WIDGETS, widget("a", &spec));
    let long = "x".repeat(300);
    let name = json!({"name": "a"});
    let words = vec![
        ("no name", make_map(json!({"metadata": {}}))),
        ("invalid name", Raw::post(MAPS, map("Not_A_Name"))),
        (
            "invalid custom name",
            Raw::post(WIDGETS, widget("Not_A_Name", &json!({"color": "red"}))),
        ),
        ("long name", Raw::post(MAPS, map(&long))),
        (
            "invalid labels",
            make_map(json!({"metadata": {"name": "a", "labels": {"a": long, "b c": "d"}}})),
        ),
        (
            "another namespace",
            make_map(json!({"metadata": {"name": "a", "namespace": "other"}})),
        ),
        (
            "unknown field",
            strictly(MAPS, map_with(json!({"metadata": name, "date": {}}))),
        ),
        (
            "unknown custom fields",
            strictly(
                WIDGETS,
                widget(
                    "a",
                    &json!({"color": "red", "x": 1, "ports": [{"name": "a", "port": 1, "y": 2}]}),
                ),
            ),
        ),
        (
            "doubled custom field",
            strictly(
                WIDGETS,
                widget("a", &json!({"color": "red"}))
                    .replace("\"color\"", "\"color\":\"blue\",\"color\""),
            ),
        ),
        (
            "wrong custom type",
            make_widget(json!({"color": 7, "size": "big", "tags": {}})),
        ),
        ("required", make_widget(json!({}))),
        (
            "many faults",
            make_widget(json!({
                "color": "mauve", "size": -1, "note": "UPPER CASE and too long", "tags": ["a", "a"],
            })),
        ),
        (
            "int32 overflow",
            make_widget(json!({
                "color": "red", "ports": [{"name": "a", "port": 1_i64 << 40}],
            })),
        ),
        (
            "bad key of data",
            make_map(json!({"metadata": name, "data": {"a b": "c"}})),
        ),
        (
            "key in both",
            make_map(json!({"metadata": name, "data": {"k": "c"}, "binaryData": {"k": ""}})),
        ),
        (
            "put under another name",
            Raw::put(format!("{MAPS}/a"), map("b")),
        ),
        (
            "put of a custom object under another name",
            Raw::put(
                format!("{WIDGETS}/a"),
                widget("b", &json!({"color": "red"})),
            ),
        ),
        (
            "namespace with a bad name",
            Raw::post(
                "/api/v1/namespaces",
                object("v1", "Namespace", json!({"metadata": {"name": "a.b"}})),
            ),
        ),
    ];
    let reasons = vec![
        (
            "wrong type",
            make_map(json!({"metadata": name, "data": {"k": 1}})),
        ),
        (
            "unknown and doubled fields",
            strictly(
                MAPS,
                map_with(json!({"metadata": {"name": "a", "nam": "b"}, "data": {"k": "1"}}))
                    .replace("\"k\"", "\"k\":\"2\",\"k\""),
            ),
        ),
        (
            "fraction for an integer",
            make_widget(json!({"color": "red", "size": 1.5})),
        ),
        (
            "bad base64",
            Raw::post(
                SECRETS,
                object(
                    "v1",
                    "Secret",
                    json!({"metadata": name, "data": {"k": "%%"}}),
                ),
            ),
        ),
        (
            "invalid definition",
            Raw::post(
                "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
                object(
                    "apiextensions.k8s.io/v1",
                    "CustomResourceDefinition",
                    json!({"metadata": name, "spec": {}}),
                ),
            ),
        ),
    ];
    let mut answers = tell(t, Compare::Words, words).await?;
    answers += &tell(t, Compare::Reason, reasons).await?;
    assert_recorded!("objects", answers);
    Ok(())
}

async fn nothing_bad_is_left_behind(t: &Target) -> Result<()> {
    for body in ["{nope".to_owned(), "[]".to_owned(), map("a")] {
        let code = Raw::post(SECRETS, &*body).send(t).await?.code;
        assert_eq!(code, 400, "{body}");
    }
    let huge = vec![b'x'; 100 << 20];
    // The server may answer before it has read all of this, and close.
    if let Ok(answer) = Raw::post(SECRETS, huge).send(t).await {
        assert_eq!(answer.code, 413, "{}", answer.text);
        assert_eq!(answer.json()["reason"], "RequestEntityTooLarge");
    }
    let left = Raw::get(SECRETS).send(t).await?;
    assert_eq!(left.json()["items"], json!([]));
    Ok(())
}
