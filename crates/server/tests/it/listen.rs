use std::net::SocketAddr;

use pathline_server::{Doors, app, listen, reachable, serve};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_util::sync::CancellationToken;

#[tokio::test]
async fn port_in_use_names_the_flag_to_change() {
    let taken = listen("127.0.0.1:0", "--listen").await.unwrap();
    let address = taken.local_addr().unwrap().to_string();

    let error = listen(&address, "--listen").await.unwrap_err();

    assert_eq!(
        error.to_string(),
        format!("cannot listen on {address} (`--listen`)")
    );
    assert!(
        error.hint().contains("`--listen 127.0.0.1:0`"),
        "{}",
        error.hint()
    );
}

#[tokio::test]
async fn serves_until_told_to_stop() {
    let listener = listen("127.0.0.1:0", "--listen").await.unwrap();
    let address = listener.local_addr().unwrap();
    let shutdown = CancellationToken::new();
    let server = tokio::spawn(serve(listener, app(Doors::new("1.2.3")), shutdown.clone()));

    let mut stream = TcpStream::connect(address).await.unwrap();
    stream
        .write_all(b"GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        .await
        .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 200 OK"), "{answer}");

    shutdown.cancel();
    server.await.unwrap().unwrap();
    assert!(TcpStream::connect(address).await.is_err());
}

#[test]
fn listener_on_all_addresses_is_reached_through_loopback() {
    let address = |text: &str| text.parse::<SocketAddr>().unwrap();
    assert_eq!(reachable(address("0.0.0.0:80")), address("127.0.0.1:80"));
    assert_eq!(reachable(address("[::]:80")), address("[::1]:80"));
    assert_eq!(reachable(address("10.1.2.3:80")), address("10.1.2.3:80"));
}
