//! Fetches the page of the sample application.

use std::io;
use std::net::Ipv4Addr;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// The most of a page that is read.
const MAX_BYTES: u64 = 1 << 20;
/// The time that the application may take to answer.
const TIMEOUT: Duration = Duration::from_secs(5);

/// Returns the page at `/`, if the application answers with one.
pub(super) async fn fetch(address: (Ipv4Addr, u16)) -> io::Result<String> {
    let answer = tokio::time::timeout(TIMEOUT, exchange(address)).await??;
    let (head, page) = answer.split_once("\r\n\r\n").unwrap_or((&answer, ""));
    let status = head.lines().next().unwrap_or_default();
    if status.split(' ').nth(1) == Some("200") {
        Ok(page.to_owned())
    } else {
        Err(io::Error::other(format!("it answered `{status}`")))
    }
}

/// HTTP/1.0 has neither chunks nor connections that stay open, so the body is what follows.
async fn exchange(address: (Ipv4Addr, u16)) -> io::Result<String> {
    let mut stream = TcpStream::connect(address).await?;
    stream
        .write_all(b"GET / HTTP/1.0\r\nHost: localhost\r\n\r\n")
        .await?;
    let mut answer = String::new();
    stream.take(MAX_BYTES).read_to_string(&mut answer).await?;
    Ok(answer)
}

#[cfg(test)]
mod tests {
    use axum::Router;
    use axum::http::StatusCode;
    use axum::routing::get;

    use super::*;

    async fn serve(router: Router) -> (Ipv4Addr, u16) {
        let listener = tokio::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
            .await
            .unwrap();
        let port = listener.local_addr().unwrap().port();
        tokio::spawn(async move { axum::serve(listener, router).await });
        (Ipv4Addr::LOCALHOST, port)
    }

    #[tokio::test]
    async fn page_is_what_the_application_sends() {
        let address = serve(Router::new().route("/", get("<h1>hello</h1>"))).await;
        assert_eq!(fetch(address).await.unwrap(), "<h1>hello</h1>");
    }

    #[tokio::test]
    async fn refusal_is_an_error_that_says_so() {
        let address = serve(Router::new().route("/", get(StatusCode::NOT_FOUND))).await;
        let error = fetch(address).await.unwrap_err();
        assert_eq!(error.to_string(), "it answered `HTTP/1.0 404 Not Found`");
    }
}
