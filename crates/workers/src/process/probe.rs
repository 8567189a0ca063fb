//! Asking a process whether it is ready.

use std::io;
use std::net::Ipv4Addr;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use pathline_kinds::workers::HttpGet;

/// The time that an answer may take.
const PROBE_TIMEOUT: Duration = Duration::from_secs(2);
/// The bytes of an answer that are read after its status, and the time-out for them: who closes sooner breaks off what the
/// process is about to write, and it would say so in its log.
const REST: (u64, Duration) = (64 << 10, Duration::from_millis(500));
/// `HTTP/1.1 200`
const STATUS_LINE_START: usize = 12;

/// Sends the request; says what is wrong unless the answer is a success.
pub(super) async fn ask(target: &HttpGet) -> Result<(), String> {
    let HttpGet { port, path } = target;
    let answer = tokio::time::timeout(PROBE_TIMEOUT, status_code(*port, path)).await;
    match answer {
        Ok(Ok(200..400)) => Ok(()),
        Ok(Ok(code)) => Err(format!("port {port} answers {path} with {code}")),
        Ok(Err(error)) => Err(format!("port {port} does not answer {path}: {error}")),
        Err(_) => Err(format!(
            "port {port} does not answer {path} within {PROBE_TIMEOUT:?}"
        )),
    }
}

/// Returns whether anything accepts connections on a port of this machine.
pub(super) async fn connects(port: u16) -> bool {
    let connecting = TcpStream::connect((Ipv4Addr::LOCALHOST, port));
    let connected = tokio::time::timeout(PROBE_TIMEOUT, connecting).await;
    matches!(connected, Ok(Ok(_)))
}

async fn status_code(port: u16, path: &str) -> io::Result<u16> {
    let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).await?;
    let request = format!(
        "GET {path} HTTP/1.1\r\nHost: localhost:{port}\r\nUser-Agent: pathline-probe\r\nConnection: close\r\n\r\n"
    );
    stream.write_all(request.as_bytes()).await?;
    let mut start = [0; STATUS_LINE_START];
    stream.read_exact(&mut start).await?;
    let (bytes, limit) = REST;
    let rest = async { tokio::io::copy(&mut stream.take(bytes), &mut tokio::io::sink()).await };
    // Whatever comes of it, the status is known.
    let _ = tokio::time::timeout(limit, rest).await;
    std::str::from_utf8(&start)
        .ok()
        .filter(|line| line.starts_with("HTTP/1."))
        .and_then(|line| line.get(9..)?.parse().ok())
        .ok_or_else(|| io::Error::other("the answer is not HTTP"))
}

#[cfg(test)]
mod tests {
    use tokio::net::TcpListener;

    use super::*;

    async fn answer_of(reply: &'static [u8]) -> Result<(), String> {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let server = tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            stream.write_all(reply).await.unwrap();
            let mut request = Vec::new();
            stream.read_buf(&mut request).await.unwrap();
            String::from_utf8(request).unwrap()
        });
        let asked = ask(&HttpGet {
            port,
            path: "/ready".into(),
        })
        .await;
        assert!(server.await.unwrap().starts_with("GET /ready HTTP/1.1\r\n"));
        asked
    }

    #[tokio::test]
    async fn answer_that_comes_in_pieces_is_not_broken_off() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let server = tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await?;
            stream.write_all(b"HTTP/1.0 200 OK\r\n\r\n").await?;
            tokio::time::sleep(Duration::from_millis(50)).await;
            stream.write_all(&[b'x'; 4096]).await?;
            stream.shutdown().await?;
            let mut request = Vec::new();
            stream.read_to_end(&mut request).await
        });
        let path = "/ready".into();
        assert_eq!(ask(&HttpGet { port, path }).await, Ok(()));
        server.await.unwrap().expect("nobody resets the connection");
    }

    #[tokio::test]
    async fn only_success_and_redirection_are_ready() {
        assert_eq!(answer_of(b"HTTP/1.1 200 OK\r\n\r\n").await, Ok(()));
        assert_eq!(answer_of(b"HTTP/1.0 302 Found\r\n\r\n").await, Ok(()));
        assert!(
            answer_of(b"HTTP/1.1 503 Busy\r\n\r\n")
                .await
                .unwrap_err()
                .contains("503")
        );
        assert!(
            answer_of(b"SSH-2.0-OpenSSH_9.2\r\n")
                .await
                .unwrap_err()
                .contains("not HTTP")
        );
    }
}
