//! Answering on a port until told to stop, whatever the clients do.
//!
//! The loop is that of the embedded cluster: one for every server of Pathline, with one [`Limits`] and one idea of
//! who makes room when it is full.

use axum::Router;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

pub use pathline_cluster::serve::Limits;

/// Answers with `router` until `shutdown`, then lets requests under way finish.
pub async fn serve(
    listener: TcpListener,
    router: Router,
    limits: Limits,
    shutdown: CancellationToken,
) {
    pathline_cluster::serve::serve(listener, None, router, limits, shutdown).await;
}
