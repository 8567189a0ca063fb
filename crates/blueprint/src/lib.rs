//! Which path does a change take? Blueprints, selection, params, templates and health, as pure functions.
//!
//! An [`owner::Owner`] (a Workload or a Deliverable) is picked up by one [`blueprint::Blueprint`];
//! [`selection`] decides both that and how each resource is realized. [`stamp`] renders the chosen
//! [`template::Template`] with the outputs of other resources, [`output`] and [`health`] read what the
//! cluster made of it, and [`conditions`] tells it all. Nothing here does I/O or looks at the clock.

pub mod account;
pub mod admission;
pub mod blueprint;
pub mod conditions;
pub mod document;
pub mod field_path;
pub mod graph;
pub mod health;
pub mod interpolate;
pub mod jsonpath;
pub mod lint;
pub mod live;
pub mod loose;
pub mod model;
pub mod names;
pub mod output;
pub mod owner;
pub mod params;
pub mod path;
pub mod reach;
pub mod reads;
pub mod realization;
pub mod retirement;
pub mod rules;
pub mod runnable;
pub mod runs;
pub mod selection;
pub mod selector;
pub mod shape;
pub mod stamp;
pub mod template;
pub mod usage;

mod evaluate;
mod go;
#[cfg(test)]
mod testing;
mod yaml;
