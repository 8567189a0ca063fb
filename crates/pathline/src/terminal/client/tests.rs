use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use axum::Router;
use axum::extract::{Path, Query, Request};
use axum::http::{HeaderMap, StatusCode};
use axum::response::IntoResponse;
use axum::routing::get;
use pathline_client::{Options, Secret};
use serde_json::{Value, json};

use super::*;

async fn serve(router: Router) -> SocketAddr {
    let listener = tokio::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
        .await
        .unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move { axum::serve(listener, router).await });
    address
}

fn mk_client(address: SocketAddr) -> Client {
    Client::find(&Options {
        server: Some(format!("http://{address}/base").parse().unwrap()),
        token: Some(Secret::new("let-me-in")),
        ..Options::default()
    })
    .unwrap()
}

async fn ask(router: Router) -> Result<Value, ClientError> {
    mk_client(serve(router).await).get(&["thing"], &[]).await
}

#[tokio::test]
async fn question_carries_the_token_and_encodes_what_is_asked_for() {
    async fn echo(
        Path(name): Path<String>,
        Query(query): Query<Vec<(String, String)>>,
        request: Request,
    ) -> impl IntoResponse {
        let token = request.headers()["authorization"].to_str().unwrap();
        axum::Json(json!({"name": name, "query": query, "token": token}))
    }
    let address = serve(Router::new().route("/base/things/{name}", get(echo))).await;
    let answer: Value = mk_client(address)
        .get(&["things", "a/b ?"], &[("contains", "image:x&y=1")])
        .await
        .unwrap();
    let query = json!([["contains", "image:x&y=1"]]);
    assert_eq!(
        answer,
        json!({"name": "a/b ?", "query": query, "token": "Bearer let-me-in"})
    );
}

#[tokio::test]
async fn refusal_is_told_in_the_words_of_the_server() {
    let problem =
        json!({"error": {"code": "not-found", "message": "no such thing", "hint": "look"}});
    let answer = move || async move { (StatusCode::NOT_FOUND, axum::Json(problem)) };
    let error = ask(Router::new().route("/base/thing", get(answer))).await;
    let error = error.unwrap_err();
    assert_eq!(error.to_string(), "no such thing");
    assert_eq!(error.hint().as_deref(), Some("look"));
    assert_eq!(error.exit(), Exit::No);
}

#[tokio::test]
async fn wrong_token_says_where_it_came_from() {
    for status in [StatusCode::UNAUTHORIZED, StatusCode::FORBIDDEN] {
        let answer = move || async move { (status, "go away") };
        let error = ask(Router::new().route("/base/thing", get(answer))).await;
        let error = error.unwrap_err();
        let hint = error.hint().unwrap();
        assert!(hint.contains("the variable PATHLINE_TOKEN"), "{hint}");
        assert!(hint.contains("pathline token create"), "{hint}");
        assert_eq!(error.exit(), Exit::Unknown);
    }
}

#[tokio::test]
async fn answer_of_something_else_is_no_answer() {
    let error = ask(Router::new().route("/base/thing", get(async || "<html>"))).await;
    let error = error.unwrap_err();
    assert!(matches!(error, ClientError::Foreign { .. }), "{error}");
    assert_eq!(error.exit(), Exit::Unknown);
}

#[tokio::test]
async fn nobody_there_asks_whether_pathline_runs() {
    let listener = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let error = mk_client(address).get::<Value>(&["thing"], &[]).await;
    let error = error.unwrap_err();
    assert!(matches!(error, ClientError::Unreachable { .. }), "{error}");
    assert!(error.hint().unwrap().contains("is Pathline running there?"));
}

#[tokio::test]
async fn events_go_on_after_the_last_one_when_the_connection_ends() {
    let attempts = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&attempts);
    let stream = move |headers: HeaderMap| {
        let attempt = counted.fetch_add(1, Ordering::SeqCst);
        async move {
            let last = headers.get("last-event-id").map(|id| id.to_str().unwrap());
            match (attempt, last) {
                (0, None) => "id: 1\ndata: first\n\n".into_response(),
                (1, Some("1")) => StatusCode::SERVICE_UNAVAILABLE.into_response(),
                (2, Some("1")) => "id: 2\nevent: end\ndata: second\n\n".into_response(),
                other => panic!("unexpected: {other:?}"),
            }
        }
    };
    let address = serve(Router::new().route("/base/stream", get(stream))).await;
    let mut events = mk_client(address).events(&["stream"], &[]);
    let mut breaks = 0;
    let first = events.next(|_| breaks += 1).await.unwrap();
    let second = events.next(|_| breaks += 1).await.unwrap();
    assert_eq!(first.data, "first");
    assert_eq!(
        (second.name.as_str(), second.data.as_str()),
        ("end", "second")
    );
    assert_eq!(breaks, 1, "the refusal was told");
}

#[tokio::test]
async fn stream_that_never_began_is_an_error_at_once() {
    let address = serve(Router::new()).await;
    let mut events = mk_client(address).events(&["stream"], &[]);
    let error = events.next(|_| panic!("no second attempt")).await;
    let error = error.unwrap_err();
    assert!(matches!(error, ClientError::Stranger { .. }), "{error}");
    assert_eq!(error.exit(), Exit::Unknown, "{error}");
}
