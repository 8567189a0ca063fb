//! The server and its less pleasant clients, over real sockets.

mod bodies;
mod silent;

use std::net::SocketAddr;
use std::pin::Pin;
use std::task::{Context, Poll};

use futures::Stream;
use futures::future::BoxFuture;
use http::StatusCode;
use http::header::AUTHORIZATION;
use http_body::Frame;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Empty, Full, StreamBody};
use hyper::client::conn::{http1, http2};
use hyper_util::rt::{TokioExecutor, TokioIo};
use pathline_clock::Clock;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use super::*;
use crate::tls::{Authority, names_of};

/// The longest any test waits for what should take a fraction of it.
const AT_MOST: Duration = Duration::from_secs(30);

/// Short time-outs, so that the tests are quick.
fn impatient() -> Limits {
    let short = Duration::from_millis(200);
    Limits {
        greeting: short,
        idle: short,
        send: short,
        ..Limits::default()
    }
}

/// Answers `/flood` with bytes without end, `/quiet` with a stream that says one word, `/read` when
/// it has read the body, `/refuse` with 413, and everything else with `hello`. It tells when a stream is
/// dropped and when it waits for a body. Whoever sends any `authorization` is known to it.
#[derive(Clone)]
struct Toy {
    dropped: mpsc::UnboundedSender<()>,
    waiting: mpsc::UnboundedSender<()>,
}

impl Service<Request<Arriving>> for Toy {
    type Response = Response<UnsyncBoxBody<Bytes, BoxError>>;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Self::Response, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Arriving>) -> Self::Future {
        let toy = self.clone();
        Box::pin(async move { Ok(toy.answer(request).await) })
    }
}

impl Toy {
    async fn answer(&self, request: Request<Arriving>) -> Response<UnsyncBoxBody<Bytes, BoxError>> {
        if request.headers().contains_key(AUTHORIZATION) {
            let visitor = request.extensions().get::<Visitor>();
            visitor.expect("every request has its visitor").vouch();
        }
        let stream = |pieces: usize| Pieces {
            left: pieces,
            dropped: self.dropped.clone(),
        };
        let hello = || {
            let text = Full::new(Bytes::from_static(b"hello"));
            text.map_err(Into::into).boxed_unsync()
        };
        match request.uri().path() {
            "/flood" => Response::new(StreamBody::new(stream(usize::MAX)).boxed_unsync()),
            "/quiet" => Response::new(StreamBody::new(stream(1)).boxed_unsync()),
            "/read" => {
                let _ = self.waiting.send(());
                let _ = request.into_body().collect().await;
                Response::new(hello())
            }
            "/refuse" => {
                let mut refusal = Response::new(hello());
                *refusal.status_mut() = StatusCode::PAYLOAD_TOO_LARGE;
                refusal
            }
            _ => Response::new(hello()),
        }
    }
}

/// The length of a piece.
const WORD: usize = 16 << 10;

/// So many pieces, then silence.
struct Pieces {
    left: usize,
    dropped: mpsc::UnboundedSender<()>,
}

impl Stream for Pieces {
    type Item = Result<Frame<Bytes>, BoxError>;

    fn poll_next(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if self.left == 0 {
            return Poll::Pending;
        }
        self.left -= 1;
        Poll::Ready(Some(Ok(Frame::data(Bytes::from_static(&[b'x'; WORD])))))
    }
}

impl Drop for Pieces {
    fn drop(&mut self) {
        let _ = self.dropped.send(());
    }
}

/// A running server, and what a client needs to know about it.
struct Server {
    address: SocketAddr,
    connector: TlsConnector,
    shutdown: CancellationToken,
    ended: JoinHandle<()>,
    dropped: mpsc::UnboundedReceiver<()>,
    waiting: mpsc::UnboundedReceiver<()>,
}

impl Server {
    /// Starts a server with TLS.
    async fn start(limits: Limits, protocol: &[u8]) -> Self {
        Self::start_any(limits, Some(protocol)).await
    }

    /// Starts a server without TLS.
    async fn start_plain(limits: Limits) -> Self {
        Self::start_any(limits, None).await
    }

    async fn start_any(limits: Limits, protocol: Option<&[u8]>) -> Self {
        let directory = tempfile::tempdir().unwrap();
        std::fs::create_dir(directory.path().join("pki")).unwrap();
        let authority = Arc::new(Authority::open(directory.path()).unwrap());
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let tls = authority
            .server_config(names_of(address.ip()), Clock::system())
            .unwrap();
        let (dropped, notices) = mpsc::unbounded_channel();
        let (waiting, waits) = mpsc::unbounded_channel();
        let shutdown = CancellationToken::new();
        let ended = tokio::spawn(serve(
            listener,
            protocol.map(|_| tls),
            Toy { dropped, waiting },
            limits,
            shutdown.clone(),
        ));
        let connector = connector(authority.certificate(), protocol.unwrap_or_default());
        Self {
            address,
            connector,
            shutdown,
            ended,
            dropped: notices,
            waiting: waits,
        }
    }

    async fn connect_plain(&self) -> TcpStream {
        TcpStream::connect(self.address).await.unwrap()
    }

    async fn connect(&self) -> TlsStream<TcpStream> {
        let stream = self.connect_plain().await;
        let name = ServerName::try_from("localhost").unwrap();
        self.connector.connect(name, stream).await.unwrap()
    }

    /// Waits until the server has dropped a stream.
    async fn until_dropped(&mut self) {
        soon(self.dropped.recv()).await.unwrap();
    }
}

