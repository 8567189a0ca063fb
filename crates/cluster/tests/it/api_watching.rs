//! Watches of the embedded server where it is a matter of its own limits.

use anyhow::{Context, Result};
use bytes::Bytes;
use http::Method;
use http_body_util::BodyExt;
use pathline_cluster::ResponseBody;
use serde_json::{Value, json};

use crate::api_fixture::{CONFIG_MAPS, Embedded, bare, config_map, with_body};

/// The events of one watch, as they arrive.
struct Events {
    body: ResponseBody,
    pending: Vec<u8>,
}

impl Events {
    async fn start(embedded: &Embedded, query: &str) -> Result<Self> {
        let path = format!("{CONFIG_MAPS}?watch=true&{query}");
        let response = embedded.start(bare(Method::GET, &path)).await?;
        anyhow::ensure!(
            response.status() == 200,
            "the watch was refused: {response:?}"
        );
        Ok(Self {
            body: response.into_body(),
            pending: Vec::new(),
        })
    }

    /// Returns the next event, or `None` at the end of the watch.
    async fn next(&mut self) -> Result<Option<Value>> {
        loop {
            if let Some(end) = self.pending.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.pending.drain(..=end).collect();
                return Ok(Some(serde_json::from_slice(&line)?));
            }
            let Some(frame) = self.body.frame().await else {
                return Ok(None);
            };
            let data: Bytes = frame?.into_data().ok().context("a watch has no trailers")?;
            self.pending.extend_from_slice(&data);
        }
    }

    async fn names(&mut self, count: usize) -> Result<Vec<String>> {
        let mut names = Vec::new();
        for _ in 0..count {
            let event = self.next().await?.context("the watch ended")?;
            let name = event["object"]["metadata"]["name"]
                .as_str()
                .unwrap_or_default();
            names.push(format!(
                "{} {name}",
                event["type"].as_str().unwrap_or_default()
            ));
        }
        Ok(names)
    }
}

async fn write(embedded: &Embedded, name: &str, value: usize) -> Result<()> {
    let path = format!("{CONFIG_MAPS}/{name}");
    let body = json!({"data": {"a": value.to_string()}}).to_string();
    let request = with_body(Method::PATCH, &path, "application/merge-patch+json", body);
    let answer = embedded.send(request).await?;
    anyhow::ensure!(answer.code == 200, "{}", answer.body);
    Ok(())
}

#[tokio::test]
async fn a_watch_from_a_forgotten_revision_says_so_and_ends() -> Result<()> {
    let embedded = Embedded::open_with(|options| options.history_events = 10).await?;
    embedded.post(CONFIG_MAPS, &config_map("a")).await?;
    let old = embedded.revision().await?;
    for value in 0..50 {
        write(&embedded, "a", value).await?;
    }
    let mut events = Events::start(&embedded, &format!("resourceVersion={old}")).await?;
    let event = events.next().await?.context("an event tells why")?;
    assert_eq!(event["type"], "ERROR");
    assert_eq!(event["object"]["code"], 410);
    assert_eq!(event["object"]["reason"], "Expired");
    assert_eq!(events.next().await?, None);
    Ok(())
}

#[tokio::test]
async fn a_reader_that_stops_too_long_is_told_that_it_is_too_late() -> Result<()> {
    let embedded = Embedded::open_with(|options| options.history_events = 10).await?;
    let start = embedded.revision().await?;
    let mut events = Events::start(&embedded, &format!("resourceVersion={start}")).await?;
    embedded.post(CONFIG_MAPS, &config_map("a")).await?;
    assert_eq!(events.names(1).await?, ["ADDED a"]);
    for value in 0..50 {
        write(&embedded, "a", value).await?;
    }
    let event = events.next().await?.context("an event tells why")?;
    assert_eq!(
        (&event["type"], &event["object"]["code"]),
        (&json!("ERROR"), &json!(410))
    );
    assert_eq!(events.next().await?, None);
    Ok(())
}

#[tokio::test]
async fn a_watch_shows_each_change_once_and_in_order() -> Result<()> {
    let embedded = Embedded::open().await?;
    let start = embedded.revision().await?;
    let mut events = Events::start(&embedded, &format!("resourceVersion={start}")).await?;
    for name in ["a", "b"] {
        embedded.post(CONFIG_MAPS, &config_map(name)).await?;
    }
    write(&embedded, "a", 7).await?;
    // This one changes nothing, so nobody hears of it.
    write(&embedded, "a", 7).await?;
    embedded
        .send(bare(Method::DELETE, &format!("{CONFIG_MAPS}/b")))
        .await?;
    let expected = ["ADDED a", "ADDED b", "MODIFIED a", "DELETED b"];
    assert_eq!(events.names(4).await?, expected);
    Ok(())
}

#[tokio::test]
async fn initial_events_end_with_a_marked_bookmark() -> Result<()> {
    let embedded = Embedded::open().await?;
    embedded.post(CONFIG_MAPS, &config_map("a")).await?;
    let revision = embedded.revision().await?;
    let query = "sendInitialEvents=true&resourceVersionMatch=NotOlderThan\
                 &allowWatchBookmarks=true&fieldSelector=metadata.name%3Da";
    let mut events = Events::start(&embedded, query).await?;
    assert_eq!(events.names(1).await?, ["ADDED a"]);
    let bookmark = events.next().await?.context("a bookmark follows")?;
    assert_eq!(bookmark["type"], "BOOKMARK");
    let metadata = &bookmark["object"]["metadata"];
    assert_eq!(
        metadata["annotations"],
        json!({"k8s.io/initial-events-end": "true"})
    );
    assert_eq!(metadata["resourceVersion"], revision.to_string());
    write(&embedded, "a", 2).await?;
    assert_eq!(events.names(1).await?, ["MODIFIED a"]);
    Ok(())
}

#[tokio::test]
async fn a_watch_ends_when_its_time_is_up_with_a_bookmark_shortly_before() -> Result<()> {
    let embedded = Embedded::open().await?;
    let revision = embedded.revision().await?;
    let query = format!("resourceVersion={revision}&timeoutSeconds=3&allowWatchBookmarks=true");
    let mut events = Events::start(&embedded, &query).await?;
    let bookmark = events.next().await?.context("a bookmark comes first")?;
    assert_eq!(bookmark["type"], "BOOKMARK");
    assert_eq!(
        bookmark["object"]["metadata"]["resourceVersion"],
        revision.to_string()
    );
    assert_eq!(events.next().await?, None);
    Ok(())
}

#[tokio::test]
async fn watches_end_when_the_cluster_closes() -> Result<()> {
    let embedded = Embedded::open().await?;
    let revision = embedded.revision().await?;
    let mut events = Events::start(&embedded, &format!("resourceVersion={revision}")).await?;
    let ended = tokio::spawn(async move { events.next().await });
    embedded.cluster.clone().close().await;
    assert_eq!(ended.await??, None);
    Ok(())
}
