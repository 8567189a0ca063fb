use axum::http::header;
use serde_json::json;

use crate::tracked::Tracked;
use crate::world::Answer;

const NAMES: [&str; 5] = ["A.x", "a.b", "a.b-1", "a.b_2", "b.a"];

fn ids(answer: &Answer) -> Vec<&str> {
    assert_eq!(answer.status, 200, "{answer:?}");
    let items = answer.body.as_array().expect("it is there").iter();
    items
        .map(|it| it["id"].as_str().expect("it is there"))
        .collect()
}

fn next(answer: &Answer) -> Option<String> {
    let link = answer
        .headers
        .get(header::LINK)?
        .to_str()
        .expect("it is there");
    let path = link.strip_prefix('<').expect("it is there");
    let path = path.strip_suffix(">; rel=\"next\"").expect("it is there");
    Some(path.to_owned())
}

async fn with_five() -> Tracked {
    let tracked = Tracked::new().await;
    for id in NAMES.iter().rev() {
        tracked.make(json!({"id": id})).await;
    }
    tracked
}

#[tokio::test]
async fn list_comes_in_pages_each_of_which_leads_to_the_next() {
    let tracked = with_five().await;
    let mut path = "/trackers?limit=2".to_owned();
    let mut pages = Vec::new();
    loop {
        let answer = tracked.get(&path).await;
        pages.push(ids(&answer).join(" "));
        match next(&answer) {
            Some(next) => path = next,
            None => break,
        }
    }
    assert_eq!(pages, ["A.x a.b", "a.b-1 a.b_2", "b.a"]);
    let slash = tracked.get("/trackers/?limit=2&continue=a.b_2").await;
    assert_eq!((ids(&slash), next(&slash)), (vec!["b.a"], None));
}

#[tokio::test]
async fn page_that_is_just_full_is_the_last_one() {
    let tracked = with_five().await;
    let answer = tracked.get("/trackers?limit=5").await;
    assert_eq!((ids(&answer), next(&answer)), (NAMES.to_vec(), None));
    let all = tracked.get("/trackers").await;
    assert_eq!((ids(&all), next(&all)), (NAMES.to_vec(), None));
}

#[tokio::test]
async fn list_goes_on_after_a_tracker_that_was_deleted_meanwhile() {
    let tracked = with_five().await;
    let first = tracked.get("/trackers?limit=2").await;
    let deleted = tracked.ask(axum::http::Method::DELETE, "/trackers/a.b");
    assert_eq!(deleted.await.status, 204);
    let second = tracked.get(&next(&first).unwrap()).await;
    assert_eq!(ids(&second), ["a.b-1", "a.b_2"]);
}

#[tokio::test]
async fn pages_that_make_no_sense_are_refused() {
    let tracked = with_five().await;
    for query in [
        "limit=0",
        "limit=501",
        "limit=-1",
        "limit=x",
        "limit=",
        "continue=a.b",
        "limit=1&limit=2",
        "limit=2&continue=",
        "limit=2&continue=x",
        "limit=2&continue=a.b%00",
        "page=2",
    ] {
        let answer = tracked.get(&format!("/trackers?{query}")).await;
        let told = (answer.status.as_u16(), answer.code());
        assert_eq!(told, (400, "bad-request"), "{query}");
    }
}
