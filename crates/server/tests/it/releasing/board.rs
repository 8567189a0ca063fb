//! The board.

use futures::StreamExt;
use serde_json::{Value, json};

use super::{Releasing, told};
use crate::tracked::Seen;

fn names(body: &Value) -> Vec<&str> {
    let all = body["items"].as_array().expect("a list").iter();
    all.filter_map(|it| it["tracker"].as_str()).collect()
}

#[tokio::test]
async fn board_has_the_release_that_matters_in_each_environment() {
    let releasing = Releasing::with(&[
        ("dev", json!({"type": "dev"})),
        ("prod", json!({"type": "prod", "promotion": "manual"})),
    ])
    .await;
    releasing.tracked.make(json!({"id": "a.c"})).await;
    let first = releasing.release("one", "sha256:1").await;
    releasing.deploy("dev", first).await;
    releasing
        .post(
            "/environments/prod/promote",
            json!({"tracker": "a.b", "now": true}),
        )
        .await;
    releasing
        .report("prod", first, pathline_release::queue::Report::Ready)
        .await;
    let seen = Seen {
        tag: Some("1.1.0"),
        ..Seen::new("two", "sha256:2")
    };
    releasing.release_of("a.b", &seen).await;
    releasing.deploy("dev", 2).await;

    let board = releasing.get("/releases/board").await;

    assert_eq!(board.status, 200, "{board:?}");
    assert_eq!(board.body["environments"], json!(["dev", "prod"]));
    assert_eq!(names(&board.body), ["a.b", "a.c"]);
    let (dev, prod) = (
        &board.body["items"][0]["environments"][0],
        &board.body["items"][0]["environments"][1],
    );
    assert_eq!((&dev["deployed"], &dev["release"]), (&json!(2), &json!(2)));
    assert_eq!(
        (&dev["state"], &dev["tag"]),
        (&json!("deployed"), &json!("1.1.0"))
    );
    assert_eq!(
        (&prod["deployed"], &prod["release"]),
        (&json!(1), &json!(2))
    );
    assert_eq!(prod["state"], "held");
    assert!(prod["since"].is_string());
    let sentence = prod["sentence"].as_str().unwrap();
    assert!(
        sentence.contains("`pathline release promote prod a.b --release 2`"),
        "{sentence}"
    );
    assert_eq!(
        board.body["items"][1]["environments"],
        json!([]),
        "it has no release"
    );
    let one = releasing
        .get("/releases/board?tracker=A.B&environment=prod")
        .await
        .body;
    assert_eq!(one["environments"], json!(["prod"]));
    assert_eq!(one["items"][0]["environments"][0], *prod);
}

#[tokio::test]
async fn board_is_read_page_by_page() {
    let releasing = Releasing::new().await;
    for name in ["a.c", "a.d", "b.a"] {
        releasing.tracked.make(json!({"id": name})).await;
    }
    let mut path = "/releases/board?limit=3".to_owned();
    let first = releasing.get(&path).await.body;
    assert_eq!(names(&first), ["a.b", "a.c", "a.d"]);
    path += &format!("&continue={}", first["continue"].as_str().unwrap());
    let second = releasing.get(&path).await.body;
    assert_eq!(names(&second), ["b.a"]);
    assert_eq!(second.get("continue"), None);
    for query in [
        "limit=0",
        "limit=1001",
        "limit=x",
        "continue=!",
        "more=1",
        "tracker=a",
        "environment=A",
    ] {
        let wrong = releasing.get(&format!("/releases/board?{query}")).await;
        assert_eq!(told(&wrong), (400, "bad-request"), "{query}");
    }
}

#[tokio::test]
async fn board_of_a_thousand_trackers_takes_as_many_statements_as_that_of_one() {
    let environments = ["dev", "ha", "preprod", "prod"].map(|it| (it, json!({"type": it})));
    let releasing = Releasing::with(&environments).await;
    let ledger = &releasing.tracked.world.ledger;
    // What the ledger does by itself, and the note that the token is used, can only add to it.
    let statements = async |path: &str| {
        let mut fewest = u64::MAX;
        for _ in 0..5 {
            let before = ledger.statements();
            assert_eq!(releasing.get(path).await.status, 200);
            fewest = fewest.min(ledger.statements() - before);
            tokio::time::sleep(std::time::Duration::from_millis(100)).await;
        }
        fewest
    };
    let of_token = 1;
    let path = "/releases/board?limit=1000";
    releasing.release("one", "sha256:1").await;
    assert_eq!(statements(path).await, of_token + 3);
    let others = futures::stream::iter(0..999);
    // Many at once share a transaction.
    let made = others.for_each_concurrent(100, async |number| {
        let name = format!("shop.web{number}");
        releasing.tracked.make(json!({"id": name})).await;
        let seen = Seen::new("one", "sha256:1");
        releasing.release_of(&name, &seen).await;
    });
    made.await;
    assert_eq!(statements(path).await, of_token + 3);
    let board = releasing.get(path).await.body;
    assert_eq!(names(&board).len(), 1000);
    assert_eq!(board["items"][999]["environments"][0]["state"], "queued");
}
