//! The doors: what Pathline knows, over HTTP.
//!
//! [`app`] is the whole router as a value, so tests call it without a socket; [`listen`] binds the
//! port and [`serve`] answers on it until told to stop. [`api`] are the bodies, for servers and
//! clients. Everything but health, metrics and the OpenAPI document needs a token, which the
//! [`Ledger`](pathline_ledger::Ledger) knows by its hash.
//!
//! ```
//! use pathline_server::{Doors, Part, app};
//!
//! let doors = Doors::new("0.1.0");
//! doors.readiness().mark_ready(Part::Cluster);
//! let router = app(doors);
//! # let _ = router;
//! ```

mod across;
pub mod api;
mod artifacts;
mod auth;
mod bounds;
mod concern;
mod doors;
mod extract;
mod health;
mod listen;
mod metrics;
mod names;
mod objects;
mod openapi;
mod owners;
mod refusal;
mod requests;
mod routes;
mod running;
mod serve;
mod stream;
mod tokens;
mod wait;

pub use crate::auth::{FirstToken, FirstTokenError, Secret, first_admin};
pub use crate::doors::Doors;
pub use crate::health::{Part, Readiness};
pub use crate::listen::{BindError, listen, reachable};
pub use crate::metrics::Metrics;
pub use crate::refusal::Refusal;
pub use crate::routes::app;
pub use crate::serve::{Limits, serve};
pub use prometheus_client;
