use std::collections::HashMap;

use serde_json::{Value, json};

use crate::tracked::{Seen, Tracked};
use crate::world::Answer;

/// Forms three releases of one tracker, and one of another.
async fn with_four() -> Tracked {
    let tracked = Tracked::new().await;
    tracked.make(json!({})).await;
    tracked.make(json!({"id": "a.c"})).await;
    let settings = [("one", "1"), ("two", "2"), ("three", "3")];
    for (index, (setting, commit)) in settings.into_iter().enumerate() {
        let seen = Seen {
            commit: commit.repeat(40),
            revision: Some(format!("{}{}", "a".repeat(39), index)),
            ..Seen::new(setting, &format!("sha256:{commit}"))
        };
        tracked.see("a.b", &seen).await.expect("it is formed");
    }
    let seen = Seen {
        commit: "3".repeat(40),
        ..Seen::new("one", "sha256:4")
    };
    tracked.see("a.c", &seen).await.expect("it is formed");
    tracked
}

fn numbers(answer: &Answer) -> Vec<String> {
    assert_eq!(answer.status, 200, "{answer:?}");
    let items = answer.body["items"].as_array().expect("it is there").iter();
    let name = |it: &Value| {
        format!(
            "{}#{}",
            it["tracker"].as_str().expect("it is there"),
            it["number"]
        )
    };
    items.map(name).collect()
}

async fn found(tracked: &Tracked, query: &str) -> Vec<String> {
    numbers(&tracked.get(&format!("/releases?{query}")).await)
}

#[tokio::test]
async fn releases_are_listed_with_the_newest_first() {
    let tracked = with_four().await;
    let answer = tracked.get("/releases").await;
    assert_eq!(numbers(&answer), ["a.c#1", "a.b#3", "a.b#2", "a.b#1"]);
    assert_eq!(answer.body.get("continue"), None);
    let third = &answer.body["items"][1];
    assert_eq!(third["previous"], 2);
    assert_eq!(third["cause"], "container_updated");
    assert_eq!(third["from"]["commit"], "3".repeat(40));
    assert_eq!(third["image"]["digest"], "sha256:3");
    assert_eq!(third["image"]["revision"], format!("{}2", "a".repeat(39)));
    assert_eq!(third["entries"][0]["state"], "queued");
    let second = &answer.body["items"][2];
    assert_eq!(second["entries"][0]["supersededBy"], 3);
}

#[tokio::test]
async fn releases_are_found_by_their_tracker() {
    let tracked = with_four().await;
    assert_eq!(found(&tracked, "tracker=a.c").await, ["a.c#1"]);
    let of_first = ["a.b#3", "a.b#2", "a.b#1"];
    assert_eq!(found(&tracked, "tracker=A.B").await, of_first);
    assert_eq!(found(&tracked, "tracker=x.y").await, [""; 0]);
    let deleted = tracked.ask(axum::http::Method::DELETE, "/trackers/a.b");
    assert_eq!(deleted.await.status, 204);
    assert_eq!(found(&tracked, "tracker=a.b").await, of_first, "they stay");
}

#[tokio::test]
async fn releases_are_found_by_the_commit_of_the_file_and_of_the_image() {
    let tracked = with_four().await;
    assert_eq!(found(&tracked, "commit=2222222").await, ["a.b#2"]);
    assert_eq!(found(&tracked, "commit=3333333").await, ["a.c#1", "a.b#3"]);
    let both = found(&tracked, "commit=3333333&tracker=a.b").await;
    assert_eq!(both, ["a.b#3"]);
    let image = format!("commit={}0", "a".repeat(39));
    assert_eq!(found(&tracked, &image).await, ["a.b#1"]);
    let of_images = found(&tracked, "commit=AAAAAAA").await;
    assert_eq!(of_images, ["a.b#3", "a.b#2", "a.b#1"]);
    assert_eq!(found(&tracked, "commit=4444444").await, [""; 0]);
}

