//! The doors: health, readiness and metrics over HTTP.
//!
//! [`app`] is the whole router as a value, so tests call it without a socket; [`listen`] binds the
//! port and [`serve`] answers on it until told to stop.
//!
//! ```
//! use pathline_server::{Doors, Part, app};
//!
//! let doors = Doors::new("0.1.0");
//! doors.readiness().mark_ready(Part::Cluster);
//! let router = app(doors);
//! # let _ = router;
//! ```

pub mod api;
mod health;
mod listen;
mod metrics;
mod serve;

use axum::Router;
use axum::routing::get;

pub use crate::health::{Part, Readiness};
pub use crate::listen::{BindError, listen, reachable};
pub use crate::metrics::Metrics;
pub use crate::serve::{Limits, serve};
pub use prometheus_client;

/// Holds what the doors show: how far the start has come, and the metrics.
#[derive(Clone)]
pub struct Doors {
    readiness: Readiness,
    metrics: Metrics,
}

impl Doors {
    /// Returns doors of a Pathline that has just begun to start: alive, and nothing ready yet.
    pub fn new(version: &'static str) -> Self {
        Self {
            readiness: Readiness::default(),
            metrics: Metrics::new(version),
        }
    }

    /// Returns the handle that the parts report to when they come up or go down.
    pub fn readiness(&self) -> &Readiness {
        &self.readiness
    }

    /// Returns the handle through which other crates register their metrics.
    pub fn metrics(&self) -> &Metrics {
        &self.metrics
    }
}

/// Returns the router with every path Pathline answers.
pub fn app(doors: Doors) -> Router {
    let metrics = doors.metrics.clone();
    Router::new()
        .route("/healthz", get(health::healthz))
        .route("/readyz", get(health::readyz))
        .route("/metrics", get(metrics::show))
        .fallback(not_found)
        .method_not_allowed_fallback(method_not_allowed)
        .layer(axum::middleware::from_fn_with_state(
            metrics,
            metrics::count_requests,
        ))
        .with_state(doors)
}

async fn not_found() -> (axum::http::StatusCode, &'static str) {
    (
        axum::http::StatusCode::NOT_FOUND,
        "not found; try /healthz, /readyz or /metrics\n",
    )
}

async fn method_not_allowed() -> (axum::http::StatusCode, &'static str) {
    (
        axum::http::StatusCode::METHOD_NOT_ALLOWED,
        "method not allowed; these paths answer GET\n",
    )
}
