//! Requests whose bodies are too large, and those that do not arrive.

use super::*;

/// More than any socket buffers.
const LARGE: usize = 12 << 20;

/// Sends a request and all of its body before it looks for an answer, as many clients do.
async fn send_all_then_read(mut stream: impl AsyncRead + AsyncWrite + Unpin) -> String {
    let head = format!("POST /refuse HTTP/1.1\r\nhost: x\r\ncontent-length: {LARGE}\r\n\r\n");
    stream.write_all(head.as_bytes()).await.unwrap();
    stream
        .write_all(&vec![b'x'; LARGE])
        .await
        .expect("everything is taken");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    answer
}

#[tokio::test]
async fn hole_11_who_sends_too_much_sees_the_refusal() {
    let plain = Server::start_plain(Limits::default()).await;
    let tls = Server::start(Limits::default(), b"http/1.1").await;
    for answer in [
        soon(send_all_then_read(plain.connect_plain().await)).await,
        soon(send_all_then_read(tls.connect().await)).await,
    ] {
        assert!(answer.starts_with("HTTP/1.1 413 "), "{answer}");
        assert!(answer.contains("connection: close"), "{answer}");
        assert!(answer.ends_with("hello"), "whole: {answer}");
    }
}

#[tokio::test]
async fn hole_11_who_sends_too_much_over_http2_sees_the_refusal() {
    let server = Server::start(Limits::default(), b"h2").await;
    let io = TokioIo::new(server.connect().await);
    let (mut requests, connection) = http2::handshake(TokioExecutor::new(), io).await.unwrap();
    tokio::spawn(connection);
    let body = Full::new(Bytes::from(vec![b'x'; LARGE]));
    let request = Request::post("https://localhost/refuse").body(body);
    let answer = soon(requests.send_request(request.unwrap())).await.unwrap();
    assert_eq!(answer.status(), StatusCode::PAYLOAD_TOO_LARGE);
    let body = soon(answer.collect()).await.unwrap();
    assert_eq!(body.to_bytes(), "hello");
}

#[tokio::test]
async fn hole_11_who_asks_first_is_refused_before_the_body() {
    let server = Server::start_plain(Limits::default()).await;
    let mut polite = server.connect_plain().await;
    let head = format!(
        "POST /refuse HTTP/1.1\r\nhost: x\r\nexpect: 100-continue\r\ncontent-length: {LARGE}\r\n\r\n"
    );
    polite.write_all(head.as_bytes()).await.unwrap();
    let mut start = [0; 13];
    soon(polite.read_exact(&mut start)).await.unwrap();
    assert_eq!(&start, b"HTTP/1.1 413 ");
}

#[tokio::test]
async fn hole_11_half_a_request_does_not_hold_up_a_stop() {
    let head = b"POST /read HTTP/1.1\r\nhost: x\r\ncontent-length: 10\r\n\r\nhalf";
    let limits = Limits {
        // Only what has arrived is waited for that long.
        drain: Duration::from_secs(3600),
        arrive: Duration::from_millis(10),
        ..Limits::default()
    };
    let mut server = Server::start_plain(limits).await;
    let mut half_a_body = server.connect_plain().await;
    half_a_body.write_all(head).await.unwrap();
    soon(server.waiting.recv()).await.unwrap();
    let mut half_a_head = server.connect_plain().await;
    half_a_head.write_all(&head[..20]).await.unwrap();
    server.shutdown.cancel();
    soon(server.ended).await.unwrap();
}
