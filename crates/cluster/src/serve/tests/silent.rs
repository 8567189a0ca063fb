//! Clients that say nothing, or not enough, and keep nobody else out.

use super::*;

/// The beginning of every HTTP/2 connection, and the frame of settings that has to follow.
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
const SETTINGS: &[u8] = &[0, 0, 0, 4, 0, 0, 0, 0, 0];

/// A request that is answered at once, and says that a body follows.
const OPEN_REQUEST: &[u8] = b"POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 10\r\n\r\n";

fn few() -> Limits {
    Limits {
        connections: 8,
        // Nobody goes because time is up.
        greeting: Duration::from_secs(3600),
        ..Limits::default()
    }
}

/// Connects as many clients as there is room for, twice, who each say `greeting` and no more.
async fn crowd(server: &Server, greeting: &[u8]) -> Vec<TcpStream> {
    let mut crowd = Vec::new();
    for _ in 0..16 {
        let mut silent = server.connect_plain().await;
        // It may have been sent away already.
        let _ = silent.write_all(greeting).await;
        crowd.push(silent);
    }
    crowd
}

#[tokio::test]
async fn hole_5_silent_strangers_keep_nobody_out() {
    for greeting in [
        &b""[..],
        b"G",
        b"GET / HTTP/1.1\r\nhost: x\r\n",
        PREFACE,
        OPEN_REQUEST,
    ] {
        let server = Server::start_plain(few()).await;
        let crowd = crowd(&server, greeting).await;
        for _ in 0..3 {
            let answer = soon(ask(server.connect_plain().await)).await;
            assert_eq!(answer, "hello", "beside {greeting:?}");
        }
        drop(crowd);
    }
}

#[tokio::test]
async fn hole_5_silent_strangers_keep_nobody_out_of_tls() {
    // The first bytes of a handshake, and none.
    for greeting in [&[0x16, 3, 1, 2, 0][..], b""] {
        let server = Server::start(few(), b"http/1.1").await;
        let crowd = crowd(&server, greeting).await;
        assert_eq!(soon(ask(soon(server.connect()).await)).await, "hello");
        drop(crowd);
    }
    let server = Server::start(few(), b"http/1.1").await;
    let mut greeted = Vec::new();
    for _ in 0..16 {
        greeted.push(server.connect().await);
    }
    assert_eq!(soon(ask(soon(server.connect()).await)).await, "hello");
}

#[tokio::test]
async fn hole_5_who_has_shown_a_credential_stays_and_strangers_go() {
    for protocol in [None, Some(&b"h2"[..])] {
        let mut server = Server::start_any(few(), protocol).await;
        let mut known = if protocol.is_some() {
            let io = TokioIo::new(server.connect().await);
            let (mut requests, connection) =
                http2::handshake(TokioExecutor::new(), io).await.unwrap();
            tokio::spawn(connection);
            requests.send_request(get_known("/quiet")).await.unwrap()
        } else {
            let io = TokioIo::new(server.connect_plain().await);
            let (mut requests, connection) = http1::handshake(io).await.unwrap();
            tokio::spawn(connection);
            requests.send_request(get_known("/quiet")).await.unwrap()
        };
        let mut said = 0;
        while said < WORD {
            let frame = known.frame().await.unwrap().unwrap();
            said += frame.into_data().unwrap().len();
        }
        let mut crowd = crowd(&server, b"").await;
        until_closed(crowd.remove(0)).await;
        assert!(futures::poll!(known.frame()).is_pending(), "it waits on");
        assert!(server.dropped.try_recv().is_err(), "its stream is there");
    }
}

#[tokio::test]
async fn hole_5_a_stranger_who_was_answered_is_still_one() {
    let limits = Limits {
        connections: 1,
        ..few()
    };
    let server = Server::start_plain(limits).await;
    let mut stranger = server.connect_plain().await;
    stranger
        .write_all(b"GET / HTTP/1.1\r\nhost: x\r\n\r\n")
        .await
        .unwrap();
    let mut first = [0];
    soon(stranger.read_exact(&mut first)).await.unwrap();
    assert_eq!(soon(ask(server.connect_plain().await)).await, "hello");
    until_closed(stranger).await;
}

