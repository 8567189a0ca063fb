//! Which path does a change take? Blueprints, selection, params, templates and health, as pure functions.

pub mod jsonpath;
pub mod model;

mod go;
