//! Lists, discovery and documents of the embedded server.

use anyhow::{Context, Result};
use http::Method;
use serde_json::Value;

use crate::api_fixture::{CONFIG_MAPS, Embedded, WIDGETS, bare, config_map, widget};

fn names(list: &Value) -> Vec<&str> {
    let items = list["items"]
        .as_array()
        .map(Vec::as_slice)
        .unwrap_or_default();
    items
        .iter()
        .filter_map(|item| item["metadata"]["name"].as_str())
        .collect()
}

#[tokio::test]
async fn pages_show_one_moment_however_much_is_written_in_between() -> Result<()> {
    let embedded = Embedded::open().await?;
    embedded.install_widgets().await?;
    for name in ["a", "b", "c", "d", "e"] {
        embedded.post(WIDGETS, &widget(name)).await?;
    }
    let first = embedded.get(&format!("{WIDGETS}?limit=2")).await?.body;
    assert_eq!(names(&first), ["a", "b"]);
    assert_eq!(first["metadata"]["remainingItemCount"], 3);
    embedded.post(WIDGETS, &widget("bb")).await?;
    embedded
        .send(bare(Method::DELETE, &format!("{WIDGETS}/c")))
        .await?;
    let token = first["metadata"]["continue"]
        .as_str()
        .context("there is more")?;
    let rest = embedded
        .get(&format!("{WIDGETS}?limit=9&continue={token}"))
        .await?
        .body;
    assert_eq!(names(&rest), ["c", "d", "e"]);
    assert_eq!(
        rest["metadata"]["resourceVersion"],
        first["metadata"]["resourceVersion"]
    );
    assert_eq!(rest["metadata"].get("continue"), None);
    Ok(())
}

#[tokio::test]
async fn a_page_of_a_forgotten_moment_is_expired() -> Result<()> {
    let embedded = Embedded::open_with(|options| options.history_events = 5).await?;
    for name in ["a", "b", "c"] {
        embedded.post(CONFIG_MAPS, &config_map(name)).await?;
    }
    let first = embedded.get(&format!("{CONFIG_MAPS}?limit=1")).await?.body;
    let token = first["metadata"]["continue"]
        .as_str()
        .context("there is more")?
        .to_owned();
    for index in 0..20 {
        embedded
            .post(CONFIG_MAPS, &config_map(&format!("x{index}")))
            .await?;
    }
    let late = embedded
        .get(&format!("{CONFIG_MAPS}?limit=1&continue={token}"))
        .await?;
    assert_eq!(
        (late.code, &late.body["reason"]),
        (410, &Value::from("Expired"))
    );
    Ok(())
}

#[tokio::test]
async fn a_dry_run_shows_the_result_and_stores_nothing() -> Result<()> {
    let embedded = Embedded::open().await?;
    let before = embedded.revision().await?;
    let made = embedded
        .post(&format!("{CONFIG_MAPS}?dryRun=All"), &config_map("a"))
        .await?;
    assert_eq!(made.code, 201);
    assert!(made.body["metadata"]["uid"].is_string(), "{}", made.body);
    assert_eq!(embedded.get(&format!("{CONFIG_MAPS}/a")).await?.code, 404);
    assert_eq!(embedded.revision().await?, before);
    let nowhere = "/api/v1/namespaces/nowhere/configmaps?dryRun=All";
    assert_eq!(embedded.post(nowhere, &config_map("a")).await?.code, 404);
    Ok(())
}

#[tokio::test]
async fn discovery_is_kept_by_its_tag_until_a_kind_is_added() -> Result<()> {
    let embedded = Embedded::open().await?;
    let ask = |tag: Option<http::HeaderValue>| {
        let mut request = bare(Method::GET, "/apis");
        let accept = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
        request
            .headers_mut()
            .insert("accept", http::HeaderValue::from_static(accept));
        if let Some(tag) = tag {
            request.headers_mut().insert("if-none-match", tag);
        }
        embedded.send(request)
    };
    let first = ask(None).await?;
    assert_eq!(first.body["kind"], "APIGroupDiscoveryList");
    let tag = first
        .headers
        .get("etag")
        .context("discovery has a tag")?
        .clone();
    assert_eq!(ask(Some(tag.clone())).await?.code, 304);
    embedded.install_widgets().await?;
    let changed = ask(Some(tag)).await?;
    assert_eq!(changed.code, 200);
    assert!(
        changed.body.to_string().contains("probe.dev"),
        "the new group is listed"
    );
    Ok(())
}

#[tokio::test]
async fn every_document_of_the_openapi_index_is_there_and_whole() -> Result<()> {
    let embedded = Embedded::open().await?;
    embedded.install_widgets().await?;
    let index = embedded.get("/openapi/v3").await?.body;
    let paths = index["paths"].as_object().context("the index has paths")?;
    assert!(paths.contains_key("apis/probe.dev/v1"), "{index}");
    for entry in paths.values() {
        let url = entry["serverRelativeURL"]
            .as_str()
            .context("each has a URL")?;
        let document = embedded.get(url).await?.body;
        let schemas = &document["components"]["schemas"];
        let text = document.to_string();
        for reference in text.split("\"$ref\":\"#/components/schemas/").skip(1) {
            let name = reference.split('"').next().unwrap_or_default();
            assert!(schemas.get(name).is_some(), "{url} lacks {name}");
        }
        let paths = document["paths"]
            .as_object()
            .context("a document has paths")?;
        let validates = paths.values().any(|path| {
            path["patch"]["parameters"]
                .to_string()
                .contains("\"fieldValidation\"")
        });
        assert!(validates, "{url} does not say that the server validates");
    }
    Ok(())
}

#[tokio::test]
async fn strangers_are_not_answered() -> Result<()> {
    use tower::ServiceExt;
    let embedded = Embedded::open().await?;
    for path in ["/api", "/apis", "/api/v1/namespaces", "/openapi/v3"] {
        let response = embedded
            .cluster
            .service()
            .oneshot(bare(Method::GET, path))
            .await?;
        assert_eq!(response.status(), 401, "{path}");
    }
    for path in ["/healthz", "/readyz", "/livez", "/version"] {
        let response = embedded
            .cluster
            .service()
            .oneshot(bare(Method::GET, path))
            .await?;
        assert_eq!(response.status(), 200, "{path}");
    }
    Ok(())
}
