//! Objects that are larger than etcd would take, whichever way they are made.

use anyhow::Result;
use http::Method;
use serde_json::{Value, json};

use crate::api_fixture::{
    Answer, CONFIG_MAPS, Embedded, WIDGETS, config_map, widget, widget_definition, with_body,
};

/// etcd's limit for a request.
const LIMIT: usize = 1_572_864;

/// Asserts that an answer is what a real API server says of etcd's refusal.
fn assert_too_large(answer: &Answer, what: &str) {
    let told = (answer.code, answer.body["message"].as_str());
    let expected = (500, Some("etcdserver: request is too large"));
    assert_eq!(told, expected, "{what}");
    assert_eq!(answer.body["kind"], "Status", "{what}");
}

/// Sends a body to an object, or to a part of it.
async fn send(
    embedded: &Embedded,
    method: Method,
    path: &str,
    media_type: &str,
    body: &Value,
) -> Result<Answer> {
    let path = format!("{path}?fieldManager=test");
    let request = with_body(
        method,
        &path,
        &format!("application/{media_type}"),
        body.to_string(),
    );
    embedded.send(request).await
}

async fn mk_embedded() -> Result<Embedded> {
    let embedded = Embedded::open().await?;
    embedded.install_widgets().await?;
    for (path, object) in [(WIDGETS, widget("w")), (CONFIG_MAPS, config_map("m"))] {
        assert_eq!(embedded.post(path, &object).await?.code, 201);
    }
    Ok(embedded)
}

#[tokio::test]
async fn hole_9_no_way_leads_to_an_object_over_the_limit() -> Result<()> {
    let embedded = mk_embedded().await?;
    let long = "x".repeat(LIMIT);
    let mut huge = widget("w");
    huge["spec"]["size"] = long.as_str().into();
    let mut other = huge.clone();
    let mut update = huge.clone();
    let current = embedded.get(&format!("{WIDGETS}/w")).await?.body;
    update["metadata"]["resourceVersion"] = current["metadata"]["resourceVersion"].clone();
    other["metadata"]["name"] = "other".into();
    let (one, status) = (format!("{WIDGETS}/w"), format!("{WIDGETS}/w/status"));
    let replace = json!([{"op": "replace", "path": "/spec/size", "value": long}]);
    let in_status = json!({"status": {"log": long}});
    let mut applied_status = widget("w");
    applied_status["status"] = in_status["status"].clone();
    let merge = json!({"spec": {"size": long}});
    let ways = [
        ("create", Method::POST, WIDGETS, "json", &other),
        ("update", Method::PUT, &one, "json", &update),
        (
            "json patch",
            Method::PATCH,
            &one,
            "json-patch+json",
            &replace,
        ),
        (
            "merge patch",
            Method::PATCH,
            &one,
            "merge-patch+json",
            &merge,
        ),
        ("apply", Method::PATCH, &one, "apply-patch+yaml", &huge),
        (
            "status",
            Method::PATCH,
            &status,
            "merge-patch+json",
            &in_status,
        ),
        (
            "applied status",
            Method::PATCH,
            &status,
            "apply-patch+yaml",
            &applied_status,
        ),
    ];
    let before = embedded.revision().await?;
    for (what, method, path, media_type, body) in ways {
        let path = if media_type == "apply-patch+yaml" {
            // What the fields were before belongs to somebody else.
            format!("{path}?force=true&fieldManager=test")
        } else {
            path.to_owned()
        };
        let request = with_body(
            method,
            &path,
            &format!("application/{media_type}"),
            body.to_string(),
        );
        assert_too_large(&embedded.send(request).await?, what);
    }
    assert_eq!(embedded.revision().await?, before, "nothing was stored");
    Ok(())
}

#[tokio::test]
async fn hole_9_patches_cannot_let_an_object_grow_step_by_step() -> Result<()> {
    let embedded = mk_embedded().await?;
    let path = format!("{WIDGETS}/w/status");
    let begin = json!({"status": {"list": ["x".repeat(100_000)]}});
    let begun = send(&embedded, Method::PATCH, &path, "merge-patch+json", &begin).await?;
    assert_eq!(begun.code, 200, "{}", begun.body);
    let copy = json!({"op": "copy", "from": "/status/list/0", "path": "/status/list/-"});
    let patch = Value::Array(vec![copy; 5]);
    let mut steps = 0;
    let refused = loop {
        let answer = send(&embedded, Method::PATCH, &path, "json-patch+json", &patch).await?;
        if answer.code != 200 {
            break answer;
        }
        steps += 1;
        assert!(steps < 50, "it grows and grows");
    };
    assert_too_large(&refused, "the copies that were too many");
    assert!(steps > 0, "some copies are fine");
    let now = embedded.get(&format!("{WIDGETS}/w")).await?.body;
    assert!(now.to_string().len() <= LIMIT, "and no more is stored");
    Ok(())
}

#[tokio::test]
async fn hole_9_managed_fields_count() -> Result<()> {
    let embedded = mk_embedded().await?;
    // Each key is listed once more in the managed fields.
    let keys = |from: usize| -> serde_json::Map<String, Value> {
        let keys =
            (from..from + 30_000).map(|number| (format!("key-number-{number:09}"), json!(1)));
        keys.collect()
    };
    let patch = json!({"status": keys(0)});
    assert!(patch.to_string().len() < LIMIT * 3 / 5, "small by itself");
    let path = format!("{WIDGETS}/w/status");
    let answer = send(&embedded, Method::PATCH, &path, "merge-patch+json", &patch).await?;
    assert_too_large(&answer, "with its managed fields");
    Ok(())
}

#[tokio::test]
async fn hole_9_defaults_cannot_make_a_giant_of_a_small_body() -> Result<()> {
    let embedded = Embedded::open().await?;
    let mut definition = widget_definition();
    let schema = &mut definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"];
    schema["properties"]["spec"]["properties"]["items"] = json!({
        "type": "array",
        "items": {"type": "object", "properties": {
            "text": {"type": "string", "default": "x".repeat(100_000)},
        }},
    });
    embedded.install(&definition).await?;
    let mut object = widget("bomb");
    // 100 GB, if all defaults were filled in.
    object["spec"]["items"] = Value::Array(vec![json!({}); 1_000_000]);
    let answer = embedded.post(WIDGETS, &object).await?;
    assert_too_large(&answer, "an object of defaults");
    Ok(())
}

#[tokio::test]
async fn hole_9_values_of_a_config_map_and_of_a_secret_are_limited_to_one_mebibyte() -> Result<()> {
    let embedded = mk_embedded().await?;
    let long = "x".repeat((1 << 20) + 1);
    let mut map = config_map("big");
    map["data"]["a"] = long.as_str().into();
    let refused = embedded.post(CONFIG_MAPS, &map).await?;
    assert_eq!(
        refused.body["message"],
        "ConfigMap \"big\" is invalid: []: Too long: may not be more than 1048576 bytes"
    );
    let secret = json!({
        "apiVersion": "v1", "kind": "Secret", "metadata": {"name": "big"},
        "stringData": {"a": long},
    });
    let refused = embedded
        .post("/api/v1/namespaces/default/secrets", &secret)
        .await?;
    assert_eq!(
        refused.body["message"],
        "Secret \"big\" is invalid: data: Too long: may not be more than 1048576 bytes"
    );
    map["data"]["a"] = "x".repeat(1 << 20).into();
    assert_eq!(embedded.post(CONFIG_MAPS, &map).await?.code, 201);
    Ok(())
}
