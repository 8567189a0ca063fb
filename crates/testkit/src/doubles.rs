//! Doubles of hosts that cannot be had in a test, or that do not fail when they are told to.
//!
//! Each runs on a thread of its own, with a real clock, so that a test may pause the time of its runtime.

pub mod git;
pub mod github;
pub mod registry;
mod server;

pub use self::server::{Recorded, Reply, Server};
