//! The embedded cluster as its clients see it.

#![expect(clippy::unwrap_used, reason = "a helper that fails fails its test")]

mod api_fixture;
mod bad_input;
mod crash;
mod serve;
