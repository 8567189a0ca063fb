use std::net::SocketAddr;
use std::time::Duration;

use axum::Router;
use axum::routing::get;
use pathline_server::{Limits, listen, serve};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

const REQUEST: &[u8] = b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";

struct Server {
    address: SocketAddr,
    shutdown: CancellationToken,
    ended: JoinHandle<()>,
}

async fn start(router: Router, limits: Limits) -> Server {
    let listener = listen("127.0.0.1:0", "--listen")
        .await
        .expect("a free port");
    let address = listener.local_addr().expect("a listener has an address");
    let shutdown = CancellationToken::new();
    let ended = tokio::spawn(serve(listener, router, limits, shutdown.clone()));
    Server {
        address,
        shutdown,
        ended,
    }
}

/// Reads until the server closes the connection.
async fn answer(stream: &mut TcpStream) -> String {
    let mut answer = String::new();
    stream
        .read_to_string(&mut answer)
        .await
        .expect("an answer in text");
    answer
}

#[tokio::test]
async fn serves_until_told_to_stop() {
    let server = start(Router::new().route("/", get("hello")), Limits::default()).await;
    let mut stream = TcpStream::connect(server.address).await.unwrap();
    stream.write_all(REQUEST).await.unwrap();
    let answer = answer(&mut stream).await;
    assert!(
        answer.starts_with("HTTP/1.1 200 OK") && answer.ends_with("hello"),
        "{answer}"
    );

    server.shutdown.cancel();
    server.ended.await.unwrap();
    assert!(TcpStream::connect(server.address).await.is_err());
}

#[tokio::test]
async fn request_under_way_is_answered_before_it_stops() {
    let (entered, shutdown_seen) = (CancellationToken::new(), CancellationToken::new());
    let (inside, released) = (entered.clone(), shutdown_seen.clone());
    let slow = move || async move {
        inside.cancel();
        released.cancelled().await;
        "done"
    };
    let server = start(Router::new().route("/", get(slow)), Limits::default()).await;
    let mut stream = TcpStream::connect(server.address).await.unwrap();
    stream.write_all(REQUEST).await.unwrap();
    entered.cancelled().await;

    server.shutdown.cancel();
    shutdown_seen.cancel();

    assert!(answer(&mut stream).await.ends_with("done"));
    server.ended.await.unwrap();
}

#[tokio::test]
async fn client_that_never_finishes_its_request_is_dropped() {
    let limits = Limits {
        head: Duration::from_millis(20),
        ..Limits::default()
    };
    let server = start(Router::new(), limits).await;
    let mut stream = TcpStream::connect(server.address).await.unwrap();
    stream.write_all(b"GET / HTTP/1.1\r\nHost:").await.unwrap();
    assert!(
        !answer(&mut stream).await.contains("200"),
        "the connection was closed on it"
    );
}

#[tokio::test]
async fn more_clients_than_there_is_room_for_wait_their_turn() {
    let limits = Limits {
        connections: 1,
        ..Limits::default()
    };
    let server = start(Router::new().route("/", get("hello")), limits).await;
    let mut first = TcpStream::connect(server.address).await.unwrap();
    let mut second = TcpStream::connect(server.address).await.unwrap();
    second.write_all(REQUEST).await.unwrap();
    first.write_all(REQUEST).await.unwrap();
    assert!(answer(&mut first).await.ends_with("hello"));
    assert!(answer(&mut second).await.ends_with("hello"));
}
