//! Serves a tower service over TLS, to clients that may be slow, silent or hostile.
//!
//! Every wait on a client has an end: the handshake, the headers, an answer that is not read (the
//! service itself limits how long a request body may take). A client that stops reading loses its connection, and until then holds
//! no more than a few frames. Shutdown ends streams at once and lets everything else finish.

mod body;
mod guard;
#[cfg(test)]
mod tests;

use std::convert::Infallible;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use http_body::Body;
use hyper::body::Incoming;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use hyper_util::service::TowerToHyperService;
use rustls::ServerConfig;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, MissedTickBehavior, interval, sleep, sleep_until, timeout};
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tower::{Service, ServiceExt};

use self::body::{Answer, Readers};
use self::guard::Guarded;

/// The boxed error of a foreign body.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// How much a client may ask of the server, and how long it may keep it waiting.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// The most connections at a time; more wait to be accepted.
    pub(crate) connections: usize,
    /// The most requests at a time on one HTTP/2 connection.
    pub(crate) streams: u32,
    /// For the TLS handshake.
    pub(crate) handshake: Duration,
    /// For the headers of a request, and between requests.
    pub(crate) headers: Duration,
    /// For each piece of an answer to be read.
    pub(crate) send: Duration,
    /// For requests under way when the server stops.
    pub(crate) drain: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: 1024,
            streams: 250,
            handshake: Duration::from_secs(10),
            // More than the 90 seconds for which clients keep idle connections, so that it is the
            // client who closes them, and never just as it sends a request.
            headers: Duration::from_secs(120),
            send: Duration::from_secs(30),
            drain: Duration::from_secs(5),
        }
    }
}

/// Serves anything over TLS until `shutdown`, with the patience the cluster itself has with clients.
pub async fn serve_tls<S, B>(
    listener: TcpListener,
    tls: ServerConfig,
    service: S,
    shutdown: CancellationToken,
) where
    S: Service<Request<Incoming>, Response = Response<B>, Error = Infallible>,
    S: Clone + Send + 'static,
    S::Future: Send,
    B: Body<Data = Bytes> + Send + 'static,
    B::Error: Into<BoxError>,
{
    serve(listener, tls, service, Limits::default(), shutdown).await;
}

/// Serves `service` on `listener` until `shutdown`, then drains.
pub(crate) async fn serve<S, B>(
    listener: TcpListener,
    tls: ServerConfig,
    service: S,
    limits: Limits,
    shutdown: CancellationToken,
) where
    S: Service<Request<Incoming>, Response = Response<B>, Error = Infallible>,
    S: Clone + Send + 'static,
    S::Future: Send,
    B: Body<Data = Bytes> + Send + 'static,
    B::Error: Into<BoxError>,
{
    let acceptor = TlsAcceptor::from(Arc::new(tls));
    let slots = Arc::new(Semaphore::new(limits.connections));
    let connections = TaskTracker::new();
    loop {
        let accepted = tokio::select! {
            biased;
            () = shutdown.cancelled() => break,
            accepted = accept(&listener, &slots) => accepted,
        };
        match accepted {
            Ok((stream, slot)) => {
                let connection = Connection {
                    acceptor: acceptor.clone(),
                    limits,
                    shutdown: shutdown.clone(),
                    readers: Readers::new(limits.send, shutdown.clone()),
                };
                let service = service.clone();
                connections.spawn(async move {
                    let ended = connection.run(stream, service).await;
                    tracing::debug!(?ended, "connection ended");
                    drop(slot);
                });
            }
            Err(error) => {
                // Out of file descriptors, most likely: wait for some connection to end.
                tracing::warn!(%error, "cannot accept a connection");
                sleep(Duration::from_millis(100)).await;
            }
        }
    }
    connections.close();
    connections.wait().await;
}

async fn accept(
    listener: &TcpListener,
    slots: &Arc<Semaphore>,
) -> io::Result<(TcpStream, OwnedSemaphorePermit)> {
    let slot = Arc::clone(slots)
        .acquire_owned()
        .await
        .expect("nobody closes the semaphore");
    let (stream, _) = listener.accept().await?;
    Ok((stream, slot))
}

/// Why a connection ended.
#[derive(Debug)]
enum Ended {
    /// Either side closed it in good order, or it broke.
    Closed,
    /// The client took too long to greet.
    Handshake,
    /// The client did not read.
    Stalled,
    /// The server stops, and the client's requests took too long.
    Drained,
}

/// What one connection needs.
struct Connection {
    acceptor: TlsAcceptor,
    limits: Limits,
    shutdown: CancellationToken,
    readers: Readers,
}

impl Connection {
    async fn run<S, B>(self, stream: TcpStream, service: S) -> Ended
    where
        S: Service<Request<Incoming>, Response = Response<B>, Error = Infallible>,
        S: Clone + Send + 'static,
        S::Future: Send,
        B: Body<Data = Bytes> + Send + 'static,
        B::Error: Into<BoxError>,
    {
        // Small answers and events must not wait for more.
        let _ = stream.set_nodelay(true);
        let guarded = Guarded::new(stream, self.limits.send);
        let handshake = timeout(self.limits.handshake, self.acceptor.accept(guarded));
        let stream = tokio::select! {
            () = self.shutdown.cancelled() => return Ended::Drained,
            greeted = handshake => match greeted {
                Ok(Ok(stream)) => stream,
                Ok(Err(_)) => return Ended::Closed,
                Err(_) => return Ended::Handshake,
            },
        };
        let readers = self.readers.clone();
        let service = service.map_response(move |response: Response<B>| {
            response.map(|body| Answer::new(body, &readers))
        });
        let builder = http(&self.limits);
        let connection =
            builder.serve_connection(TokioIo::new(stream), TowerToHyperService::new(service));
        tokio::pin!(connection);
        let mut check = interval(self.limits.send / 4);
        check.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut drain_until: Option<Instant> = None;
        loop {
            tokio::select! {
                _ = connection.as_mut() => return Ended::Closed,
                () = self.shutdown.cancelled(), if drain_until.is_none() => {
                    connection.as_mut().graceful_shutdown();
                    drain_until = Some(Instant::now() + self.limits.drain);
                }
                () = passed(drain_until) => return Ended::Drained,
                _ = check.tick() => if self.readers.any_stalled(Instant::now()) {
                    return Ended::Stalled;
                },
            }
        }
    }
}

/// Waits until `moment`; without one, forever.
async fn passed(moment: Option<Instant>) {
    match moment {
        Some(moment) => sleep_until(moment).await,
        None => std::future::pending().await,
    }
}

fn http(limits: &Limits) -> auto::Builder<TokioExecutor> {
    let mut builder = auto::Builder::new(TokioExecutor::new());
    builder
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(limits.headers)
        .max_buf_size(64 << 10);
    builder
        .http2()
        .timer(TokioTimer::new())
        .max_concurrent_streams(limits.streams)
        .max_header_list_size(32 << 10)
        .max_send_buf_size(64 << 10)
        .keep_alive_interval(limits.send)
        .keep_alive_timeout(limits.send);
    builder
}
