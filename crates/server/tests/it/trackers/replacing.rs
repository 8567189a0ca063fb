use axum::http::{Method, Request, header};
use serde_json::{Value, json};

use crate::tracked::{Seen, TOKEN, Tracked, details, with};
use crate::world::Answer;

fn told(answer: &Answer) -> (u16, &str) {
    (answer.status.as_u16(), answer.code())
}

fn edition(answer: &Answer) -> (&Value, &Value) {
    assert_eq!(answer.status, 200, "{answer:?}");
    (&answer.body["generation"], &answer.body["tokenVersion"])
}

async fn with_one() -> Tracked {
    let tracked = Tracked::new().await;
    tracked.make(json!({})).await;
    tracked
}

async fn put_if(tracked: &Tracked, tag: &str, body: &Value) -> Answer {
    let request = Request::put("/trackers/a.b")
        .header(header::CONTENT_TYPE, "application/json")
        .header(header::IF_MATCH, tag);
    tracked.send_raw(request, body.to_string()).await
}

#[tokio::test]
async fn h35_unknown_name_is_not_made() {
    let tracked = Tracked::new().await;
    let answer = tracked.put("a.b", &with(json!({}))).await;
    assert_eq!(told(&answer), (404, "not-found"));
    assert_eq!(tracked.get("/trackers").await.body, json!([]));
}

#[tokio::test]
async fn h36_same_content_changes_nothing() {
    let tracked = with_one().await;
    let before = tracked.get("/trackers/a.b").await;
    let answer = tracked.put("a.b", &with(json!({}))).await;
    assert_eq!(edition(&answer), (&json!(1), &json!(1)));
    assert_eq!(answer.headers["etag"], "\"1.1\"");
    assert_eq!(answer.body, before.body);
    let changes = tracked.world.ledger.trackers().changes(0, 10).await;
    assert_eq!(changes.unwrap().len(), 1, "nothing happened");
}

#[tokio::test]
async fn h36_answer_can_be_sent_back() {
    let tracked = with_one().await;
    let shown = tracked.get("/trackers/a.b").await.body;
    let answer = tracked.put("a.b", &shown).await;
    assert_eq!(edition(&answer), (&json!(1), &json!(1)));
    tracked.make(json!({"id": "a.c", "branch": "main"})).await;
    tracked.see("a.c", &Seen::new("one", "sha256:1")).await;
    let mut shown = tracked.get("/trackers/a.c").await.body;
    shown["branch"] = json!("dev");
    let answer = tracked.put("a.c", &shown).await;
    assert_eq!(edition(&answer), (&json!(2), &json!(1)));
}

#[tokio::test]
async fn h37_tracker_is_not_renamed() {
    let tracked = with_one().await;
    let answer = tracked.put("a.b", &with(json!({"id": "x.y"}))).await;
    assert_eq!(details(&answer), [("id", "id-mismatch")]);
    let left_out = tracked.put("a.b", &with(json!({"id": null}))).await;
    assert_eq!(left_out.status, 200);
    let spelled = tracked.put("A.B", &with(json!({"id": "a.B"}))).await;
    assert_eq!(
        (spelled.status.as_u16(), &spelled.body["id"]),
        (200, &json!("a.b"))
    );
}

#[tokio::test]
async fn h38_token_that_is_left_out_stays() {
    let tracked = with_one().await;
    let body = with(json!({"token": null, "sourcePath": "deploy"}));
    let answer = tracked.put("a.b", &body).await;
    assert_eq!(edition(&answer), (&json!(2), &json!(1)));
    assert_eq!(answer.body["hasToken"], true);
    let uid = tracked.stored("a.b").await.uid;
    let kept = tracked.world.ledger.trackers().token(&uid).await.unwrap();
    assert_eq!(kept.unwrap().reveal(), TOKEN);
}

#[tokio::test]
async fn h39_stored_token_is_sent_to_no_other_repository() {
    let tracked = with_one().await;
    let before = tracked.get("/trackers/a.b").await.body;
    for repo in ["o/other", "other/r"] {
        let body = with(json!({"token": null, "repo": repo}));
        let answer = tracked.put("a.b", &body).await;
        assert_eq!(details(&answer), [("token", "token-required")], "{repo}");
    }
    assert_eq!(tracked.get("/trackers/a.b").await.body, before);
    let body = with(json!({"token": "", "repo": "o/other"}));
    let answer = tracked.put("a.b", &body).await;
    assert_eq!(edition(&answer), (&json!(2), &json!(2)));
    assert_eq!(answer.body["hasToken"], false);
    let body = with(json!({"token": null, "repo": "o/third"}));
    let answer = tracked.put("a.b", &body).await;
    assert_eq!(answer.status, 200, "there is no token that could leak");
}

