//! Bad input gives a `Status` and leaves nothing behind.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::Result;
use bytes::Bytes;
use http::{Method, Request};
use http_body::Frame;
use http_body_util::{BodyExt, StreamBody};
use serde_json::{Value, json};

use crate::api_fixture::{
    Answer, CONFIG_MAPS, DEFINITIONS, Embedded, WIDGETS, bare, config_map, widget,
    widget_definition, with_body,
};

const JSON: &str = "application/json";
const YAML: &str = "application/yaml";

/// Asserts that an answer is a failure of the given code and reason, with a message.
fn assert_failure(answer: &Answer, code: u16, reason: &str, what: &str) {
    assert_eq!(answer.code, code, "{what}: {}", answer.body);
    assert_eq!(answer.body["kind"], "Status", "{what}: {}", answer.body);
    assert_eq!(answer.body["status"], "Failure", "{what}");
    assert_eq!(answer.body["code"], code, "{what}");
    assert_eq!(answer.body["reason"], reason, "{what}: {}", answer.body);
    let message = answer.body["message"].as_str().unwrap_or_default();
    assert!(
        !message.is_empty(),
        "{what}: a person has to know what to do next"
    );
}

/// Posts bodies that must all fail alike, and asserts that no revision was made.
async fn refuse_posts(
    path: &str,
    media_type: &str,
    expected: (u16, &str),
    bodies: Vec<(&str, Vec<u8>)>,
) -> Result<()> {
    let embedded = Embedded::open().await?;
    embedded.install_widgets().await?;
    let before = embedded.revision().await?;
    for (what, body) in bodies {
        let request = with_body(Method::POST, path, media_type, body);
        assert_failure(&embedded.send(request).await?, expected.0, expected.1, what);
        assert_eq!(
            embedded.revision().await?,
            before,
            "{what} left something behind"
        );
    }
    Ok(())
}

fn text(value: &Value) -> Vec<u8> {
    value.to_string().into_bytes()
}

#[tokio::test]
async fn malformed_json_is_a_bad_request() -> Result<()> {
    let bodies = vec![
        ("nothing", Vec::new()),
        ("an open brace", b"{\"a\":".to_vec()),
        ("two objects", b"{} {}".to_vec()),
        ("a list", b"[]".to_vec()),
        ("a raw NUL", b"{\"a\":\"\0\"}".to_vec()),
        ("no UTF-8", b"{\"a\":\"\xff\"}".to_vec()),
        ("YAML", b"kind: ConfigMap\n".to_vec()),
        ("deep lists", "[".repeat(200_000).into_bytes()),
        ("deep objects", "{\"a\":".repeat(200_000).into_bytes()),
    ];
    refuse_posts(CONFIG_MAPS, JSON, (400, "BadRequest"), bodies).await
}

#[tokio::test]
async fn malformed_yaml_is_a_bad_request() -> Result<()> {
    let bombs = "a: &a [x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b]\n\
                 d: &d [*c,*c,*c,*c,*c,*c,*c,*c]\ne: &e [*d,*d,*d,*d,*d,*d,*d,*d]\n\
                 f: &f [*e,*e,*e,*e,*e,*e,*e,*e]\ng: &g [*f,*f,*f,*f,*f,*f,*f,*f]\n";
    let bodies = vec![
        ("an open list", b"apiVersion: [v1\nkind: ]".to_vec()),
        ("a bare text", b"hello".to_vec()),
        ("no UTF-8", b"a: \xff\xfe".to_vec()),
        ("deep flow lists", "[".repeat(100_000).into_bytes()),
        ("a billion laughs", bombs.into()),
    ];
    refuse_posts(CONFIG_MAPS, YAML, (400, "BadRequest"), bodies).await
}

#[tokio::test]
async fn objects_that_nest_too_deep_are_a_bad_request() -> Result<()> {
    let nested = (0..150).fold(json!("x"), |inner, _| json!({"a": inner}));
    let mut body = widget("deep");
    body["status"] = nested;
    refuse_posts(
        WIDGETS,
        JSON,
        (400, "BadRequest"),
        vec![("150 levels", text(&body))],
    )
    .await
}

