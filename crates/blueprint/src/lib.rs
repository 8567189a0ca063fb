//! The rules of the path that a change takes: blueprints, selection, params, templates and health,
//! as pure functions.
//!
//! An [`owner::Owner`] (a Workload or a Deliverable) is picked up by one [`blueprint::Blueprint`]: resources, each
//! with a [`template::Template`] or a choice of several, and what flows between them. These three are read
//! from the JSON of their objects; every other module answers a question about them. Nothing here does
//! I/O or looks at the clock.
//!
//! Before anything is in a cluster:
//!
//! | question | module |
//! | --- | --- |
//! | May this object be stored, and does it have the shape of its kind? | [`admission`] |
//! | What should its author know? | [`lint`] |
//! | What can a blueprint do for any owner at all, and which paths are there? | [`reach`] |
//!
//! For one owner:
//!
//! | question | module |
//! | --- | --- |
//! | Which blueprint is for it, and which template for each resource? | [`selection`] |
//! | Does a selector match it, and how specific is it? | [`selector`] |
//! | Which path does it take, and why? | [`path`] |
//! | Which blueprint and templates does it use, in which generation? | [`usage`] |
//! | Under which service account is its work done? | [`service_account`] |
//! | Which value does a parameter have? | [`params`] |
//! | Which object does a template make? | [`stamp`] |
//! | What is an object made from? | [`template_reads`] |
//!
//! Of what the cluster made of it:
//!
//! | question | module |
//! | --- | --- |
//! | What does a resource give to others? | [`output`] |
//! | Is an object healthy? | [`health`] |
//! | Does an object say which inputs it was made from? | [`correlation`] |
//! | Which objects run what was stamped? | [`live_selector`] |
//! | What became of a resource? | [`realization`] |
//! | What happened, as conditions? | [`conditions`] |
//! | When may an object go whose resource is no longer on the path? | [`retirement`] |
//! | Which run counts, and which may go? | [`runs`] |
//! | What does a Runnable run, and what does that give? | [`runnable`] |
//!
//! ```
//! use pathline_blueprint::blueprint::Blueprint;
//! use pathline_blueprint::owner::{Owner, OwnerKind};
//! use pathline_blueprint::path::{self, State};
//! use pathline_blueprint::selection::{Plan, choose_blueprint};
//! use serde_json::json;
//!
//! let chain = Blueprint::read(json!({
//!     "apiVersion": "carto.run/v1alpha1",
//!     "kind": "ClusterSupplyChain",
//!     "metadata": {"name": "web"},
//!     "spec": {
//!         "selector": {"type": "web"},
//!         "resources": [{
//!             "name": "tester",
//!             "selector": {"matchLabels": {"has-tests": "true"}},
//!             "templateRef": {"kind": "ClusterSourceTemplate", "name": "run-tests"},
//!         }, {
//!             "name": "builder",
//!             "templateRef": {"kind": "ClusterImageTemplate", "name": "kpack"},
//!         }],
//!     },
//! }))?;
//! let workload = Owner::read(OwnerKind::Workload, json!({
//!     "metadata": {"name": "app", "namespace": "dev", "labels": {"type": "web"}},
//! }))?;
//!
//! let chosen = choose_blueprint(&workload, [&chain]).expect("its selector matches");
//! let steps = Plan::new(chosen)?.choose(&workload);
//! let reports = path::resources(chosen, &steps);
//! assert_eq!(reports[0].state, State::Skipped);
//! assert_eq!(reports[1].template.as_deref(), Some("kpack"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod admission;
pub mod blueprint;
pub mod conditions;
pub mod correlation;
pub mod health;
pub mod lint;
pub mod live_selector;
pub mod output;
pub mod owner;
pub mod params;
pub mod path;
pub mod reach;
pub mod realization;
pub mod retirement;
pub mod runnable;
pub mod runs;
pub mod selection;
pub mod selector;
pub mod service_account;
pub mod stamp;
pub mod template;
pub mod template_reads;
pub mod usage;

mod evaluate;
mod graph;
mod interpolate;
mod shape;
#[cfg(test)]
mod testing;
mod yaml;