#[tokio::test]
async fn h40_another_branch_is_read_anew() {
    let tracked = with_one().await;
    tracked.see("a.b", &Seen::new("one", "sha256:1")).await;
    let seen = tracked.get("/trackers/a.b").await.body;
    assert_eq!(seen["status"]["lastRelease"]["number"], 1);
    let answer = tracked.put("a.b", &with(json!({"branch": "dev"}))).await;
    assert_eq!(edition(&answer), (&json!(2), &json!(1)));
    assert_eq!(answer.headers["etag"], "\"2.1\"");
    assert_eq!(answer.body["branch"], "dev");
    assert_eq!(answer.body["status"].get("source"), None, "it is read anew");
    assert_eq!(answer.body["status"]["lastRelease"]["number"], 1);
}

#[tokio::test]
async fn another_token_alone_is_no_other_generation() {
    let tracked = with_one().await;
    let answer = tracked.put("a.b", &with(json!({"token": "other"}))).await;
    assert_eq!(edition(&answer), (&json!(1), &json!(2)));
    assert_eq!(answer.headers["etag"], "\"1.2\"");
}

#[tokio::test]
async fn h41_stale_edition_is_neither_replaced_nor_deleted() {
    let tracked = with_one().await;
    let other = with(json!({"branch": "dev"}));
    for tag in [
        "\"2.1\"",
        "\"1.0\"",
        "1.1",
        "W/\"1.1\"",
        "\"x\"",
        "\"\"",
        "",
    ] {
        let answer = put_if(&tracked, tag, &other).await;
        assert_eq!(told(&answer), (412, "stale"), "{tag}");
        let request = Request::delete("/trackers/a.b").header(header::IF_MATCH, tag);
        let answer = tracked.send_raw(request, "").await;
        assert_eq!(told(&answer), (412, "stale"), "{tag}");
    }
    let shown = tracked.get("/trackers/a.b").await;
    assert_eq!(
        (shown.status.as_u16(), &shown.headers["etag"]),
        (200, &"\"1.1\"".parse().unwrap())
    );
}

#[tokio::test]
async fn h41_right_edition_is_replaced_and_deleted() {
    let tracked = with_one().await;
    let dev = with(json!({"branch": "dev"}));
    assert_eq!(put_if(&tracked, "\"1.1\"", &dev).await.status, 200);
    let stale = put_if(&tracked, "\"1.1\"", &with(json!({}))).await;
    assert_eq!(told(&stale), (412, "stale"));
    assert_eq!(put_if(&tracked, "*", &with(json!({}))).await.status, 200);
    let request = Request::delete("/trackers/a.b").header(header::IF_MATCH, "\"3.1\"");
    assert_eq!(tracked.send_raw(request, "").await.status, 204);
    let request = Request::put("/trackers/a.b").header(header::IF_MATCH, "*");
    let request = request.header(header::CONTENT_TYPE, "application/json");
    let answer = tracked.send_raw(request, dev.to_string()).await;
    assert_eq!(told(&answer), (404, "not-found"));
}

#[tokio::test]
async fn one_of_several_editions_will_do() {
    let tracked = with_one().await;
    let (dev, main) = (with(json!({"branch": "dev"})), with(json!({})));
    for (tags, body, status) in [
        ("\"7.1\", \"2.1\"", &dev, 412),
        ("W/\"1.1\", \"2.1\"", &dev, 412),
        ("\"7.1\" , ,\"1.1\"", &dev, 200),
        ("\"1.1\",\"2.1\"", &main, 200),
        ("\"1.1\", *", &dev, 412),
        ("*", &dev, 200),
    ] {
        let answer = put_if(&tracked, tags, body).await;
        assert_eq!(answer.status, status, "{tags}: {answer:?}");
    }
    let lines = |tags: [&str; 2]| {
        let request = Request::delete("/trackers/a.b").header(header::IF_MATCH, tags[0]);
        request.header(header::IF_MATCH, tags[1])
    };
    let stale = tracked.send_raw(lines(["\"1.1\"", "\"2.1\""]), "").await;
    assert_eq!(told(&stale), (412, "stale"));
    let deleted = tracked.send_raw(lines(["\"1.1\"", "\"4.1\""]), "").await;
    assert_eq!(deleted.status, 204);
}

#[tokio::test]
async fn replacement_is_checked_like_a_new_one() {
    let tracked = with_one().await;
    let path = "/trackers/a.b";
    for (body, status) in [("[1]", 400), ("{", 400), ("{}", 422)] {
        let request = Request::put(path).header(header::CONTENT_TYPE, "application/json");
        assert_eq!(
            tracked.send_raw(request, body).await.status,
            status,
            "{body}"
        );
    }
    let plain = Request::put(path).header(header::CONTENT_TYPE, "text/plain");
    assert_eq!(
        told(&tracked.send_raw(plain, "{}").await),
        (415, "not-json")
    );
    let request = Request::put(path).header(header::CONTENT_TYPE, "application/json");
    let large = tracked.send_raw(request, " ".repeat(65_537)).await;
    assert_eq!(told(&large), (413, "too-large"));
    let empty = tracked.send(Method::PUT, path, &json!({})).await;
    assert_eq!(
        details(&empty),
        [("repo", "required"), ("sourcePath", "required")]
    );
}