#[tokio::test]
async fn another_kind_or_version_than_the_urls_is_a_bad_request() -> Result<()> {
    let of = |key: &str, value: &str| {
        let mut body = config_map("x");
        body[key] = value.into();
        text(&body)
    };
    let bodies = vec![
        ("a Secret", of("kind", "Secret")),
        ("an unknown kind", of("kind", "Foo")),
        ("an unknown version", of("apiVersion", "v9")),
        ("a definition", text(&widget_definition())),
    ];
    refuse_posts(CONFIG_MAPS, JSON, (400, "BadRequest"), bodies).await?;
    let mut other_version = widget("x");
    other_version["apiVersion"] = "probe.dev/v2".into();
    let bodies = vec![
        ("another version", text(&other_version)),
        (
            "no kind",
            text(&json!({"metadata": {"name": "x"}, "spec": {"size": "s"}})),
        ),
    ];
    refuse_posts(WIDGETS, JSON, (400, "BadRequest"), bodies).await?;
    let mut other_kind = widget("x");
    other_kind["kind"] = "Gadget".into();
    let bodies = vec![("another kind", text(&other_kind))];
    refuse_posts(WIDGETS, JSON, (422, "Invalid"), bodies).await
}

#[tokio::test]
async fn invalid_names_are_invalid() -> Result<()> {
    let long = "x".repeat(254);
    let names = [
        "A_b",
        "a\0b",
        "-a",
        "a/b",
        "ä",
        "a b",
        ".",
        "..",
        "a\n",
        long.as_str(),
    ];
    let bodies = names
        .iter()
        .map(|name| (*name, text(&config_map(name))))
        .collect();
    refuse_posts(CONFIG_MAPS, JSON, (422, "Invalid"), bodies).await?;
    let nameless = vec![("no name", text(&config_map("")))];
    refuse_posts(CONFIG_MAPS, JSON, (422, "Invalid"), nameless).await?;
    let dotted = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "a.b"}});
    let bodies = vec![("a dotted namespace", text(&dotted))];
    refuse_posts("/api/v1/namespaces", JSON, (422, "Invalid"), bodies).await
}

#[tokio::test]
async fn invalid_metadata_is_invalid() -> Result<()> {
    let with = |metadata: Value| {
        let mut body = config_map("x");
        for (key, value) in metadata.as_object().unwrap() {
            body["metadata"][key] = value.clone();
        }
        text(&body)
    };
    let bodies = vec![
        (
            "a label with a space",
            with(json!({"labels": {"a b": "c"}})),
        ),
        ("a label with a NUL", with(json!({"labels": {"a": "b\0"}}))),
        (
            "a finalizer without a domain",
            with(json!({"finalizers": ["mine"]})),
        ),
        (
            "an owner without a uid",
            with(json!({"ownerReferences": [
                {"apiVersion": "v1", "kind": "X", "name": "x", "uid": ""}
            ]})),
        ),
        (
            "annotations without end",
            with(json!({"annotations": {"a": "x".repeat(300_000)}})),
        ),
    ];
    refuse_posts(CONFIG_MAPS, JSON, (422, "Invalid"), bodies).await?;
    let bodies = vec![
        ("metadata that is a list", text(&json!({"metadata": []}))),
        ("a name that is a number", with(json!({"name": 1}))),
        ("labels that are numbers", with(json!({"labels": {"a": 1}}))),
    ];
    refuse_posts(CONFIG_MAPS, JSON, (400, "BadRequest"), bodies).await
}

#[tokio::test]
async fn values_that_break_the_schema_are_invalid() -> Result<()> {
    let with = |spec: Value| {
        let mut body = widget("x");
        body["spec"] = spec;
        text(&body)
    };
    let bodies = vec![
        ("a number for a text", with(json!({"size": 1}))),
        ("a missing field", with(json!({}))),
        (
            "a number below its minimum",
            with(json!({"size": "s", "replicas": -1})),
        ),
        ("a text for an object", with(json!("s"))),
    ];
    refuse_posts(WIDGETS, JSON, (422, "Invalid"), bodies).await
}

