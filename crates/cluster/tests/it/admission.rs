//! Writes that someone may refuse or comment on.

use std::sync::Arc;

use anyhow::Result;
use http::Method;
use pathline_cluster::{Admission, Review, Verdict};
use serde_json::{Value, json};

use crate::api_fixture::{Answer, Embedded, with_body};

/// Refuses config maps that say so, and comments on those that ask for it.
#[derive(Debug)]
struct Obedient;

impl Admission for Obedient {
    fn name(&self) -> &str {
        "obedient.example.com"
    }

    fn review(&self, review: &Review<'_>) -> Verdict {
        let says = |object: Option<&Value>, word: &str| {
            object.is_some_and(|object| object["data"]["say"] == word)
        };
        if review.kind != "ConfigMap" {
            return Verdict::silent();
        }
        if says(review.old, "frozen") {
            return Verdict::Denied("it is frozen".to_owned());
        }
        match review.object["data"]["say"].as_str() {
            Some("no") => Verdict::Denied("it says no".to_owned()),
            Some("well") => Verdict::Allowed(vec!["well, well".to_owned()]),
            _ => Verdict::silent(),
        }
    }
}

async fn cluster() -> Result<Embedded> {
    Embedded::open_with(|options| options.admission = Some(Arc::new(Obedient))).await
}

fn config_map(say: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"say": say}})
}

const MAPS: &str = "/api/v1/namespaces/default/configmaps";
const MAP: &str = "/api/v1/namespaces/default/configmaps/a";

fn assert_denied(answer: &Answer, why: &str) {
    let message = format!("admission webhook \"obedient.example.com\" denied the request: {why}");
    assert_eq!(answer.code, 403, "{}", answer.body);
    assert_eq!(answer.body["reason"], "Forbidden");
    assert_eq!(answer.body["message"], message);
}

#[tokio::test]
async fn a_refused_write_is_denied_as_by_a_webhook_and_leaves_nothing() -> Result<()> {
    let cluster = cluster().await?;
    assert_denied(&cluster.post(MAPS, &config_map("no")).await?, "it says no");
    let dry = format!("{MAPS}?dryRun=All");
    assert_denied(&cluster.post(&dry, &config_map("no")).await?, "it says no");
    assert_eq!(cluster.get(MAP).await?.code, 404);
    Ok(())
}

#[tokio::test]
async fn every_way_to_change_an_object_is_reviewed_with_what_was_there() -> Result<()> {
    let cluster = cluster().await?;
    assert_eq!(cluster.post(MAPS, &config_map("frozen")).await?.code, 201);
    let merge = json!({"data": {"say": "yes"}});
    let apply = format!("{MAP}?fieldManager=test&force=true");
    let ways = [
        (Method::PUT, MAP, "application/json", config_map("yes")),
        (Method::PATCH, MAP, "application/merge-patch+json", merge),
        (
            Method::PATCH,
            &apply,
            "application/apply-patch+yaml",
            config_map("yes"),
        ),
    ];
    for (method, path, media_type, body) in ways {
        let request = with_body(method, path, media_type, body.to_string());
        assert_denied(&cluster.send(request).await?, "it is frozen");
    }
    assert_eq!(cluster.get(MAP).await?.body["data"]["say"], "frozen");
    Ok(())
}

#[tokio::test]
async fn warnings_of_an_allowed_write_reach_the_client() -> Result<()> {
    let cluster = cluster().await?;
    let answer = cluster.post(MAPS, &config_map("well")).await?;
    assert_eq!(answer.code, 201);
    assert_eq!(answer.headers["warning"], "299 - \"well, well\"");
    Ok(())
}
