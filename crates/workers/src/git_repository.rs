//! `GitRepository`: Flux's kind. Follows a reference and publishes its content as an archive.

mod artifacts;
mod fetch;

pub(super) use artifacts::sweep;
pub(super) use fetch::{Schedule, reconcile};
