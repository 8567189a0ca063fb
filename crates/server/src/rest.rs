//! The REST API: routes, extractors, handlers, errors and the OpenAPI document.
//!
//! A handler reads its parameters, asks a view ([`crate::views`]) and writes the answer as JSON.

mod answers;
mod artifacts;
mod bounds;
mod concern;
mod environments;
mod error;
mod extract;
mod guard;
mod health;
mod ingest;
mod metrics;
mod objects;
mod openapi;
mod owner_routes;
mod owners;
mod releases;
mod requests;
mod routes;
mod stream;
mod tokens;
mod tracker_releases;
mod trackers;
mod wait;

pub use self::routes::app;
