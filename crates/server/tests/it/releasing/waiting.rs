//! Waits for releases.

use std::time::Duration;

use axum::body::Body;
use axum::http::{Method, Request};
use futures::StreamExt;
use pathline_release::queue::Report;
use serde_json::{Value, json};
use tokio::time::timeout;

use super::{Releasing, told};
use crate::tracked::Seen;
use crate::world::Answer;

const LIMIT: Duration = Duration::from_secs(60);

async fn wait(releasing: &Releasing, query: &str) -> Answer {
    let path = format!("/trackers/a.b/wait?{query}");
    let answer = timeout(LIMIT, releasing.get(&path)).await;
    answer.expect("an answer")
}

/// Returns the state, the reason if it is impossible, and the sentence.
fn said(answer: &Answer) -> (String, String, String) {
    assert_eq!(answer.status, 200, "{answer:?}");
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let body = &answer.body;
    (
        text(&body["state"]),
        text(&body["impossible"]["reason"]),
        text(&body["sentence"]),
    )
}

fn of_commit(setting: &'static str, digest: &str, commit: &str) -> Seen {
    Seen {
        commit: commit.repeat(40),
        ..Seen::new(setting, digest)
    }
}

#[tokio::test]
async fn wait_ends_as_soon_as_the_commit_is_deployed() {
    let releasing = Releasing::new().await;
    let (state, _, sentence) =
        said(&wait(&releasing, "commit=1111111&environment=dev&timeout=0").await);
    assert_eq!(state, "waiting");
    assert!(
        sentence.starts_with("there is no release of commit 1111111 yet"),
        "{sentence}"
    );
    let number = releasing
        .release_of("a.b", &of_commit("one", "sha256:1", "1"))
        .await;
    let (state, _, sentence) =
        said(&wait(&releasing, "commit=1111111&environment=dev&timeout=0").await);
    assert_eq!(state, "waiting");
    assert!(sentence.starts_with("release 1 is queued"), "{sentence}");
    let deploying = async {
        tokio::time::sleep(Duration::from_millis(300)).await;
        releasing.write("dev", "a.b@1").await;
        releasing.deploy("dev", number).await;
    };
    let waiting = wait(&releasing, "commit=1111111&environment=dev&timeout=50");
    let (answer, ()) = tokio::join!(waiting, deploying);
    assert_eq!(said(&answer).0, "holds");
    assert_eq!(answer.body["release"], 1);
    assert_eq!(answer.body["entry"], "deployed");
    let (state, ..) = said(&wait(&releasing, "release=1&environment=dev").await);
    assert_eq!(state, "holds");
}

#[tokio::test]
async fn stream_tells_each_state_until_it_is_decided() {
    let releasing = Releasing::new().await;
    let number = releasing.release("one", "sha256:1").await;
    let request = Request::get("/trackers/a.b/wait?release=1&environment=dev");
    let request = request.header("accept", "text/event-stream");
    let tracked = &releasing.tracked;
    let answer = tracked
        .world
        .open(request, Some(&tracked.writer), Body::empty());
    let mut body = answer.await.into_body().into_data_stream();
    let reading = async {
        let mut text = String::new();
        while let Some(chunk) = body.next().await {
            text += &String::from_utf8_lossy(&chunk.expect("a chunk"));
        }
        text
    };
    let deploying = async {
        tokio::time::sleep(Duration::from_millis(300)).await;
        releasing.tick("dev").await;
        tokio::time::sleep(Duration::from_millis(300)).await;
        releasing.write("dev", "a.b@1").await;
        releasing.report("dev", number, Report::Ready).await;
    };
    let both = async { tokio::join!(reading, deploying) };
    let (text, ()) = timeout(LIMIT, both).await.expect("it ends");
    assert!(text.contains("is queued"), "{text}");
    assert!(text.contains("is being deployed"), "{text}");
    assert!(
        text.trim_end()
            .lines()
            .last()
            .unwrap()
            .contains("\"holds\""),
        "{text}"
    );
}

