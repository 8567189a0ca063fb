//! The life of custom resource definitions on the embedded server.

use anyhow::{Context, Result};
use http::Method;
use serde_json::{Value, json};

use crate::api_fixture::{
    DEFINITIONS, Embedded, WIDGETS, bare, widget, widget_definition, with_body,
};

const MERGE: &str = "application/merge-patch+json";

async fn patch(embedded: &Embedded, path: &str, body: &Value) -> Result<Value> {
    let answer = embedded
        .send(with_body(Method::PATCH, path, MERGE, body.to_string()))
        .await?;
    anyhow::ensure!(answer.code == 200, "{path}: {}", answer.body);
    Ok(answer.body)
}

/// Asks again until the answer has the code.
async fn until(embedded: &Embedded, path: &str, code: u16) -> Result<()> {
    while embedded.get(path).await?.code != code {
        tokio::task::yield_now().await;
    }
    Ok(())
}

#[tokio::test]
async fn a_definition_goes_after_its_objects_and_they_after_their_finalizers() -> Result<()> {
    let embedded = Embedded::open().await?;
    embedded.install_widgets().await?;
    let definition = format!("{DEFINITIONS}/widgets.probe.dev");
    embedded.post(WIDGETS, &widget("plain")).await?;
    let mut held = widget("held");
    held["metadata"]["finalizers"] = json!(["probe.dev/hold"]);
    embedded.post(WIDGETS, &held).await?;

    let deleted = embedded.send(bare(Method::DELETE, &definition)).await?;
    assert_eq!(deleted.code, 200);
    assert!(
        deleted.body["metadata"]["deletionTimestamp"].is_string(),
        "{}",
        deleted.body
    );
    until(&embedded, &format!("{WIDGETS}/plain"), 404).await?;
    let held = embedded.get(&format!("{WIDGETS}/held")).await?;
    assert!(
        held.body["metadata"]["deletionTimestamp"].is_string(),
        "{}",
        held.body
    );
    assert_eq!(
        embedded.get(&definition).await?.code,
        200,
        "it waits for the held object"
    );
    let refused = embedded.post(WIDGETS, &widget("late")).await?;
    assert_eq!(refused.code, 405, "nothing new may come: {}", refused.body);

    let release = json!({"metadata": {"finalizers": null}});
    patch(&embedded, &format!("{WIDGETS}/held"), &release).await?;
    until(&embedded, &definition, 404).await?;
    until(&embedded, WIDGETS, 404).await?;
    embedded.install_widgets().await?;
    let list = embedded.get(WIDGETS).await?.body;
    assert_eq!(
        list["items"],
        json!([]),
        "a new definition starts with nothing"
    );
    Ok(())
}

#[tokio::test]
async fn objects_older_than_a_default_are_read_with_it() -> Result<()> {
    let embedded = Embedded::open().await?;
    embedded.install_widgets().await?;
    let made = embedded.post(WIDGETS, &widget("w")).await?.body;
    assert_eq!(
        made["spec"]["color"], "red",
        "defaults that are there are stored"
    );
    let mut definition = widget_definition();
    let schema = &mut definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"];
    schema["properties"]["spec"]["properties"]["shape"] =
        json!({"type": "string", "default": "round"});
    let body = json!({"spec": {"versions": definition["spec"]["versions"]}});
    patch(
        &embedded,
        &format!("{DEFINITIONS}/widgets.probe.dev"),
        &body,
    )
    .await?;
    let read = embedded.get(&format!("{WIDGETS}/w")).await?.body;
    assert_eq!(read["spec"]["shape"], "round");
    assert_eq!(
        read["metadata"]["resourceVersion"],
        made["metadata"]["resourceVersion"]
    );
    assert_eq!(read["metadata"]["generation"], 1);
    Ok(())
}

#[tokio::test]
async fn names_that_another_definition_has_are_not_accepted() -> Result<()> {
    let embedded = Embedded::open().await?;
    embedded.install_widgets().await?;
    let mut rival = widget_definition();
    rival["metadata"]["name"] = "gadgets.probe.dev".into();
    rival["spec"]["names"] = json!({"plural": "gadgets", "kind": "Widget"});
    assert_eq!(embedded.post(DEFINITIONS, &rival).await?.code, 201);
    let path = format!("{DEFINITIONS}/gadgets.probe.dev");
    let accepted = loop {
        let read = embedded.get(&path).await?.body;
        let conditions = read["status"]["conditions"]
            .as_array()
            .context("a list")?
            .clone();
        if let Some(found) = conditions.iter().find(|it| it["type"] == "NamesAccepted") {
            break found.clone();
        }
        tokio::task::yield_now().await;
    };
    assert_eq!(accepted["status"], "False");
    let gadgets = "/apis/probe.dev/v1/namespaces/default/gadgets";
    assert_eq!(embedded.get(gadgets).await?.code, 404, "it is not served");
    assert_eq!(
        embedded.get(WIDGETS).await?.code,
        200,
        "the first one still is"
    );
    Ok(())
}

#[tokio::test]
async fn the_status_and_the_rest_are_written_through_different_doors() -> Result<()> {
    let embedded = Embedded::open().await?;
    embedded.install_widgets().await?;
    let mut with_status = widget("w");
    with_status["status"] = json!({"ok": true});
    let made = embedded.post(WIDGETS, &with_status).await?.body;
    assert_eq!(made.get("status"), None);
    let both = json!({"spec": {"size": "large"}, "status": {"ok": true}});
    let through_status = patch(&embedded, &format!("{WIDGETS}/w/status"), &both).await?;
    assert_eq!(through_status["status"], json!({"ok": true}));
    assert_eq!(through_status["spec"]["size"], "small");
    assert_eq!(through_status["metadata"]["generation"], 1);
    let other = json!({"spec": {"size": "large"}, "status": {"ok": false}});
    let through_object = patch(&embedded, &format!("{WIDGETS}/w"), &other).await?;
    assert_eq!(through_object["status"], json!({"ok": true}));
    assert_eq!(through_object["spec"]["size"], "large");
    assert_eq!(through_object["metadata"]["generation"], 2);
    Ok(())
}
