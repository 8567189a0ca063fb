use std::net::SocketAddr;
use std::time::Duration;

use axum::Router;
use axum::routing::get;
use pathline_ledger::Permissions;
use pathline_server::{Limits, listen, serve};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::world::World;

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
        greeting: Duration::from_millis(20),
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

/// AppState with a token, at which few may be at a time, and nobody has to leave because time is up.
async fn start_doors() -> (World, Server, String) {
    let world = World::without_cluster().await;
    let limits = Limits {
        connections: 8,
        greeting: Duration::from_secs(3600),
        ..Limits::default()
    };
    let server = start(world.router.clone(), limits).await;
    let token = world.token("ci", Permissions::ADMIN).await;
    (world, server, token)
}

/// Asks for the tokens, on a connection of its own.
async fn ask(server: &Server, token: &str) -> String {
    let mut stream = TcpStream::connect(server.address)
        .await
        .expect("somebody listens");
    let request = format!(
        "GET /tokens HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer {token}\r\n\r\n"
    );
    stream
        .write_all(request.as_bytes())
        .await
        .expect("it is taken");
    answer(&mut stream).await
}

#[tokio::test]
async fn hole_5_silent_clients_keep_nobody_out_who_has_a_token() {
    let (_world, server, token) = start_doors().await;
    let mut silent = Vec::new();
    // Some say nothing, some ask what needs no token, and some have a token that nobody knows.
    let wrong = format!(
        "GET /tokens HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer pathline_{}\r\n\r\n",
        "0".repeat(64)
    );
    for greeting in ["", "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n", &wrong] {
        for _ in 0..8 {
            let mut stream = TcpStream::connect(server.address).await.unwrap();
            let _ = stream.write_all(greeting.as_bytes()).await;
            silent.push(stream);
        }
        let answer = ask(&server, &token).await;
        assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
    }
}

#[tokio::test]
async fn hole_5_who_follows_the_stream_stays() {
    let (_world, server, token) = start_doors().await;
    let mut follower = TcpStream::connect(server.address).await.unwrap();
    let request = format!(
        "GET /stream HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer {token}\r\n\r\n"
    );
    follower.write_all(request.as_bytes()).await.unwrap();
    let mut said = String::new();
    while !said.contains("event: begin") {
        let mut piece = [0; 1024];
        let length = follower.read(&mut piece).await.unwrap();
        assert!(length > 0, "it ended: {said}");
        said += &String::from_utf8_lossy(&piece[..length]);
    }
    let mut strangers = Vec::new();
    for _ in 0..32 {
        strangers.push(TcpStream::connect(server.address).await.unwrap());
    }
    // The first of them had to go, so all of them have come in.
    assert_eq!(answer(&mut strangers[0]).await, "");
    // A token that is revoked ends the stream in good order, so it was there until then.
    let revoke = format!(
        "DELETE /tokens/ci HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer {token}\r\n\r\n"
    );
    let mut admin = TcpStream::connect(server.address).await.unwrap();
    admin.write_all(revoke.as_bytes()).await.unwrap();
    let revoked = answer(&mut admin).await;
    assert!(revoked.starts_with("HTTP/1.1 2"), "{revoked}");
    let rest = answer(&mut follower).await;
    assert!(rest.ends_with("0\r\n\r\n"), "the last chunk: {rest}");
}

#[tokio::test]
async fn hole_11_twelve_megabytes_are_told_that_they_are_too_many() {
    let (_world, server, token) = start_doors().await;
    let length = 12 << 20;
    let head = format!(
        "POST /tokens HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\n\
         Content-Type: application/json\r\n"
    );
    let announced = format!("{head}Content-Length: {length}\r\n\r\n");
    let in_one_chunk = format!("{head}Transfer-Encoding: chunked\r\n\r\n{length:x}\r\n");
    for head in [announced, in_one_chunk] {
        let mut stream = TcpStream::connect(server.address).await.unwrap();
        stream.write_all(head.as_bytes()).await.unwrap();
        let all = stream.write_all(&vec![b' '; length]).await;
        all.expect("everything is taken");
        let answer = answer(&mut stream).await;
        assert!(answer.starts_with("HTTP/1.1 413 "), "{answer}");
        assert!(answer.contains(r#""code":"too-large""#), "{answer}");
    }
}