#[tokio::test]
async fn commit_that_another_release_has_replaced_is_superseded() {
    let releasing = Releasing::new().await;
    releasing
        .release_of("a.b", &of_commit("one", "sha256:1", "1"))
        .await;
    releasing
        .release_of("a.b", &of_commit("two", "sha256:2", "2"))
        .await;
    let superseded = ("impossible".to_owned(), "superseded".to_owned());
    let (state, reason, sentence) = said(&wait(&releasing, "commit=1111111&environment=dev").await);
    assert_eq!((state, reason), superseded, "{sentence}");
    assert!(sentence.contains("superseded by release 2"), "{sentence}");
    releasing.write("dev", "a.b@2").await;
    releasing.deploy("dev", 2).await;
    let (state, ..) = said(&wait(&releasing, "commit=2222222&environment=dev").await);
    assert_eq!(state, "holds");
    // Another image with the same configuration is of the same commit.
    releasing
        .release_of("a.b", &of_commit("two", "sha256:3", "2"))
        .await;
    releasing.write("dev", "a.b@3").await;
    releasing.deploy("dev", 3).await;
    let answer = wait(&releasing, "commit=2222222&environment=dev").await;
    assert_eq!(said(&answer).0, "holds");
    assert_eq!(answer.body["release"], 3);
    let (state, reason, _) = said(&wait(&releasing, "release=2&environment=dev").await);
    assert_eq!((state, reason), superseded);
}

#[tokio::test]
async fn release_that_has_failed_on_its_way_ends_the_wait() {
    let releasing = Releasing::new().await;
    let number = releasing.release("one", "sha256:1").await;
    releasing.tick("dev").await;
    releasing
        .report("dev", number, Report::Failed("it crashes".to_owned()))
        .await;
    for environment in ["dev", "prod"] {
        let query = format!("release=1&environment={environment}");
        let (state, reason, sentence) = said(&wait(&releasing, &query).await);
        assert_eq!((state.as_str(), reason.as_str()), ("impossible", "failed"));
        assert!(sentence.contains("it crashes"), "{sentence}");
    }
}

#[tokio::test]
async fn application_that_keeps_out_never_gets_there() {
    let releasing = Releasing::with(&[
        ("dev", json!({"type": "dev"})),
        ("prod", json!({"type": "prod", "omitFromDeploy": ["a.b"]})),
    ])
    .await;
    releasing.release("one", "sha256:1").await;
    releasing.deploy("dev", 1).await;
    let (state, reason, sentence) = said(&wait(&releasing, "release=1&environment=prod").await);
    assert_eq!((state.as_str(), reason.as_str()), ("impossible", "never"));
    assert!(sentence.contains("keeps out"), "{sentence}");
}

#[tokio::test]
async fn tracker_that_is_deleted_meanwhile_is_gone() {
    let releasing = Releasing::new().await;
    releasing.release("one", "sha256:1").await;
    let deleting = async {
        tokio::time::sleep(Duration::from_millis(300)).await;
        releasing.tracked.ask(Method::DELETE, "/trackers/a.b").await
    };
    let waiting = wait(&releasing, "release=1&environment=prod&timeout=50");
    let (answer, deleted) = tokio::join!(waiting, deleting);
    assert_eq!(deleted.status, 204);
    assert_eq!(said(&answer).1, "gone");
}

#[tokio::test]
async fn wait_for_nothing_or_for_two_things_is_refused() {
    let releasing = Releasing::new().await;
    for query in [
        "environment=dev",
        "environment=dev&release=1&commit=1111111",
        "release=1",
        "environment=dev&commit=12",
        "environment=dev&release=0",
        "environment=dev&commit=1111111&timeout=601",
        "environment=dev&commit=1111111&more=1",
    ] {
        let wrong = wait(&releasing, query).await;
        assert_eq!(told(&wrong), (400, "bad-request"), "{query}");
    }
    let missing = wait(&releasing, "environment=dev&release=1").await;
    assert_eq!(told(&missing), (404, "not-found"));
}
