//! Releases over REST.

mod changes;
mod finding;