#[tokio::test]
async fn unknown_fields_are_refused_by_strict_validation() -> Result<()> {
    let mut unknown = config_map("x");
    unknown["foo"] = 1.into();
    let mut in_spec = widget("x");
    in_spec["spec"]["foo"] = 1.into();
    let twice = br#"{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x"},
                     "data":{"a":"1","a":"2"}}"#;
    let path = format!("{CONFIG_MAPS}?fieldValidation=Strict");
    let bodies = vec![
        ("an unknown field", text(&unknown)),
        ("a field twice", twice.to_vec()),
    ];
    refuse_posts(&path, JSON, (400, "BadRequest"), bodies).await?;
    let path = format!("{WIDGETS}?fieldValidation=Strict");
    refuse_posts(
        &path,
        JSON,
        (400, "BadRequest"),
        vec![("in the spec", text(&in_spec))],
    )
    .await
}

#[tokio::test]
async fn other_media_types_are_not_supported() -> Result<()> {
    let bodies = vec![("plain text", text(&config_map("x")))];
    refuse_posts(
        CONFIG_MAPS,
        "text/plain",
        (415, "UnsupportedMediaType"),
        bodies,
    )
    .await?;
    let protobuf = vec![("protobuf", b"k8s\0".to_vec())];
    let media_type = "application/vnd.kubernetes.protobuf";
    refuse_posts(
        CONFIG_MAPS,
        media_type,
        (415, "UnsupportedMediaType"),
        protobuf,
    )
    .await
}

#[tokio::test]
async fn broken_definitions_are_invalid() -> Result<()> {
    let mut definition = widget_definition();
    definition["metadata"]["name"] = "gadgets.probe.dev".into();
    definition["spec"]["names"] = json!({"plural": "gadgets", "kind": "Gadget"});
    let with = |change: fn(&mut Value)| {
        let mut changed = definition.clone();
        change(&mut changed);
        text(&changed)
    };
    let bodies = vec![
        (
            "another name",
            with(|it| it["metadata"]["name"] = "x.probe.dev".into()),
        ),
        ("no versions", with(|it| it["spec"]["versions"] = json!([]))),
        (
            "an unknown scope",
            with(|it| it["spec"]["scope"] = "Galaxy".into()),
        ),
        (
            "no schema",
            with(|it| it["spec"]["versions"][0]["schema"] = Value::Null),
        ),
        (
            "a schema without types",
            with(|it| {
                it["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"] =
                    json!({"properties": {"a": {"type": "string"}}});
            }),
        ),
        (
            "a conversion webhook",
            with(|it| {
                it["spec"]["conversion"] = json!({"strategy": "Webhook"});
            }),
        ),
    ];
    refuse_posts(DEFINITIONS, JSON, (422, "Invalid"), bodies).await
}

#[tokio::test]
async fn a_body_of_100_megabytes_is_cut_off_early() -> Result<()> {
    const CHUNK: usize = 1 << 20;
    let embedded = Embedded::open().await?;
    let before = embedded.revision().await?;
    let sent = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&sent);
    let chunks = std::iter::repeat_with(move || {
        counter.fetch_add(1, Ordering::Relaxed);
        Ok::<_, std::convert::Infallible>(Frame::data(Bytes::from(vec![b' '; CHUNK])))
    });
    let body = StreamBody::new(futures::stream::iter(chunks.take(100)));
    let request = Request::post(CONFIG_MAPS)
        .header("content-type", JSON)
        .body(body.boxed_unsync())?;
    let answer = embedded.send(request).await?;
    assert_failure(&answer, 413, "RequestEntityTooLarge", "100 MB");
    let sent = sent.load(Ordering::Relaxed);
    assert!(
        sent <= 12,
        "{sent} MB were read before the body was cut off"
    );
    assert_eq!(embedded.revision().await?, before);
    Ok(())
}

