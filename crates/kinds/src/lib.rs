//! The kinds that Pathline owns, as they are written in YAML and stored in a cluster.
//!
//! [`carto`] holds Cartographer's kinds, [`environment`] the one of releases, [`workers`] those of the workers of the
//! embedded cluster; all carry fields and schemas, no rules. [`names`] is the syntax of names and labels, [`lenient`] accepts
//! spellings of selectors that are not the API's.
//!
//! ```
//! use pathline_kinds::carto::Workload;
//! use serde_json::json;
//!
//! let workload: Workload = serde_json::from_value(json!({
//!     "apiVersion": "carto.run/v1alpha1",
//!     "kind": "Workload",
//!     "metadata": {"name": "web", "namespace": "dev"},
//!     "spec": {"source": {"git": {"url": "https://example.com/web", "ref": {"branch": "main"}}}},
//! }))?;
//! assert!(workload.spec.source.is_some());
//! # Ok::<(), serde_json::Error>(())
//! ```

mod api_version;
pub mod carto;
pub mod environment;
pub mod field_path;
pub mod lenient;
pub mod names;
mod schema;
pub mod workers;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;

pub use api_version::split_api_version;

/// Returns the definitions of all kinds: those of supply chains first, then those of releases and of the workers.
pub fn crds() -> Vec<CustomResourceDefinition> {
    let mut crds = carto::crds();
    crds.extend(environment::crds());
    crds.extend(workers::crds());
    crds
}
