//! Objects that are too large to be stored, and what their writers are told.

use anyhow::Result;
use serde_json::{Value, json};

use super::refusals::{Compare, tell};
use super::requests::Raw;
use super::session::assert_recorded;
use super::target::Target;

conformance!(api: large_objects);

const MAPS: &str = "/api/v1/namespaces/NS/configmaps";
const SECRETS: &str = "/api/v1/namespaces/NS/secrets";
const WIDGETS: &str = "/apis/conformance.pathline.dev/v1/namespaces/NS/widgets";

fn widget(name: &str, text: &str) -> Value {
    json!({
        "apiVersion": "conformance.pathline.dev/v1", "kind": "Widget",
        "metadata": {"name": name}, "spec": {"color": "red", "template": {"text": text}},
    })
}

async fn large_objects(t: &Target) -> Result<()> {
    // Between what etcd takes and what its client sends at all.
    let large = "x".repeat(1_600_000);
    let over = "x".repeat((1 << 20) + 1);
    let one = format!("{WIDGETS}/one");
    Raw::post(WIDGETS, widget("one", "").to_string())
        .send(t)
        .await?;
    let map = json!({
        "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"a": over},
    });
    let secret = json!({
        "apiVersion": "v1", "kind": "Secret", "metadata": {"name": "a"}, "stringData": {"a": over},
    });
    let merge = json!({"spec": {"template": {"text": large}}});
    let operations = json!([{"op": "add", "path": "/spec/template/text", "value": large}]);
    let apply = format!("{one}?fieldManager=test&force=true");
    let answers = tell(
        t,
        Compare::Words,
        vec![
            (
                "create",
                Raw::post(WIDGETS, widget("two", &large).to_string()),
            ),
            ("update", Raw::put(&one, unconditional(t, &large).await?)),
            (
                "merge",
                Raw::patch(&one, "merge-patch+json", merge.to_string()),
            ),
            (
                "operations",
                Raw::patch(&one, "json-patch+json", operations.to_string()),
            ),
            (
                "apply",
                Raw::patch(apply, "apply-patch+yaml", widget("one", &large).to_string()),
            ),
            ("values of a ConfigMap", Raw::post(MAPS, map.to_string())),
            ("values of a Secret", Raw::post(SECRETS, secret.to_string())),
        ],
    )
    .await?;
    assert_recorded!("large", answers);
    Ok(())
}

/// Returns the widget `one` with a text, to be written over what is there now.
async fn unconditional(t: &Target, text: &str) -> Result<String> {
    let current = Raw::get(format!("{WIDGETS}/one")).send(t).await?.json();
    let mut body = widget("one", text);
    body["metadata"]["resourceVersion"] = current["metadata"]["resourceVersion"].clone();
    Ok(body.to_string())
}
