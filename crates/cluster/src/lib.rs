//! The ground: an embedded Kubernetes API on SQLite.

mod auth;
mod builtin;
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
mod store;
#[cfg(test)]
mod testing;
mod tls;