#[tokio::test]
async fn patches_that_do_not_fit_leave_the_object_alone() -> Result<()> {
    let embedded = Embedded::open().await?;
    embedded.install_widgets().await?;
    assert_eq!(embedded.post(WIDGETS, &widget("w")).await?.code, 201);
    let before = embedded.revision().await?;
    let (json_patch, merge) = (
        "application/json-patch+json",
        "application/merge-patch+json",
    );
    let apply = "application/apply-patch+yaml";
    let too_many = json!(vec![
        json!({"op": "test", "path": "/kind", "value": "Widget"});
        10_001
    ]);
    let strategic = "application/strategic-merge-patch+json";
    let cases: Vec<(&str, &str, &str, u16)> = vec![
        (
            json_patch,
            r#"[{"op":"test","path":"/spec/size","value":"x"}]"#,
            "a failed test",
            422,
        ),
        (
            json_patch,
            r#"[{"op":"remove","path":"/spec/nope"}]"#,
            "a missing path",
            422,
        ),
        (json_patch, r#"{"op":"add"}"#, "an object for a list", 400),
        (json_patch, "[", "no JSON", 400),
        (
            json_patch,
            r#"[{"op":"remove","path":"/spec/size"}]"#,
            "a required field gone",
            422,
        ),
        (
            json_patch,
            r#"[{"op":"replace","path":"","value":1}]"#,
            "the whole object",
            400,
        ),
        (
            json_patch,
            r#"[{"op":"replace","path":"/metadata","value":1}]"#,
            "no metadata",
            422,
        ),
        (merge, "[]", "a list", 400),
        (
            merge,
            r#"{"metadata":{"name":"other"}}"#,
            "another name",
            400,
        ),
        (merge, r#"{"metadata":{"uid":"other"}}"#, "another uid", 422),
        (
            merge,
            r#"{"metadata":{"resourceVersion":"1"}}"#,
            "an old version",
            409,
        ),
        (
            strategic,
            r#"{"spec":{"size":"x"}}"#,
            "a strategic patch",
            415,
        ),
        (JSON, r#"{"spec":{"size":"x"}}"#, "no patch at all", 415),
        (apply, "a: [", "no YAML", 400),
        (apply, "[]", "a list to apply", 400),
        (apply, "{}", "nothing to apply", 400),
    ];
    for (media_type, body, what, code) in cases {
        let path = format!("{WIDGETS}/w?fieldManager=test");
        let request = with_body(Method::PATCH, &path, media_type, body.to_owned());
        let answer = embedded.send(request).await?;
        assert_eq!(answer.code, code, "{what}: {}", answer.body);
        assert_eq!(answer.body["kind"], "Status", "{what}");
        assert_eq!(
            embedded.revision().await?,
            before,
            "{what} left something behind"
        );
    }
    let path = format!("{WIDGETS}/w");
    let request = with_body(Method::PATCH, &path, json_patch, too_many.to_string());
    assert_eq!(embedded.send(request).await?.code, 413);
    Ok(())
}

#[tokio::test]
async fn urls_that_name_nothing_are_answered_with_a_status() -> Result<()> {
    let embedded = Embedded::open().await?;
    let cases = [
        (Method::GET, "/foo", 404),
        (Method::GET, "/apis/foo.io/v1/x", 404),
        (Method::GET, "/api/v1/namespaces/default/nopes", 404),
        (
            Method::GET,
            "/api/v1/namespaces/default/configmaps/nope",
            404,
        ),
        (
            Method::GET,
            "/api/v1/namespaces/default/configmaps/nope/status",
            404,
        ),
        (Method::GET, "/api/v1/configmaps/nope", 404),
        (Method::PUT, "/api/v1/namespaces/default/configmaps", 405),
        (Method::POST, "/api/v1/configmaps", 405),
        (
            Method::GET,
            "/api/v1/configmaps?labelSelector=a%20b%20c",
            400,
        ),
        (
            Method::GET,
            "/api/v1/configmaps?fieldSelector=spec.x%3D1",
            400,
        ),
        (Method::GET, "/api/v1/configmaps?limit=abc", 400),
        (Method::GET, "/api/v1/configmaps?continue=abc", 400),
        (Method::GET, "/api/v1/configmaps?resourceVersion=abc", 400),
        (
            Method::GET,
            "/api/v1/configmaps?resourceVersion=99999999",
            504,
        ),
        (Method::GET, "/api/v1/%ff", 400),
        (Method::GET, "/api/v1/namespaces/%2e%2e/configmaps", 404),
        (
            Method::GET,
            "/api/v1/namespaces/default/configmaps/a%00b",
            404,
        ),
    ];
    for (method, path, code) in cases {
        let answer = embedded.send(bare(method.clone(), path)).await?;
        assert_eq!(answer.code, code, "{method} {path}: {}", answer.body);
        assert_eq!(answer.body["kind"], "Status", "{method} {path}");
    }
    Ok(())
}