#[tokio::test]
async fn where_all_have_shown_a_credential_new_ones_wait() {
    let limits = Limits {
        connections: 1,
        ..few()
    };
    let server = Server::start_plain(limits).await;
    let io = TokioIo::new(server.connect_plain().await);
    let (mut requests, connection) = http1::handshake(io).await.unwrap();
    let connection = tokio::spawn(connection);
    let first = requests.send_request(get_known("/quiet")).await.unwrap();
    let mut second = Box::pin(ask(server.connect_plain().await));
    assert!(
        timeout(Duration::from_millis(100), &mut second)
            .await
            .is_err(),
        "there is room for one only"
    );
    drop(first);
    connection.abort();
    assert_eq!(soon(second).await, "hello");
}

#[tokio::test]
async fn hole_5_who_does_not_finish_a_request_is_dropped() {
    let server = Server::start_plain(impatient()).await;
    let preface = [PREFACE, SETTINGS].concat();
    for greeting in [
        &b""[..],
        b"G",
        b"GET / HTTP/1.1\r\nhost: x\r\n",
        PREFACE,
        &preface,
        // A request of HTTP/2 whose head does not end.
        &[&preface[..], &[0, 0, 1, 1, 0, 0, 0, 0, 1, 0x82]].concat(),
    ] {
        let mut slow = server.connect_plain().await;
        slow.write_all(greeting).await.unwrap();
        until_closed(slow).await;
    }
}

#[tokio::test]
async fn hole_5_who_does_not_finish_a_handshake_is_dropped() {
    let server = Server::start(impatient(), b"http/1.1").await;
    for greeting in [&b""[..], &[0x16, 3, 1, 2, 0]] {
        let mut slow = server.connect_plain().await;
        slow.write_all(greeting).await.unwrap();
        until_closed(slow).await;
    }
    until_closed(server.connect().await).await;
}

#[tokio::test]
async fn hole_5_one_byte_now_and_then_buys_no_time() {
    let server = Server::start_plain(impatient()).await;
    let mut slow = server.connect_plain().await;
    let dripping = async {
        loop {
            if slow.write_all(b"G").await.is_err() {
                return;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    soon(dripping).await;
}

#[tokio::test]
async fn hole_5_half_a_body_and_then_a_byte_now_and_then_buys_no_time() {
    let limits = Limits {
        body: Duration::from_millis(200),
        ..Limits::default()
    };
    let mut server = Server::start_plain(limits).await;
    let (mut answer, mut slow) = server.connect_plain().await.into_split();
    slow.write_all(b"POST /read HTTP/1.1\r\nhost: x\r\ncontent-length: 100000\r\n\r\n")
        .await
        .unwrap();
    soon(server.waiting.recv()).await.unwrap();
    let dripping = async {
        while slow.write_all(b"x").await.is_ok() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    let mut first = [0; 9];
    tokio::select! {
        () = dripping => panic!("it was closed without an answer"),
        read = soon(answer.read_exact(&mut first)) => assert!(read.is_ok()),
    }
    assert_eq!(&first, b"HTTP/1.1 ", "whoever waited for it gave up");
}

#[tokio::test]
async fn hole_5_an_http2_connection_without_requests_is_closed() {
    let server = Server::start(impatient(), b"h2").await;
    let io = TokioIo::new(server.connect().await);
    // It answers pings all the while, so it is alive; it only has nothing to say.
    let (mut requests, connection) = http2::handshake(TokioExecutor::new(), io).await.unwrap();
    let connection = tokio::spawn(connection);
    let answer = requests.send_request(get("/")).await.unwrap();
    assert_eq!(answer.collect().await.unwrap().to_bytes(), "hello");
    let _ = soon(connection).await;
    drop(requests);
}
