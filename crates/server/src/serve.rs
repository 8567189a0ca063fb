//! Answering on a port until told to stop, whatever the clients do.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;

/// How long to wait when the system has no room for another connection.
const BREATH: Duration = Duration::from_millis(100);

/// What a client may take from us.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Connections at the same time; more wait to be accepted.
    pub connections: usize,
    /// The time from the beginning of a connection, or of a request on it, to the end of its head.
    pub head: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: 8192,
            head: Duration::from_secs(10),
        }
    }
}

/// Answers with `router` until `shutdown`, then lets requests under way finish.
pub async fn serve(
    listener: TcpListener,
    router: Router,
    limits: Limits,
    shutdown: CancellationToken,
) {
    let room = Arc::new(Semaphore::new(limits.connections));
    let connections = GracefulShutdown::new();
    loop {
        let next = next_connection(&listener, Arc::clone(&room));
        let Some((stream, permit)) = shutdown.run_until_cancelled(next).await else {
            break;
        };
        let service = TowerToHyperService::new(router.clone());
        let mut builder = Builder::new(TokioExecutor::new());
        builder
            .http1()
            .timer(TokioTimer::new())
            .header_read_timeout(limits.head);
        let connection = builder
            .serve_connection(TokioIo::new(stream), service)
            .into_owned();
        let connection = connections.watch(connection);
        tokio::spawn(async move {
            if let Err(error) = connection.await {
                tracing::debug!("a connection ended early: {error}");
            }
            drop(permit);
        });
    }
    drop(listener);
    connections.shutdown().await;
}

/// Waits for room, then for somebody who wants it.
async fn next_connection(
    listener: &TcpListener,
    room: Arc<Semaphore>,
) -> (TcpStream, OwnedSemaphorePermit) {
    let permit = room
        .acquire_owned()
        .await
        .expect("the semaphore is never closed");
    loop {
        match listener.accept().await {
            Ok((stream, _)) => return (stream, permit),
            Err(error) => {
                tracing::warn!("cannot accept a connection: {error}");
                tokio::time::sleep(BREATH).await;
            }
        }
    }
}