#[tokio::test]
async fn releases_come_in_pages() {
    let tracked = with_four().await;
    for filter in ["", "&tracker=a.b", "&commit=aaaaaaa"] {
        let all = found(&tracked, &filter.replacen('&', "", 1)).await;
        let mut paged = Vec::new();
        let mut next = String::new();
        loop {
            let page = tracked
                .get(&format!("/releases?limit=1{filter}{next}"))
                .await;
            paged.extend(numbers(&page));
            match page.body["continue"].as_str() {
                Some(cursor) => next = format!("&continue={cursor}"),
                None => break,
            }
        }
        assert_eq!(paged, all, "{filter}");
    }
}

#[tokio::test]
async fn release_is_shown_by_its_first_digits() {
    let tracked = with_four().await;
    let listed = tracked.get("/releases?tracker=a.c").await.body["items"][0].clone();
    let id = listed["id"].as_str().unwrap();
    for id in [id, &id[..7], &id[..7].to_ascii_uppercase()] {
        let shown = tracked.get(&format!("/releases/{id}")).await;
        assert_eq!(shown.status, 200, "{id}");
        for (field, value) in listed.as_object().unwrap() {
            assert_eq!(&shown.body[field], value, "{field}");
        }
    }
}

#[tokio::test]
async fn unknown_release_is_not_found() {
    let tracked = with_four().await;
    for id in ["0".repeat(64), "0".repeat(7)] {
        let answer = tracked.get(&format!("/releases/{id}")).await;
        let told = (answer.status.as_u16(), answer.code());
        assert_eq!(told, (404, "not-found"), "{id}");
    }
}

#[tokio::test]
async fn questions_that_make_no_sense_are_refused() {
    let tracked = with_four().await;
    for path in [
        "/releases/000000",
        "/releases/zzzzzzz",
        "/releases/0000000%00",
        "/releases/..%2F0000",
        "/releases/%ff",
        &format!("/releases/{}", "0".repeat(65)),
        &format!("/releases/{}", "0".repeat(10_000)),
        "/releases?commit=333333",
        "/releases?commit=3333333%25",
        "/releases?commit=",
        "/releases?tracker=",
        "/releases?tracker=a",
        "/releases?limit=0",
        "/releases?limit=501",
        "/releases?limit=x",
        "/releases?continue=x",
        "/releases?continue=",
        "/releases?what=1",
    ] {
        let answer = tracked.get(path).await;
        let told = (answer.status.as_u16(), answer.code());
        assert_eq!(told, (400, "bad-request"), "{path}");
    }
}

/// Ids are hashes, so a pair that begins alike is looked for among many images.
#[tokio::test]
async fn digits_that_two_releases_begin_with_are_refused() {
    let tracked = Tracked::new().await;
    tracked.make(json!({})).await;
    let stored = tracked.stored("a.b").await;
    let first = Seen::new("one", "sha256:0").result(&stored);
    let release = first.release.clone().unwrap();
    let id_of = |number: u64, digest: usize| {
        let mut release = release.clone();
        release.number = number;
        release.image.digest = format!("sha256:{digest}");
        release.id(&stored.uid)[..7].to_owned()
    };
    let ones: HashMap<_, _> = (0..60_000).map(|it| (id_of(1, it), it)).collect();
    let pair = (0..).find_map(|digest| {
        let digits = id_of(2, digest);
        let one = *ones.get(&digits).filter(|it| **it != digest)?;
        Some((one, digest, digits))
    });
    let (one, two, digits) = pair.unwrap();
    for digest in [one, two] {
        let seen = Seen::new("one", &format!("sha256:{digest}"));
        tracked.see("a.b", &seen).await.expect("it is formed");
    }
    let answer = tracked.get(&format!("/releases/{digits}")).await;
    let told = (answer.status.as_u16(), answer.code());
    assert_eq!(told, (400, "bad-request"), "{answer:?}");
    let list = tracked.get("/releases").await;
    for release in list.body["items"].as_array().unwrap() {
        let id = release["id"].as_str().unwrap();
        assert_eq!(id[..7], digits);
        let shown = tracked.get(&format!("/releases/{id}")).await;
        assert_eq!(shown.body["number"], release["number"]);
    }
}
