//! The ground: an embedded Kubernetes API on SQLite.
//!
//! A [`Cluster`] lives in a data directory. It is spoken to like any Kubernetes cluster: by the
//! [`kube::Client`] it hands out, in process, or over TLS with the kubeconfig it writes.
//!
//! ```
//! use k8s_openapi::api::core::v1::Namespace;
//! use kube::Api;
//! use pathline_cluster::{Cluster, Options};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let directory = tempfile::tempdir()?;
//! # let data_dir = directory.path();
//! let cluster = Cluster::open(Options::new(data_dir)).await?;
//! let namespaces = Api::<Namespace>::all(cluster.client());
//! assert!(namespaces.get_opt("default").await?.is_some());
//! cluster.close().await;
//! # Ok(())
//! # }
//! ```
//!
//! Inside, a request takes one way: `serve` (TLS and time-outs) or a client in process, `api` (the
//! protocol), the pure rules it asks (`schema`, `managed`, `patch`, `selector`, `names`,
//! `deletion`), and `store`, which has it on disk before anyone sees it. `gc` follows the store and
//! does what a deletion entails.

#![cfg_attr(
    test,
    expect(
        clippy::disallowed_methods,
        reason = "the clock and the tasks of a test are the real ones"
    )
)]

mod admission;
mod api;
mod auth;
mod builtin;
mod cluster;
mod deletion;
mod fields;
#[doc(hidden)]
pub mod fuzz;
mod gc;
mod kubeconfig;
mod lock;
mod managed;
mod names;
mod patch;
mod protobuf;
mod schema;
mod secrets;
mod selector;
pub mod serve;
mod status;
mod store;
#[cfg(test)]
mod testing;
mod tls;

pub use crate::admission::{Admission, Review, Verdict};
pub use crate::api::{ApiService, ResponseBody};
pub use crate::cluster::{Cluster, OpenError, Options, ServeError};
pub use crate::serve::serve_tls;
pub use crate::tls::{Authority, Error as TlsError};