fn connector(authority: &str, protocol: &[u8]) -> TlsConnector {
    let mut roots = RootCertStore::empty();
    roots
        .add(CertificateDer::from_pem_slice(authority.as_bytes()).unwrap())
        .unwrap();
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = vec![protocol.to_vec()];
    TlsConnector::from(Arc::new(config))
}

async fn soon<T>(future: impl Future<Output = T>) -> T {
    timeout(AT_MOST, future)
        .await
        .expect("it should have happened long ago")
}

fn get(path: &str) -> Request<Empty<Bytes>> {
    Request::get(format!("https://localhost{path}"))
        .body(Empty::new())
        .unwrap()
}

/// Makes a request with a credential.
fn get_known(path: &str) -> Request<Empty<Bytes>> {
    let mut request = get(path);
    let credential = "Bearer x".parse().unwrap();
    request.headers_mut().insert(AUTHORIZATION, credential);
    request
}

/// Reads until the server closes the connection, in whatever way.
async fn until_closed(mut stream: impl AsyncRead + Unpin) {
    let mut rest = Vec::new();
    let _ = soon(stream.read_to_end(&mut rest)).await;
}

#[tokio::test]
async fn both_protocols_are_served() {
    let server = Server::start(Limits::default(), b"http/1.1").await;
    let (mut one, connection) = http1::handshake(TokioIo::new(server.connect().await))
        .await
        .unwrap();
    tokio::spawn(connection);
    let answer = one.send_request(get("/")).await.unwrap();
    assert_eq!(answer.collect().await.unwrap().to_bytes(), "hello");

    let server = Server::start(Limits::default(), b"h2").await;
    let io = TokioIo::new(server.connect().await);
    let (mut two, connection) = http2::handshake(TokioExecutor::new(), io).await.unwrap();
    tokio::spawn(connection);
    let answer = two.send_request(get("/")).await.unwrap();
    assert_eq!(answer.version(), http::Version::HTTP_2);
    assert_eq!(answer.collect().await.unwrap().to_bytes(), "hello");
}

#[tokio::test]
async fn an_http1_client_that_stops_reading_is_dropped() {
    let mut server = Server::start(impatient(), b"http/1.1").await;
    let mut silent = server.connect().await;
    silent
        .write_all(b"GET /flood HTTP/1.1\r\nhost: x\r\n\r\n")
        .await
        .unwrap();
    server.until_dropped().await;
    until_closed(silent).await;
}

#[tokio::test]
async fn an_http2_client_that_stops_reading_one_stream_is_dropped() {
    let mut server = Server::start(impatient(), b"h2").await;
    let io = TokioIo::new(server.connect().await);
    let (mut requests, connection) = http2::handshake(TokioExecutor::new(), io).await.unwrap();
    // The connection itself is alive and answers pings; only the stream is never read.
    let connection = tokio::spawn(connection);
    let unread = requests.send_request(get("/flood")).await.unwrap();
    server.until_dropped().await;
    let _ = soon(connection).await;
    drop(unread);
}

#[tokio::test]
async fn a_quiet_stream_may_last() {
    let mut server = Server::start(impatient(), b"h2").await;
    let io = TokioIo::new(server.connect().await);
    let (mut requests, connection) = http2::handshake(TokioExecutor::new(), io).await.unwrap();
    tokio::spawn(connection);
    let mut quiet = requests.send_request(get("/quiet")).await.unwrap();
    assert!(quiet.frame().await.unwrap().is_ok());
    // An unread stream is dropped meanwhile, on a connection of its own: its time is over.
    let io = TokioIo::new(server.connect().await);
    let (mut others, connection) = http2::handshake(TokioExecutor::new(), io).await.unwrap();
    tokio::spawn(connection);
    let unread = others.send_request(get("/flood")).await.unwrap();
    server.until_dropped().await;
    drop(unread);
    let answer = requests.send_request(get("/")).await.unwrap();
    assert_eq!(
        answer.collect().await.unwrap().to_bytes(),
        "hello",
        "its connection is alive"
    );
    assert!(server.dropped.try_recv().is_err(), "and so is its stream");
}

/// Asks for `/` on a connection, with a credential, and closes it.
async fn ask(stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static) -> Bytes {
    let (mut requests, connection) = http1::handshake(TokioIo::new(stream)).await.unwrap();
    let connection = tokio::spawn(connection);
    let answer = requests.send_request(get_known("/")).await.unwrap();
    let body = answer.collect().await.unwrap().to_bytes();
    connection.abort();
    body
}

#[tokio::test]
async fn shutdown_ends_streams_and_then_the_server() {
    for protocol in [&b"http/1.1"[..], b"h2"] {
        let server = Server::start(Limits::default(), protocol).await;
        let io = TokioIo::new(server.connect().await);
        let mut answer = if protocol == b"h2" {
            let (mut requests, connection) =
                http2::handshake(TokioExecutor::new(), io).await.unwrap();
            tokio::spawn(connection);
            requests.send_request(get("/quiet")).await.unwrap()
        } else {
            let (mut requests, connection) = http1::handshake(io).await.unwrap();
            tokio::spawn(connection);
            requests.send_request(get("/quiet")).await.unwrap()
        };
        assert!(answer.frame().await.unwrap().is_ok());
        server.shutdown.cancel();
        while let Some(frame) = soon(answer.frame()).await {
            frame.expect("the stream ends in good order");
        }
        soon(server.ended).await.unwrap();
        assert!(
            TcpStream::connect(server.address).await.is_err(),
            "nobody listens any more"
        );
    }
}
