//! The ground: an embedded Kubernetes API on SQLite.

mod api;
mod auth;
mod builtin;
mod cluster;
mod deletion;
mod fields;
mod gc;
mod kubeconfig;
mod lock;
mod managed;
mod names;
mod patch;
mod schema;
mod secrets;
mod selector;
mod serve;
mod status;
mod store;
#[cfg(test)]
mod testing;
mod tls;

pub use crate::api::{ApiService, ResponseBody};
pub use crate::cluster::{Cluster, OpenError, Options, ServeError};
