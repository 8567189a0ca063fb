//! Parameters and options that are wrong, and what each of them is told.

use anyhow::Result;
use serde_json::{Value, json};

use super::refusals::{Compare, tell};
use super::requests::Raw;
use super::session::assert_recorded;
use super::target::Target;

conformance!(api: bad_options, bad_parameters_of_lists_and_watches);

const MAPS: &str = "/api/v1/namespaces/NS/configmaps";
const WIDGETS: &str = "/apis/conformance.pathline.dev/v1/namespaces/NS/widgets";

async fn bad_options(t: &Target) -> Result<()> {
    let map = |name| json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}});
    Raw::post(MAPS, map("a").to_string()).send(t).await?;
    let a = format!("{MAPS}/a");
    let create = |options: &str| Raw::post(format!("{MAPS}?{options}"), map("b").to_string());
    let delete = |options: &Value| Raw::delete(&a).body("application/json", options.to_string());
    let words = vec![
        ("dry run of a part", create("dryRun=Some")),
        ("unknown validation", create("fieldValidation=Perhaps")),
        (
            "long manager",
            create(&format!("fieldManager={}", "m".repeat(200))),
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
            "unknown custom field selector",
            Raw::get(format!("{WIDGETS}?fieldSelector=spec.x%3Dy")),
        ),
        (
            "delete with an unknown policy",
            delete(&json!({"propagationPolicy": "Sideways"})),
        ),
        (
            "delete with two policies",
            delete(&json!({"propagationPolicy": "Orphan", "orphanDependents": true})),
        ),
        (
            "delete with an unknown dry run",
            delete(&json!({"dryRun": ["Some"]})),
        ),
    ];
    let reasons = vec![
        (
            "nothing acceptable",
            Raw::get(&a).header("accept", "text/html"),
        ),
        (
            "nothing acceptable of a custom object",
            Raw::get(WIDGETS).header("accept", "image/png"),
        ),
        (
            "delete with a broken body",
            Raw::delete(&a).body("application/json", "{nope"),
        ),
        (
            "delete with another kind",
            delete(&json!({"kind": "ConfigMap", "apiVersion": "v1"})),
        ),
    ];
    let mut answers = tell(t, Compare::Words, words).await?;
    answers += &tell(t, Compare::Reason, reasons).await?;
    assert_recorded!("options", answers);
    Ok(())
}

async fn bad_parameters_of_lists_and_watches(t: &Target) -> Result<()> {
    let list = |parameters| (parameters, Raw::get(format!("{MAPS}?{parameters}")));
    let words = [
        "watch=true&sendInitialEvents=true&allowWatchBookmarks=true",
        "watch=true&sendInitialEvents=true&resourceVersionMatch=Exact&allowWatchBookmarks=true",
        "watch=true&resourceVersionMatch=NotOlderThan",
        "sendInitialEvents=true",
        "resourceVersionMatch=NotOlderThan",
        "resourceVersionMatch=Never&resourceVersion=1",
        "resourceVersionMatch=Exact&resourceVersion=0",
    ];
    let reasons = [
        "watch=true&resourceVersion=abc",
        "resourceVersion=abc",
        "continue=nonsense",
        "continue=bm8=",
        "limit=-1",
        "limit=many",
        "timeoutSeconds=soon",
    ];
    let mut answers = tell(t, Compare::Words, words.map(list).to_vec()).await?;
    answers += &tell(t, Compare::Reason, reasons.map(list).to_vec()).await?;
    assert_recorded!("parameters", answers);
    Ok(())
}
