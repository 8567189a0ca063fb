//! Patches and applies that are wrong, and what each of them is told.

use anyhow::Result;
use http::Method;
use serde_json::{Value, json};

use super::refusals::{Compare, tell};
use super::requests::Raw;
use super::session::assert_recorded;
use super::target::Target;

conformance!(api: bad_patches, bad_applies);

const MAP: &str = "/api/v1/namespaces/NS/configmaps/one";
const WIDGET: &str = "/apis/conformance.pathline.dev/v1/namespaces/NS/widgets/one";

fn map(metadata: &Value) -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata})
}

fn widget(kind: &str, name: &str) -> Value {
    json!({
        "apiVersion": "conformance.pathline.dev/v1", "kind": kind,
        "metadata": {"name": name}, "spec": {"color": "red"},
    })
}

async fn bad_patches(t: &Target) -> Result<()> {
    let maps = MAP.trim_end_matches("/one");
    Raw::post(maps, map(&json!({"name": "one"})).to_string())
        .send(t)
        .await?;
    Raw::post(
        WIDGET.trim_end_matches("/one"),
        widget("Widget", "one").to_string(),
    )
    .send(t)
    .await?;
    let merge = |path: &str, patch: &Value| Raw::patch(path, "merge-patch+json", patch.to_string());
    let operations = |patch: &Value| Raw::patch(MAP, "json-patch+json", patch.to_string());
    let many = vec![json!({"op": "test", "path": "/kind", "value": "ConfigMap"}); 10_001];
    let words = vec![
        (
            "strategic patch of a custom object",
            Raw::patch(WIDGET, "strategic-merge-patch+json", "{}"),
        ),
        (
            "unknown operation",
            operations(&json!([{"op": "frob", "path": "/a"}])),
        ),
        (
            "missing path",
            operations(&json!([{"op": "remove", "path": "/data/x"}])),
        ),
        ("too many operations", operations(&Value::from(many))),
        (
            "patch of the name",
            merge(MAP, &json!({"metadata": {"name": "b"}})),
        ),
        (
            "patch of the namespace",
            merge(MAP, &json!({"metadata": {"namespace": "b"}})),
        ),
        (
            "patch of a custom name",
            merge(WIDGET, &json!({"metadata": {"name": "b"}})),
        ),
        (
            "patch of a custom kind",
            merge(WIDGET, &json!({"kind": "Gadget"})),
        ),
        (
            "patch to a wrong custom type",
            merge(WIDGET, &json!({"spec": {"color": 1}})),
        ),
    ];
    let strict = "?fieldValidation=Strict";
    let reasons = vec![
        ("unknown type", Raw::patch(MAP, "json", "{}")),
        ("no type", Raw::new(&Method::PATCH, MAP)),
        (
            "merge patch is no JSON",
            Raw::patch(MAP, "merge-patch+json", "{nope"),
        ),
        ("merge patch is a list", merge(MAP, &json!([]))),
        ("merge patch is a string", merge(WIDGET, &json!("x"))),
        ("JSON patch is an object", operations(&json!({}))),
        (
            "JSON patch is no JSON",
            Raw::patch(MAP, "json-patch+json", "[nope"),
        ),
        ("patch of the kind", merge(MAP, &json!({"kind": "Secret"}))),
        (
            "patch to a wrong type",
            merge(MAP, &json!({"data": {"k": 1}})),
        ),
        (
            "patch of a bad label",
            merge(MAP, &json!({"metadata": {"labels": {"a b": "c"}}})),
        ),
        (
            "strict patch",
            merge(&format!("{WIDGET}{strict}"), &json!({"spec": {"x": 1}})),
        ),
        (
            "strict patch of a map",
            merge(&format!("{MAP}{strict}"), &json!({"date": {}})),
        ),
        (
            "patch of the version",
            merge(MAP, &json!({"metadata": {"resourceVersion": "nope"}})),
        ),
        (
            "patch makes metadata a list",
            merge(MAP, &json!({"metadata": []})),
        ),
        (
            "patch removes everything",
            operations(&json!([{"op": "remove", "path": ""}])),
        ),
    ];
    let mut answers = tell(t, Compare::Words, words).await?;
    answers += &tell(t, Compare::Reason, reasons).await?;
    assert_recorded!("patches", answers);
    Ok(())
}

async fn bad_applies(t: &Target) -> Result<()> {
    let apply = |path: &str, parameters: &str, body: &str| {
        Raw::patch(format!("{path}?{parameters}"), "apply-patch+yaml", body)
    };
    let by_m = "fieldManager=m";
    let long = format!("fieldManager={}", "m".repeat(129));
    let named = map(&json!({"name": "one"})).to_string();
    let managed = map(&json!({"name": "one", "managedFields": [{"manager": "x"}]})).to_string();
    let words = vec![
        (
            "no manager",
            apply(WIDGET, "", &widget("Widget", "one").to_string()),
        ),
        (
            "another name",
            apply(WIDGET, by_m, &widget("Widget", "two").to_string()),
        ),
        (
            "another kind",
            apply(WIDGET, by_m, &widget("Gadget", "one").to_string()),
        ),
        (
            "no kind",
            apply(WIDGET, by_m, r#"{"metadata": {"name": "one"}}"#),
        ),
        ("managed fields", apply(MAP, by_m, &managed)),
        ("long manager", apply(MAP, &long, &named)),
        (
            "unprintable manager",
            apply(MAP, "fieldManager=a%07b", &named),
        ),
        (
            "force without apply",
            Raw::patch(format!("{MAP}?force=true"), "merge-patch+json", "{}"),
        ),
    ];
    let reasons = vec![
        ("not an object", apply(WIDGET, by_m, "[]")),
        ("not YAML", apply(WIDGET, by_m, "a: b: c")),
        ("empty", apply(WIDGET, by_m, "")),
    ];
    let mut answers = tell(t, Compare::Words, words).await?;
    answers += &tell(t, Compare::Reason, reasons).await?;
    assert_recorded!("applies", answers);
    assert!(
        t.widgets().get_opt("one").await?.is_none(),
        "nothing was created"
    );
    Ok(())
}
