//! The ground: an embedded Kubernetes API on SQLite.

mod deletion;
mod store;
