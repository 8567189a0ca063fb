//! The clock that a cluster is given says how things are dated and when tokens end.

use anyhow::{Context, Result};
use http::Request;
use http_body_util::Empty;
use jiff::{SignedDuration, Timestamp};
use pathline_clock::Clock;
use serde_json::json;
use tower::ServiceExt;

use crate::api_fixture::Embedded;

const START: &str = "2026-01-01T00:00:00Z";

/// Opens a cluster in which it is [`START`] until the clock is set.
async fn open() -> Result<(Embedded, Clock, Timestamp)> {
    let start = START.parse()?;
    let clock = Clock::standing(start);
    let cluster = Embedded::open_with(|options| options.clock = clock.clone()).await?;
    Ok((cluster, clock, start))
}

#[tokio::test]
async fn objects_are_dated_by_the_clock() -> Result<()> {
    let (cluster, clock, start) = open().await?;
    let found = cluster.get("/api/v1/namespaces/default").await?;
    assert_eq!(found.body["metadata"]["creationTimestamp"], START);
    clock.set(start + SignedDuration::from_hours(1));
    let namespace = json!({"metadata": {"name": "later"}});
    let made = cluster.post("/api/v1/namespaces", &namespace).await?;
    let created = &made.body["metadata"]["creationTimestamp"];
    assert_eq!(created, "2026-01-01T01:00:00Z");
    Ok(())
}

#[tokio::test]
async fn token_of_an_account_ends_when_the_clock_says_so() -> Result<()> {
    let (cluster, clock, start) = open().await?;
    let path = "/api/v1/namespaces/default/serviceaccounts/default/token";
    let request = json!({"spec": {"expirationSeconds": 600}});
    let issued = cluster.post(path, &request).await?.body;
    assert_eq!(
        issued["status"]["expirationTimestamp"],
        "2026-01-01T00:10:00Z"
    );
    let token = issued["status"]["token"].as_str().context("a token")?;
    let ask = async || {
        let request = Request::get("/api/v1/namespaces/default")
            .header("authorization", format!("Bearer {token}"))
            .body(Empty::<bytes::Bytes>::new())?;
        let answer = cluster.cluster.service().oneshot(request).await?;
        anyhow::Ok(answer.status().as_u16())
    };
    clock.set(start + SignedDuration::from_secs(599));
    assert_eq!(ask().await?, 200);
    clock.set(start + SignedDuration::from_secs(600));
    assert_eq!(ask().await?, 401);
    Ok(())
}
