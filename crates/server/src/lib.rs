//! The HTTP server: the REST API over all that Pathline knows.
//!
//! [`app`] is the whole router as a value, so tests call it without a socket; [`listen`] binds the
//! port and [`serve`] answers on it until told to stop. The bodies are in [`pathline_client::api`].
//! Everything but health, metrics and the OpenAPI document needs a token, which the
//! [`Ledger`](pathline_ledger::Ledger) knows by its hash.
//!
//! ```
//! use pathline_server::{AppState, Part, app};
//!
//! let state = AppState::new("0.1.0");
//! state.readiness().mark_ready(Part::Cluster);
//! let router = app(state);
//! # let _ = router;
//! ```

mod auth;
mod error;
mod listen;
mod metrics;
mod readiness;
mod rest;
mod serve;
mod state;
mod views;

pub use crate::auth::{FirstToken, FirstTokenError, Secret, first_admin};
pub use crate::error::{ApiError, ErrorKind};
pub use crate::listen::{BindError, listen, reachable};
pub use crate::metrics::Metrics;
pub use crate::readiness::{Part, Readiness};
pub use crate::rest::app;
pub use crate::serve::{Limits, serve};
pub use crate::state::AppState;
pub use crate::views::ingest::{IngestAuth, IngestHook};
pub use prometheus_client;
