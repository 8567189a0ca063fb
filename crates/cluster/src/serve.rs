//! Serves a tower service to clients that may be slow, silent or hostile: the one loop behind every
//! port of Pathline.
//!
//! The embedded API and the webhook of a controller are served over TLS, the REST API without. They
//! share this loop because they share the clients. It lives here, below them all: arrows only go
//! down, and a second one would have to learn every lesson again.
//!
//! Every wait on a client has an end: the handshake, the first request, the next one, an answer that
//! is not read (the service itself limits how long a request body may take). A client that stops
//! reading loses its connection, and until then holds no more than a few frames. When the `Room`
//! is full, the oldest client without a credential makes room: a service that has seen one calls
//! [`Visitor::vouch`]. Shutdown ends streams at once, soon what has not arrived, and lets everything
//! else finish.

mod activity;
mod arriving;
mod body;
mod connection;
mod descriptors;
mod guard;
mod limits;
mod room;
#[cfg(test)]
mod tests;

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use http_body::Body;
use rustls::ServerConfig;
use tokio::net::{TcpListener, TcpStream};
use tokio::time::sleep;
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tower::Service;

pub use self::arriving::Arriving;
use self::connection::Connection;
pub use self::descriptors::raise_descriptor_limit;
pub use self::limits::Limits;
use self::room::Room;
pub use self::room::Visitor;

/// The boxed error of a foreign body.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// The most connections of a port with TLS, which costs memory for each.
const TLS_CONNECTIONS: usize = 1024;

/// The pause before the next `accept` when the system has no descriptor for another connection.
const BREATH: Duration = Duration::from_millis(100);

/// Serves anything over TLS until `shutdown`, with the time-outs that the cluster itself has for clients.
pub async fn serve_tls<S, B>(
    listener: TcpListener,
    tls: ServerConfig,
    service: S,
    shutdown: CancellationToken,
) where
    S: Service<Request<Arriving>, Response = Response<B>, Error = Infallible>,
    S: Clone + Send + 'static,
    S::Future: Send,
    B: Body<Data = Bytes> + Send + 'static,
    B::Error: Into<BoxError>,
{
    let limits = Limits::of(TLS_CONNECTIONS);
    serve(listener, Some(tls), service, limits, shutdown).await;
}

/// Serves `service` on `listener` until `shutdown`, then drains; over TLS if there is a certificate.
pub async fn serve<S, B>(
    listener: TcpListener,
    tls: Option<ServerConfig>,
    service: S,
    limits: Limits,
    shutdown: CancellationToken,
) where
    S: Service<Request<Arriving>, Response = Response<B>, Error = Infallible>,
    S: Clone + Send + 'static,
    S::Future: Send,
    B: Body<Data = Bytes> + Send + 'static,
    B::Error: Into<BoxError>,
{
    let tls = tls.map(|tls| TlsAcceptor::from(Arc::new(tls)));
    let room = Room::new(limits.connections);
    let connections = TaskTracker::new();
    while let Some(stream) = shutdown.run_until_cancelled(next(&listener, &room)).await {
        let connection = Connection {
            tls: tls.clone(),
            limits,
            shutdown: shutdown.clone(),
            seat: room.enter(),
        };
        let service = service.clone();
        connections.spawn(async move {
            let ended = connection.run(stream, service).await;
            tracing::debug!(?ended, "connection ended");
        });
    }
    drop(listener);
    connections.close();
    connections.wait().await;
}

/// Waits for somebody who wants to come in, then for room. Others wait behind them, in the system's
/// queue.
async fn next(listener: &TcpListener, room: &Room) -> TcpStream {
    loop {
        match listener.accept().await {
            Ok((stream, _)) => {
                room.open().await;
                return stream;
            }
            Err(error) => {
                // Out of descriptors, most likely: somebody without a credential has to go.
                tracing::warn!(%error, "cannot accept a connection");
                room.make_room();
                sleep(BREATH).await;
            }
        }
    }
}
